package quorum

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/vote"
)

// read reads the call's key, and then calls then.
func (c *call) read(then func(*attempt, Verdict), now time.Duration) {
	c.attempt(&Op{Kind: Read, DB: c.op.DB, Key: c.op.Key}, then, now)
}

// decide carries out the operation that Op.Decide derives from a read (Kind Decide).
func (c *call) decide(read *attempt, v Verdict) {
	o := read.outcome(v)
	switch {
	case o.Err != nil && read.mayHaveMetLost() && c.mayRetry():
		c.retry()
		return
	case o.Err != nil:
		if read.hadLessTime() {
			c.passOn()
		}
		c.finish(o)
		return
	}
	op := c.op.Decide(o.State)
	if !op.doesNothing() {
		c.passOn()
	}
	op.Keeps, op.left = op.Keeps && op.Kind == Extend && o.State.Found, o.State.left
	op.raises = op.Kind == Extend && op.TTL > o.State.TTL
	if o.State.Lapsed && op.Kind == Release && !c.cleared {
		c.clear([]*Op{{DB: c.op.DB, Key: c.op.Key, Token: o.State.Token}}, func() {
			c.read(c.decide, c.q.now())
		})
		return
	}
	if op.doesNothing() || o.State.Lapsed && op.Kind == Release {
		o.Done = Read
		c.finish(o)
		return
	}
	c.attempt(&op, func(a *attempt, v Verdict) {
		if o.State.Lapsed && v == Absent && !c.cleared {
			// The copies of the lock that was over are deleted now (V15).
			c.cleared = true
			c.read(c.decide, c.q.now())
			return
		}
		// The state changed after the read, or no token has a majority yet.
		changed := v == Split || v == Held || v == Absent
		if changed && c.mayRetry() {
			c.retry()
			return
		}
		o := a.outcome(v)
		o.Done = op.Kind
		c.finish(o)
	}, c.q.now())
}

// endsByOurClock reports whether the lock that the call extends or stores over is over by our
// clock, but may not be by its client's. Since nothing may delete it, a read tells what is so (V15).
func (c *call) endsByOurClock() bool {
	op := c.op
	if op.Kind != Extend && op.Kind != Expire && op.Kind != Store || !op.ends() {
		return false
	}
	last := c.db.keys.termOf(c, op.Key)
	mine := last != nil && (op.Kind != Extend || last.token == op.Token)
	return mine && last.over(c.arrived) && last.mayLast(c.arrived, c.q.cfg)
}

// unlessOver carries the operation out, unless a read has found its lock to be over.
func (c *call) unlessOver(read *attempt, v Verdict) {
	if o := read.outcome(v); o.Verdict == Absent {
		c.finish(&Outcome{Verdict: Absent, Done: c.op.Kind, Did: c.op})
		return
	}
	c.attempt(c.op, nil, c.q.now())
}

// doesNothing reports whether an operation that was decided on ends with what was read.
func (op *Op) doesNothing() bool { return op.Kind == Read || op.Kind >= Decide }

// actsOn reports whether an operation that reads first would do something in the state that
// another one has read. It reads itself, too, where the lock ends just now: it may have come
// after that (V15).
func (op *Op) actsOn(o *Outcome) bool {
	if op.Kind != Decide || o.Err != nil {
		return false
	}
	decided := op.Decide(o.State)
	return !decided.doesNothing() || o.State.Found && o.State.TTL <= time.Millisecond
}

// meetsItself reports whether an acquire is to decide what to do where its own token is. What
// has no token may be no string (V14), as a read tells.
func (op *Op) meetsItself(o *Outcome) bool {
	own := o.State.Token == op.Token || o.State.Token == ""
	return op.Kind == Acquire && op.Decide != nil && o.Verdict == Held && own
}

// goesOn reports whether the call is an acquire that has met its own token and goes on as a
// Decide now: so plain acquires share their requests until then (V7).
func (c *call) goesOn(o *Outcome, now time.Duration) bool {
	if c.decides || !c.op.meetsItself(o) {
		return false
	}
	c.decides = true
	c.passOn()
	c.read(c.decide, now)
	return true
}

