package quorum

import "time"

// Plain acquires of one key that wait together share one fan-out, as reads do, and
// operations that read first as long as they do nothing. So a thousand pollers cost one poll
// (V7).

// take removes the first waiting call, together with its neighbours of the same kind
// that share its fan-out (V7): all of them arrived before its first byte goes out.
func (k *keyQueue) take() *call {
	c := k.shift()
	for len(k.asleep) == 0 && c.repeats(k) {
		c = k.shift()
	}
	if !c.shares() {
		return c
	}
	c.sharing = nil
	for len(k.waiting) > 0 && !k.follows(k.waiting[0]) && c.sharesWith(k.waiting[0]) {
		c.sharing = append(c.sharing, k.shift())
	}
	return c
}

// maxDeciding bounds how many calls share what one of them reads first: each may run a script
// then, in the goroutine that has got a master's answer.
const maxDeciding = 64

// repeats reports whether the next waiting call is the same Release or Remove, and
// nobody waits for either any more: of many releases that waited too long one is
// enough.
func (c *call) repeats(k *keyQueue) bool {
	if len(k.waiting) == 0 || c.op.Kind != Release && c.op.Kind != Remove {
		return false
	}
	next := k.waiting[0]
	return next.op.Kind == c.op.Kind && next.op.Token == c.op.Token && c.wasAnswered() && next.wasAnswered()
}

// shares reports whether neighbours of the same kind may share the call's outcome:
// plain acquires, reads, and what reads first (V7).
func (c *call) shares() bool {
	plain := len(c.op.Unless) == 0 && !c.probing
	return plain && (c.op.Kind == Acquire || c.op.Kind == Read || c.op.Kind == Decide)
}

// sharesWith reports whether the next waiting call may share this one's outcome.
func (c *call) sharesWith(next *call) bool {
	full := c.op.Kind == Decide && len(c.sharing) >= maxDeciding
	return !full && next.shares() && next.op.Kind == c.op.Kind
}

// hadLessTime reports whether the attempt had less time than others, since its call had
// waited for long.
func (a *attempt) hadLessTime() bool { return a.times.until-a.times.began < a.call.q.cfg.Timeout }

// passOn lets the calls that share this one, which still has its turn, wait for a run of
// their own.
func (c *call) passOn() { c.passOnThose(func(*call) bool { return true }) }

// passOnThose is passOn for some of them, in one step, since they may be many.
func (c *call) passOnThose(which func(*call) bool) {
	var passed, left []*call
	for _, s := range c.sharing {
		if which(s) {
			passed = append(passed, s)
		} else {
			left = append(left, s)
		}
	}
	if c.sharing = left; len(passed) > 0 {
		c.queue.shard.mu.Lock()
		defer c.queue.shard.mu.Unlock()
		c.queue.waiting = append(passed, c.queue.waiting...)
	}
}

// answerSharing answers the calls that shared the fan-out: if this one won, its token
// refuses the others. Those that decide where they meet their own token wait for a run. So do
// those that would do something in the state that was read, with all behind them, which may
// be their clients' next commands (S1).
func (c *call) answerSharing(o *Outcome, now time.Duration) {
	outcome := Outcome{Verdict: o.Verdict, State: o.State, Err: o.Err}
	if c.op.Kind == Acquire && o.Verdict == Won {
		outcome = Outcome{Verdict: Held, State: State{Found: true, Token: c.op.Token}}
	}
	if len(c.sharing) > 0 {
		acts := false
		c.passOnThose(func(s *call) bool {
			acts = acts || s.op.actsOn(&outcome)
			return acts || s.op.meetsItself(&outcome)
		})
	}
	for _, s := range c.sharing {
		shared := new(outcome)
		s.op.sees(shared)
		c.q.counts.ended(s.op.Kind, shared.Verdict)
		s.answer(shared, now, true)
	}
	c.sharing = nil
}

// shift removes the first waiting call.
func (k *keyQueue) shift() *call {
	c := k.waiting[0]
	k.waiting[0] = nil
	k.waiting = k.waiting[1:]
	return c
}
