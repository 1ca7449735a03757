package quorum

import (
	"sync"
	"time"

	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/vote"
)

// read reads the call's key, and then calls then.
func (c *call) read(then func(*attempt, Verdict), now time.Duration) {
	c.attempt(&Op{Kind: Read, DB: c.op.DB, Key: c.op.Key}, then, now)
}

// foresee carries out the operation that Op.Decide derives from the state that is expected, once.
// What this redlockd remembers proves nothing: it is compared on the masters, and what they do not
// have is read. A token is not changed by it: nothing would change it back where a minority has
// what was out of date.
func (c *call) foresee(now time.Duration) {
	if c.op.Expect != nil && !c.foreseen {
		c.foreseen = true
		if s, ok := c.op.Expect(); ok {
			if op := c.op.Decide(s); !op.doesNothing() && !op.Replace {
				s.TTL = op.TTL // what is left is not known, and the client asks for this, which may be less (V6)
				c.passOn()
				c.carryOut(op, s, c.unforeseen, now)
				return
			}
		}
	}
	c.read(c.decide, now)
}

// decide carries out the operation that Op.Decide derives from a read (Kind Decide).
func (c *call) decide(read *attempt, v Verdict) {
	o := read.outcome(v)
	if c.failed(read, o) {
		return
	}
	op := c.op.Decide(o.State)
	if c.tried.mayBeWhy(op.changes()) {
		c.finish(c.tried.outcome)
		return
	}
	if op.doesNothing() {
		c.finish(o)
		return
	}
	c.passOn()
	if o.State.Lapsed && op.Kind == Release {
		// There is no lock, whatever becomes of its copies (V15).
		c.attempt(&op, func(*attempt, Verdict) { c.finish(o) }, c.q.now())
		return
	}
	c.carryOut(op, o.State, func(Verdict) bool { return c.retried() }, c.q.now())
}

// unforeseen reads the lock, which is not in the state that was expected: the first read of it,
// and no retry, for which there would have to be time.
func (c *call) unforeseen(v Verdict) bool {
	if v == Split {
		return c.retried()
	}
	if c.over() {
		return false
	}
	c.mu.Lock()
	c.acts = false
	c.mu.Unlock()
	c.read(func(read *attempt, v Verdict) {
		if read.outcome(v).State.Found {
			c.tried = tried{} // a lock that a majority has is not what a minority has freed
		}
		c.decide(read, v)
	}, c.q.now())
	return true
}

// retried reports whether the call begins anew.
func (c *call) retried() bool {
	if !c.mayRetry() {
		return false
	}
	c.retry()
	return true
}

// carryOut carries out the operation that was decided on where the lock is in the state s. If
// that is not so, or no token has a majority yet, again may make another try, and reports
// whether it does.
func (c *call) carryOut(op Op, s State, again func(Verdict) bool, now time.Duration) {
	op.raises = op.Kind == Extend && s.Found && op.TTL > s.TTL
	op.effects = []outbox.Effect{c.effect(&op, s)}
	c.attempt(&op, func(a *attempt, v Verdict) {
		met := v
		if v != Won && a.leaves(v) {
			v = Undecided // what it has done may be what the next try reads
			c.tried.note(op.changes(), a.outcome(v))
		}
		// What reads first gets to know the masters' clocks, without which nothing is sent.
		if (met == Split || met == Held || met == Absent || met == Undecided && a.votes().sent == 0) && again(met) {
			return
		}
		o := a.outcome(v)
		if v == Won {
			c.finish(o)
			return
		}
		c.nothingDone(o)
	}, now)
}

// changes returns what an operation that was decided on takes from the lock.
func (op *Op) changes() []Change {
	switch {
	case op.Kind == Release:
		return []Change{{Key: op.Key, Delete: true}}
	case op.Replace:
		return []Change{{Key: op.Key, Token: op.NewToken}}
	default:
		return nil
	}
}

// failed reports whether a read could not tell. Then the call is tried again, or ends.
func (c *call) failed(read *attempt, o *Outcome) bool {
	switch {
	case o.Err == nil:
		return false
	case read.mayHaveMetLost() && c.mayRetry():
		c.retry()
	default:
		if read.hadLessTime() {
			c.passOn()
		}
		c.finish(o)
	}
	return true
}

// doesNothing reports whether an operation that was decided on ends with what was read.
func (op *Op) doesNothing() bool { return op.Kind == Read || op.Kind >= Decide }

// actsOn reports whether an operation that reads first would do something in the state that
// another one has read.
func (op *Op) actsOn(o *Outcome) bool {
	if op.Kind != Decide || o.Err != nil {
		return false
	}
	decided := op.Decide(o.State)
	return !decided.doesNothing()
}

// meetsItself reports whether an acquire is to decide what to do where its own token is, or
// where the token is not known, as a read may tell.
func (op *Op) meetsItself(o *Outcome) bool {
	own := o.State.Token == op.Token || !o.State.Found
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
func (a *attempt) mayHaveMetLost() bool {
	box := a.votes()
	t := vote.Count(box.ballots, box.needs)
	return t.Answered >= a.masters.Quorum && t.Tokenless < t.Quorum && t.Required != vote.Mute
}

// readAll reads all keys of a DecideAll side by side. They need not be read at one
// moment: the changes are made only where everything that was read is still so.
func (c *call) readAll() {
	var mu sync.Mutex
	states := make([]State, len(c.op.Keys))
	var failed *attempt // one that is no reason to read again, if there is any
	left := len(states)
	for i, key := range c.op.Keys {
		c.attempt(&Op{Kind: Read, DB: c.op.DB, Key: key}, func(a *attempt, v Verdict) {
			o := a.outcome(v)
			mu.Lock()
			states[i] = o.State
			if o.Err != nil && (failed == nil || failed.mayHaveMetLost()) {
				failed = a
			}
			left--
			last, bad := left == 0, failed
			mu.Unlock()
			if last && (bad == nil || !c.failed(bad, &bad.result)) {
				c.decideAll(states)
			}
		}, c.q.now())
	}
}

// decideAll makes the changes that Op.DecideAll derives from the states read.
func (c *call) decideAll(states []State) {
	changes := c.op.DecideAll(states)
	if c.tried.mayBeWhy(changes) {
		c.finish(c.tried.outcome)
		return
	}
	if len(changes) == 0 {
		c.finish(&Outcome{Verdict: Won, Done: Read})
		return
	}
	c.transact(c.effectsOf(states, changes), changes)
}
