package quorum

import "time"

// Plain acquires and reads of one key that wait together share one fan-out, so a
// thousand pollers cost one poll (V7).

// take removes the first waiting call, and hands it its neighbours of the
// same kind that share its fan-out (V7): all of them arrived before its first
// byte goes out.
func (k *keyQueue) take() *call {
	c := k.shift()
	for len(k.asleep) == 0 && c.repeats(k) {
		c = k.shift()
	}
	if !c.shares() {
		return c
	}
	c.sharing = nil
	for len(k.waiting) > 0 && !k.follows(k.waiting[0]) && k.waiting[0].shares() && k.waiting[0].op.Kind == c.op.Kind {
		c.sharing = append(c.sharing, k.shift())
	}
	return c
}

// repeats reports whether the next one waiting does what the call would do, and
// neither is awaited any more: of many releases that outstayed one is enough.
func (c *call) repeats(k *keyQueue) bool {
	if len(k.waiting) == 0 || c.op.Kind != Release && c.op.Kind != Remove {
		return false
	}
	next := k.waiting[0]
	return next.op.Kind == c.op.Kind && next.op.Token == c.op.Token && c.wasTold() && next.wasTold()
}

// shares reports whether neighbours of the same kind may be answered together:
// plain acquires and reads (V7).
func (c *call) shares() bool {
	plain := len(c.op.Unless) == 0 && !c.probing
	return plain && (c.op.Kind == Acquire || c.op.Kind == Read)
}

// passOn lets those that share the call wait for a run of their own.
func (c *call) passOn() {
	sharing := c.sharing
	c.sharing = nil
	for i := len(sharing) - 1; i >= 0; i-- {
		c.db.keys.enter(sharing[i], true, c.q.now())
	}
}

// answerSharing answers those that shared the fan-out: beside a winner the
// others are refused by its token.
func (c *call) answerSharing(o *Outcome, now time.Duration) {
	for _, s := range c.sharing {
		shared := &Outcome{Verdict: o.Verdict, State: o.State, Err: o.Err}
		if c.op.Kind == Acquire && o.Verdict == Won {
			shared = &Outcome{Verdict: Held, State: State{Token: c.op.Token}}
		}
		c.q.counts.ended(s.op.Kind, shared.Verdict)
		s.tell(shared, now)
	}
	c.sharing = nil
}

// shift removes the first that waits.
func (k *keyQueue) shift() *call {
	c := k.waiting[0]
	k.waiting[0] = nil
	k.waiting = k.waiting[1:]
	return c
}
