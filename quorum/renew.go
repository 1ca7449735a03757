package quorum

import (
	"math"
	"sync"
	"time"
)

// A reply must leave within a timeout of the first byte of the attempt that won (V2).
// If it had to wait for longer, for the replies before it or for an operation that may
// still act on a master, the lock is renewed before the reply leaves: it is extended
// for its whole TTL, and the reply is written if the renewal is won and in time. So the
// padding need not cover that wait. It prolongs only what the attempt still has, and leaves
// that to it, so that it can be rolled back as before (P5, V6).

// grant is what an outcome promises, and how that is taken back.
type grant struct {
	attempt *attempt
	// rest is the second attempt of a transaction in two, if that too grants something
	// (transact.go).
	rest *attempt

	mu sync.Mutex
	// renewed is when the last round of renewals began; denied reports whether one was not
	// won, undone whether the grant was taken back, and rounds is how often it was renewed.
	renewed        time.Duration
	denied, undone bool
	rounds         int
}

// maxRenewals bounds how often a grant is renewed, so that a redlockd that is too late
// every time does not go on for ever.
const maxRenewals = 4

// limit returns when the reply must have been written, by our clock (V2).
func (g *grant) limit() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return max(g.attempt.times.began, g.renewed) + g.attempt.call.q.cfg.Timeout
}

// Confirm must be called right before the reply is written (V2); at is a reading of
// Clock, taken then or shortly before. If the error is nil, the reply must have been
// written so long after at as left says; 0 is no limit. Otherwise the outcome came too
// late and was rolled back, and the error's text is the reply instead. An outcome that
// promises nothing is always confirmed. One that is Late may be renewed before (Renew).
func (o *Outcome) Confirm(at time.Duration) (left time.Duration, err error) {
	g := o.grant
	if g == nil {
		return 0, nil
	}
	timeout, limit := g.attempt.call.q.cfg.Timeout, g.limit()
	if at <= limit {
		return max(1, limit-at), nil // not 0, which is no limit
	}
	g.attempt.call.q.counts.lateGrants.Add(1)
	o.Undo()
	return 0, tooLate(g.attempt.op.Kind, at-limit+timeout, timeout)
}

// Undo rolls back what was won, since the client cannot be answered any more (P5). It
// returns at once. Doing it twice does no harm, since the rollback names the attempt. It marks
// no watch: whoever watches what it deletes has seen its lock, and EXEC finds that gone (S4). An
// outcome that granted nothing has nothing to roll back.
func (o *Outcome) Undo() {
	if g := o.grant; g != nil {
		g.mu.Lock()
		g.undone = true
		g.mu.Unlock()
		g.attempt.rollback(mayHaveCreated)
	}
	if o.withdrawn != nil {
		o.withdrawn.Withdrawn()
	}
}

// Late reports whether the outcome grants something, and the reply may be written at
// this time of Clock only after a renewal that can still be tried.
func (o *Outcome) Late(at time.Duration) bool {
	g := o.grant
	if g == nil {
		return false
	}
	if at <= g.attempt.times.began+g.attempt.call.q.cfg.Timeout || at <= g.limit() {
		return false // the usual case, without the lock: it is in time and was not renewed
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.denied && !g.undone && g.rounds < maxRenewals
}

// Renew renews what is granted, and calls done once, maybe before it returns. If that
// fails, Confirm returns an error. The outcome may be undone meanwhile.
func (o *Outcome) Renew(client Client, done func()) {
	g := o.grant
	ops := g.attempt.renewals(nil)
	if g.rest != nil {
		ops = g.rest.renewals(ops)
	}
	g.mu.Lock()
	g.rounds++
	g.mu.Unlock()
	// How many are to come, and when the first one began; both under the grant's mu.
	left, began := len(ops), time.Duration(math.MaxInt64)
	for _, op := range ops {
		g.attempt.call.q.Do(op, client, func(o *Outcome) {
			g.mu.Lock()
			if o.Verdict == Won {
				began = min(began, o.grant.attempt.times.began)
			} else {
				g.denied = true
			}
			left--
			last := left == 0
			if last && !g.denied {
				g.renewed = began
			}
			g.mu.Unlock()
			if last {
				done()
			}
		})
	}
}

// renewals appends the extends that renew what the attempt grants, one for each lock.
func (a *attempt) renewals(ops []*Op) []*Op {
	for i := range a.effects {
		if e := &a.effects[i]; e.Gives() {
			ops = append(ops, &Op{Kind: Extend, DB: a.op.DB, Key: e.Key, Token: e.New, TTL: e.TTL, renews: a})
		}
	}
	return ops
}
