package quorum

import (
	"slices"
	"sync/atomic"
)

// A lock that is over by our clock is so in every reply. But its client's clock may be slower, and
// for a while only a release may delete its copies (V15).

// endsByOurClock reports whether the lock that the call extends or stores over is over by our
// clock, but may not be by its client's. Since that must not delete it, a read tells what is so.
func (c *call) endsByOurClock() bool {
	if c.op.renews != nil || !c.op.deletesUnasked() {
		return false
	}
	last := c.db.keys.termOf(c, c.op.Key)
	return last != nil && last.isOf(c.op) && last.over(c.arrived) && last.mayLast(c.arrived, c.q.cfg)
}

// unlessOver carries the operation out, unless a read has found its lock to be over: then there
// is nothing to extend, and what takes it takes it anew.
func (c *call) unlessOver(read *attempt, v Verdict) {
	o := read.outcome(v)
	c.wasOver = o.Verdict == Absent
	takes := c.op.Kind == AcquireOrExtend
	switch {
	case takes && c.failed(read, o):
	case o.Err != nil:
		c.finish(o)
	case c.wasOver && !takes:
		c.finish(&Outcome{Verdict: Absent, Done: c.op.Kind, Did: c.op})
	default:
		c.attempt(c.op, nil, c.q.now())
	}
}

// overOf returns what clears the locks that are changed although they are over. Those that must
// be spared are changed as they are.
func overOf(op *Op, states []State, changes []Change) (out []*Op) {
	for i, key := range op.Keys {
		changed := slices.ContainsFunc(changes, func(c Change) bool { return c.Key == key })
		if changed && states[i].Lapsed && !states[i].Spared {
			out = append(out, clearing(op.DB, key, &states[i]))
		}
	}
	return out
}

// clearing returns what deletes the copies of a lock that is over. It leaves those that are not
// over by their expiries: another redlockd, by which they were not over yet, may have prolonged
// them since they were read (V15). What must be spared is released, as its client has asked.
func clearing(db int, key string, s *State) *Op {
	op := &Op{Kind: Extend, DB: db, Key: key, Token: s.Token, clears: true}
	if s.Spared {
		op.Kind, op.clears = Release, false
	}
	return op
}

// clear carries out what deletes the copies of locks that are over, and then calls next.
func (c *call) clear(locks []*Op, next func()) {
	c.cleared = true
	var left atomic.Int32
	left.Store(int32(len(locks)))
	for _, op := range locks {
		c.attempt(op, func(*attempt, Verdict) {
			if left.Add(-1) == 0 {
				next()
			}
		}, c.q.now())
	}
}
