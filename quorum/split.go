package quorum

import (
	"math/rand/v2"
	"time"

	"github.com/redlockd/redlockd/quorum/vote"
)

// split tries again within the budget (V5), unless the same token refused on
// the same masters twice running and may have a quorum with the silent ones:
// then it is held (V4).
func (c *call) split(a *attempt) {
	token, masters := a.refusal()
	again := masters != 0 && token == c.lastToken && masters == c.lastMasters
	c.lastToken, c.lastMasters = token, masters
	switch {
	case again && a.heldWithSilent(c.op.Token) && !c.mayProlong(token):
		c.finish(&Outcome{Verdict: Held, State: State{Token: token}})
	case c.mayRetry():
		c.retry()
	default:
		c.finish(&Outcome{Verdict: Split, Err: a.noQuorum(Split)})
	}
}

// retry sleeps a random time, lets others on the key go meanwhile, and tries
// again with a probe (V5).
func (c *call) retry() {
	c.passOn()
	c.probing = true
	c.await()
	nap := time.Millisecond + rand.N(max(time.Millisecond, c.q.cfg.Timeout/2))
	c.db.keys.sleeps(c)
	time.AfterFunc(min(nap, c.left()), func() { c.db.keys.enter(c, true, c.q.now()) })
}

// mayRetry reports whether there is time for another try (V5), and somebody who
// waits for it.
func (c *call) mayRetry() bool {
	return c.q.now()-c.arrived < c.q.cfg.RetryBudget && !c.over()
}

// probe asks the required master alone, else the voting one with the lowest
// run_id, then the others (V5).
func (c *call) probe() {
	a := newAttempt(c, c.op, c.probed)
	if a.first = a.masters.firstToAsk(); a.first < 0 {
		c.attempt(c.op, nil, c.q.now())
		return
	}
	a.begin(c.q.now())
}

// probed goes on when a probe has ended: refused by the first master, it
// looks who is there.
func (c *call) probed(a *attempt, v Verdict) {
	if v == Won || !a.refusedFirst() || v == Undecided && a.masters.Required >= 0 {
		c.verdict(a, v)
		return
	}
	look := &Op{Kind: Read, Key: c.op.Key, DB: c.op.DB}
	c.attempt(look, func(r *attempt, v Verdict) {
		token, held := r.holder(c.op.Token)
		switch {
		case v == Held && held && c.mayProlong(token):
			// The first master alone stood in its way.
			c.attempt(c.op, c.verdict, c.q.now())
			return
		case v == Held && held:
			c.finish(&Outcome{Verdict: Held, State: State{Token: token}})
			return
		}
		c.split(r)
	}, c.q.now())
}

// mayProlong reports whether a token is no holder in the operation's way, but what
// it would prolong.
func (c *call) mayProlong(token string) bool {
	return c.op.Kind == AcquireOrExtend && token == c.op.Token
}

// holder is the token that a look after a probe has found, and whether it may
// be told as held: it is on a quorum and on the required master, or on that
// one and no other token anywhere (V5, V11).
func (a *attempt) holder(ours string) (string, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := vote.Count(a.ballots, a.needs)
	switch t.Required {
	case vote.None:
		return t.Most, true
	case vote.Denies:
		return t.Holder(), t.MostCount >= t.Quorum && t.Its.Vote == vote.Found || a.needs.HeldBy(a.ballots, ours)
	default:
		return "", false
	}
}

// requiredMute reports whether the required master's word cannot be had. Needs mu.
func (a *attempt) requiredMute() bool { return a.needs.WordOf(a.ballots) == vote.Mute }

// askOthers goes on when the first master has granted (V5). It is entered
// with the mutex held and leaves it free.
func (a *attempt) askOthers(now time.Duration) {
	for i := range a.ballots {
		if a.ballots[i].Vote == vote.Unasked {
			a.ballots[i].Vote = vote.Awaited
		}
	}
	a.asking = true
	a.mu.Unlock()
	a.ask(now, ^uint32(1<<a.first))
}

// refusedFirst reports whether the master that was asked alone did not grant.
func (a *attempt) refusedFirst() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.refusedFirstLocked()
}

func (a *attempt) refusedFirstLocked() bool {
	if a.first < 0 {
		return false
	}
	v := a.ballots[a.first].Vote
	return v == vote.Refused || v == vote.Silent || v == vote.Absent
}

// refusal is the token that refused most, and on which masters, as bits.
func (a *attempt) refusal() (string, uint32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := vote.Count(a.ballots, a.needs)
	var masters uint32
	for i, b := range a.ballots {
		if (b.Vote == vote.Refused || b.Vote == vote.Found) && b.Token == t.Most {
			masters |= 1 << i
		}
	}
	return t.Most, masters
}

// heldWithSilent reports whether that token has a quorum if the silent masters
// hold it too, and ours has none if they hold that: its holder is not told
// that another one has it. The required master must have it as well (V11).
func (a *attempt) heldWithSilent(ours string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := vote.Count(a.ballots, a.needs)
	if !t.Backed() || t.MostCount == 0 || t.MostCount+t.Silent < t.Quorum {
		return false
	}
	own := t.Prolonged
	for _, b := range a.ballots {
		if (b.Vote == vote.Refused || b.Vote == vote.Found) && b.Token == ours && !b.Foreign {
			own++
		}
	}
	return t.Most == ours || own+t.Unheard < t.Quorum
}