// mayHaveMetLost reports whether a read that did not tell who has the lock was answered by a
// quorum: what it met may be what another client's lost attempt leaves for a moment, and is
// no reason to give up, as it is none for an acquire (V5). No attempt leaves a key that is no
// string (V14).
func (a *attempt) mayHaveMetLost() (may bool) {
	a.look(func(box *ballotBox) {
		t := vote.Count(box.ballots, box.needs)
		may = box.answered() >= a.masters.Quorum && t.Tokenless < t.Quorum && !box.requiredMute()
	})
	return may
}

// readAll reads all keys of a DecideAll side by side. They need not be read at one
// moment: the changes are made only where everything that was read is still so.
func (c *call) readAll() {
	var mu sync.Mutex
	states := make([]State, len(c.op.Keys))
	var failed *Outcome
	left, again := len(states), true
	for i, key := range c.op.Keys {
		c.attempt(&Op{Kind: Read, DB: c.op.DB, Key: key}, func(a *attempt, v Verdict) {
			o := a.outcome(v)
			mu.Lock()
			states[i] = o.State
			if o.Err != nil {
				failed, again = o, again && a.mayHaveMetLost()
			}
			left--
			last, bad, again := left == 0, failed, again
			mu.Unlock()
			switch {
			case !last:
			case bad != nil && again && c.mayRetry():
				c.retry()
			case bad != nil:
				c.finish(bad)
			default:
				c.decideAll(states)
			}
		}, c.q.now())
	}
}

// decideAll makes the changes that Op.DecideAll derives from the states read.
func (c *call) decideAll(states []State) {
	changes := spare(c.op, states, c.op.DecideAll(states))
	if c.tried.mayBeWhy(changes) {
		c.finish(c.tried.outcome)
		return
	}
	if len(changes) == 0 {
		c.finish(&Outcome{Verdict: Won, Done: Read})
		return
	}
	if over := overOf(c.op, states, changes); len(over) > 0 {
		switch {
		case !c.cleared:
			c.clear(over, c.readAll)
		case c.mayRetry():
			c.cleared = false
			c.retry()
		default:
			c.finish(&Outcome{Err: ErrLockChanged})
		}
		return
	}
	c.transact(stepsOf(c.op.Keys, states, changes), changes)
}

// spare returns the changes without those that delete what must be spared (V15).
func spare(op *Op, states []State, changes []Change) []Change {
	return slices.DeleteFunc(changes, func(c Change) bool {
		i := slices.Index(op.Keys, c.Key)
		return c.Delete && i >= 0 && states[i].spared
	})
}

// overOf returns what clears the locks that are changed although they are over.
func overOf(op *Op, states []State, changes []Change) (out []*Op) {
	for i, key := range op.Keys {
		changed := slices.ContainsFunc(changes, func(c Change) bool { return c.Key == key })
		if changed && states[i].Lapsed && !states[i].spared {
			out = append(out, &Op{DB: op.DB, Key: key, Token: states[i].Token})
		}
	}
	return out
}

// clear deletes, by key and token, the copies of locks that are over, and then calls next. It
// spares those that are not over by their expiries: another redlockd, by which they were not
// over yet, may have prolonged them since they were read (V15).
func (c *call) clear(locks []*Op, next func()) {
	c.cleared = true
	var left atomic.Int32
	left.Store(int32(len(locks)))
	for _, op := range locks {
		op.Kind, op.clears = Extend, true
		c.attempt(op, func(*attempt, Verdict) {
			if left.Add(-1) == 0 {
				next()
			}
		}, c.q.now())
	}
}

// stepsOf combines the states read and the changes into the steps of a transact.
func stepsOf(keys []string, states []State, changes []Change) []outbox.Step {
	out := make([]outbox.Step, len(keys))
	for i, key := range keys {
		out[i] = outbox.Step{Key: key, Exists: states[i].Found || states[i].Lapsed, Was: states[i].Token}
		for _, c := range changes {
			switch {
			case c.Key != key:
			case c.Delete:
				out[i].Does = outbox.Deletes
			default:
				out[i].Does, out[i].Token, out[i].TTL = outbox.Stores, c.Token, c.TTL
				out[i].Keeps, out[i].Left, out[i].Raises = states[i].Found && c.Keeps, states[i].left, states[i].Found && c.TTL > states[i].TTL
			}
		}
	}
	return out
}
