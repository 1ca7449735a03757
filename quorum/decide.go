package quorum

import (
	"sync"
	"time"
)

// decide goes on with what follows from a read (Kind Decide).
func (c *call) decide(read *attempt, v Verdict) {
	o := read.outcome(v)
	if o.Err != nil {
		c.finish(o)
		return
	}
	op := c.op.Decide(o.State)
	if op.Kind == Read || op.Kind >= Decide {
		o.Done = Read
		c.finish(o)
		return
	}
	c.attempt(&op, func(a *attempt, v Verdict) {
		if o.State.Lapsed && v == Absent && !c.cleared {
			// What was left of the lock is deleted now (V15).
			c.cleared = true
			if op.Kind == Release {
				o.Done = Read
				c.finish(o)
				return
			}
			c.attempt(&Op{Kind: Read, DB: c.op.DB, Key: c.op.Key}, c.decide, c.q.now())
			return
		}
		// What was read is not so any more, or nobody can tell yet.
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

// readAll reads all keys of a DecideAll side by side. That they are not read
// at one moment does no harm: the changes are made only where all of it still
// is so.
func (c *call) readAll() {
	var mu sync.Mutex
	states := make([]State, len(c.op.Keys))
	var failed *Outcome
	left := len(states)
	for i, key := range c.op.Keys {
		c.attempt(&Op{Kind: Read, DB: c.op.DB, Key: key}, func(a *attempt, v Verdict) {
			o := a.outcome(v)
			mu.Lock()
			states[i] = o.State
			if o.Err != nil {
				failed = o
			}
			left--
			last, bad := left == 0, failed
			mu.Unlock()
			switch {
			case !last:
			case bad != nil:
				c.finish(bad)
			default:
				c.decideAll(states)
			}
		}, c.q.now())
	}
}

// decideAll makes the changes that follow from what was read.
func (c *call) decideAll(states []State) {
	changes := c.op.DecideAll(states)
	if len(changes) == 0 {
		c.finish(&Outcome{Verdict: Won, Done: Read})
		return
	}
	op := &Op{Kind: transact, DB: c.op.DB, Key: c.op.Keys[0], steps: stepsOf(c.op.Keys, states, changes)}
	for i := range op.steps {
		if s := &op.steps[i]; s.change != nil && !s.change.Delete {
			s.hold = c.q.hold(s.change.TTL)
			op.TTL = max(op.TTL, s.change.TTL)
		}
	}
	c.attempt(op, func(a *attempt, v Verdict) {
		// Also a few silent masters may leave it open; the next look tells.
		if v != Won && a.answered() >= a.masters.Quorum && c.mayRetry() {
			c.retry()
			return
		}
		o := a.outcome(v)
		o.Done = DecideAll
		if v == Won {
			o.Changes = changes
		}
		c.finish(o)
	}, c.q.now())
}

// step is what is to be found under one key, and what becomes of it.
type step struct {
	key    string
	state  State
	change *Change
	// hold is what the masters are given, if it shall hold something.
	hold time.Duration
}

// stepsOf joins what was read with what is to be changed.
func stepsOf(keys []string, states []State, changes []Change) []step {
	out := make([]step, len(keys))
	for i, key := range keys {
		out[i] = step{key: key, state: states[i]}
		for k := range changes {
			if changes[k].Key == key {
				out[i].change = &changes[k]
			}
		}
	}
	return out
}

// there reports whether the masters still hold something under the key.
func (s *step) there() bool { return s.state.Found || s.state.Lapsed }

// creates reports whether the step stores something where nothing was.
func (s *step) creates() bool { return s.change != nil && !s.change.Delete && !s.there() }
