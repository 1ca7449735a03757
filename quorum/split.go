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
	if a.box.first = a.masters.firstToAsk(); a.box.first < 0 {
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

// holder is the token that a look after a probe has found, see ballotBox.
func (a *attempt) holder(ours string) (string, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.box.holder(ours)
}

// askOthers goes on when the first master has granted (V5). It is entered
// with the mutex held and leaves it free.
func (a *attempt) askOthers(now time.Duration) {
	for i := range a.box.ballots {
		if a.box.ballots[i].Vote == vote.Unasked {
			a.box.ballots[i].Vote = vote.Awaited
		}
	}
	a.asking = true
	a.mu.Unlock()
	a.ask(now, ^uint32(1<<a.box.first))
}

// refusedFirst reports whether the master that was asked alone did not grant.
func (a *attempt) refusedFirst() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.box.refusedFirst()
}

// refusal is the token that refused most, and on which masters, as bits.
func (a *attempt) refusal() (string, uint32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.box.refusal()
}

// heldWithSilent reports whether the refusing token may have a quorum, see ballotBox.
func (a *attempt) heldWithSilent(ours string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.box.heldWithSilent(ours)
}
