package faults

import (
	"time"

	"github.com/anishathalye/porcupine"
)

// lock is the state of one key: who was told last that it has it, until when
// for certain, and until when it may refuse others.
type lock struct {
	grant   int
	token   string
	certain time.Duration
	longest time.Duration
	// notBefore is the latest end of a lock whose expiry was made use of:
	// what comes later in the order cannot have been answered before it.
	notBefore time.Duration
}

// asked is a call, with what the whole history says about it.
type asked struct {
	*call
	// end is until when its grant is certain.
	end time.Duration
	// excused is whether the token in its way may be that of a call of which
	// nobody knows whether it has happened.
	excused bool
}

// readSlack is by how much a read may call a lock ended before it is (V3:
// drift, rounding, the spread of expiries).
const readSlack = 150 * time.Millisecond

// lockModel is one lock. Calls with unknown answers are not in the histories:
// what they may have ended cuts certainty short (certainEnd), and what they
// may have taken excuses refusals.
func lockModel(refusals refusals) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return lock{} },
		Step: func(state, input, _ any) (bool, any) {
			s, in := state.(lock), input.(asked)
			if in.got < s.notBefore {
				return false, s
			}
			return s.step(in, refusals)
		},
	}
}

// ended says whether the lock may be over when the call takes effect, and
// what is known then.
func (s lock) ended(in asked, early time.Duration) (bool, lock) {
	if s.grant == 0 || in.got >= s.certain {
		s.notBefore = max(s.notBefore, min(s.certain, in.got))
		return true, s
	}
	return in.got >= s.certain-early, s
}

// refusals is how a refusal is judged.
type refusals int

const (
	unchecked refusals = iota
	// byCopies: somebody holds it, or what a release has not reached yet may
	// refuse together with silent masters until its hold is over (V4).
	byCopies
	// byHolders: somebody holds it.
	byHolders
)

func (s lock) mayRefuse(in asked, judged refusals) bool {
	there := s.grant != 0 || judged == byCopies
	return judged == unchecked || in.excused || there && in.sent <= s.longest
}

func (s lock) step(in asked, refusals refusals) (bool, lock) {
	over, later := s.ended(in, 0)
	switch {
	case in.kind == acquire && in.answer == yes:
		later.grant, later.token, later.certain, later.longest = in.grant, in.token, in.end, in.longest()
		return over, later
	case in.kind == renew && in.answer == yes:
		if s.grant != 0 && s.token == in.token {
			s.certain, s.longest = in.end, max(s.longest, in.longest())
			return true, s
		}
		later.grant, later.token, later.certain, later.longest = in.grant, in.token, in.end, in.longest()
		return over, later
	case in.kind == renew: // another's
		return (s.token != in.token || over) && (s.mayRefuse(in, refusals)), s
	case in.kind == acquire: // held
		return s.mayRefuse(in, refusals), s
	case in.kind == extend && in.answer == yes:
		if s.grant != 0 && s.token == in.token {
			s.certain, s.longest = in.end, max(s.longest, in.longest())
			return true, s
		}
		// Extended after an end that nobody saw.
		later.grant, later.token, later.certain, later.longest = in.grant, in.token, in.end, in.longest()
		return over && in.excused, later
	case in.kind == release && in.answer == yes:
		if s.grant != 0 && s.token == in.token {
			s.grant = 0
			return true, s
		}
		return over && in.excused, later
	case in.kind == extend || in.kind == release: // not ours
		return s.token != in.token || over, later
	case in.answer == yes: // a read that found a token
		if s.grant != 0 && s.token == in.value {
			return s.mayRefuse(in, refusals), s
		}
		return over && (in.excused || refusals == unchecked), later
	default: // a read that found nothing
		over, later = s.ended(in, readSlack)
		return over, later
	}
}

// longest is until when a grant may refuse others: its hold on the masters,
// and what looks at their clocks and a busy machine may add.
func (c *call) longest() time.Duration {
	return c.got + c.ttl + c.ttl/50 + 2*timeout + retryBudget + 1500*time.Millisecond
}

// linearizable asks porcupine about one key.
func linearizable(calls []*call, judged refusals) porcupine.CheckResult {
	var ops []porcupine.Operation
	for _, c := range calls {
		if c.answer == unknown || c.undoes {
			continue
		}
		in := asked{call: c, end: certainEnd(c, calls, bySending), excused: c.old || excused(c, calls)}
		ops = append(ops, porcupine.Operation{ClientId: c.client, Input: in, Call: int64(c.sent), Return: int64(c.got)})
	}
	return porcupine.CheckOperationsTimeout(lockModel(judged), ops, 20*time.Second)
}

// excused is whether a call without a known answer may stand behind c's, or an
// attempt with c's own token through another redlockd: of those several may
// refuse one another, and nobody can tell them from one lock.
func excused(c *call, calls []*call) bool {
	equal := c.token == equalToken || c.value == equalToken
	for _, o := range calls {
		beside := o.redlockd != c.redlockd && c.sent < o.got+timeout
		switch {
		case o.kind == read || o.sent >= c.got:
		case o.answer == unknown, equal && beside && o.kind == acquire:
			return true
		}
	}
	return false
}
