package quorum

import (
	"math/rand/v2"
	"time"
)

// verdict takes the verdict on an attempt of the call's own operation.
func verdict(a *attempt, v Verdict) {
	c := a.call
	switch {
	case c.op.Kind == Read:
		if o := a.outcome(v); !c.failed(a, o) {
			c.finishAt(o, a.times.ended)
		}
		return
	case v == Split:
		c.split(a)
		return
	case v == Undecided && a.hadLessTime():
		c.passOn()
	}
	c.finishAt(a.outcome(v), a.times.ended)
}

// split tries again within the budget (V5). But if the same token refused on the same
// masters twice running and may have a quorum with the silent ones, the lock is held
// (V4).
func (c *call) split(a *attempt) {
	box := a.votes()
	token, masters := box.refusal()
	again := masters != 0 && token == c.lastToken && masters == c.lastMasters
	c.lastToken, c.lastMasters = token, masters
	switch {
	case again && box.heldWithSilent(c.op.Token) && !c.mayProlong(token):
		c.finish(&Outcome{Verdict: Held}) // by no quorum, so the token is not told
	case c.mayRetry():
		c.retry()
	default:
		c.finish(&Outcome{Verdict: Split, Err: a.noQuorum(Split)})
	}
}

// retry sleeps for a random time, during which other calls on the key may go (asleep.go),
// and then tries again with a probe (V5).
func (c *call) retry() {
	c.passOn()
	c.probing, c.decides = true, false
	c.mu.Lock()
	c.acts = false
	c.mu.Unlock()
	c.await()
	nap := time.Millisecond + rand.N(max(time.Millisecond, c.q.cfg.Timeout/2))
	if c.op.Kind == DecideAll {
		time.AfterFunc(min(nap, c.left()), func() { c.start(c.q.now()) })
		return
	}
	c.db.keys.sleeps(c)
	time.AfterFunc(min(nap, c.left()), func() { c.db.keys.enter(c, true, c.q.now()) })
}

// mayRetry reports whether there is time for another try (V5), and somebody waits for
// it.
func (c *call) mayRetry() bool {
	return c.q.now()-c.arrived < c.q.cfg.RetryBudget && !c.over()
}

// probe asks the required master alone, or else the voting one with the lowest run_id,
// and then the others (V5).
func (c *call) probe() {
	a := newAttempt(c, c.op, c.probed)
	if a.box.first = a.masters.FirstToAsk(); a.box.first < 0 {
		c.attempt(c.op, verdict, c.q.now())
		return
	}
	a.begin(c.q.now())
}

// probed goes on after a probe. If the first master refused, the key is read on all
// masters.
func (c *call) probed(a *attempt, v Verdict) {
	refused := a.votes().refusedFirst()
	if v == Won || !refused || v == Undecided && a.masters.Required >= 0 {
		verdict(a, v)
		return
	}
	look := &Op{Kind: Read, Key: c.op.Key, DB: c.op.DB}
	c.attempt(look, func(r *attempt, v Verdict) {
		token, held := r.votes().holder(c.op.Token)
		switch {
		case v == Held && held && c.mayProlong(token):
			// Only the first master refused.
			c.attempt(c.op, verdict, c.q.now())
			return
		case v == Held && held:
			c.finish(&Outcome{Verdict: Held, State: State{Found: true, Token: token}})
			return
		}
		c.split(r)
	}, c.q.now())
}

// mayProlong reports whether the token does not refuse the operation, since it is the
// one that the operation would prolong.
func (c *call) mayProlong(token string) bool {
	return c.op.Kind == AcquireOrExtend && token == c.op.Token
}
