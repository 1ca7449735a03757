package faults

import (
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// lock is the state of one key: who was told last that it has it, until when
// for certain, until when it may refuse others, and how often it has it.
type lock struct {
	grant   int
	token   string
	certain time.Duration
	longest time.Duration
	// count is how often the holder of a lock in a hash has it, taken and given how many of its
	// turns without an answer were made use of.
	count, taken, given int
	// notBefore is the latest end of a lock whose expiry was made use of:
	// what comes later in the order cannot have been answered before it.
	notBefore time.Duration
}

// asked is a call, with what the whole history says about it.
type asked struct {
	*call
	// end is until when its grant is certain.
	end time.Duration
	// excused is whether there is a cause beside a holder and what his hold
	// has beyond the TTL.
	excused bool
	// taken and given are the turns without an answer that its holder has sent before.
	taken, given int
}

// early is by how much before the end of a TTL an answer may call the lock over: the drift of a
// master's clock, and a step of it that no redlockd has seen (V15).
const early = 50 * time.Millisecond

// overBy is by when after its TTL every answer calls a lock over: a timeout later, and by what is
// not known of a master's clock (V15).
const overBy = timeout + 150*time.Millisecond

// keptLater is by how much copies may outlast an extend that asked for about what was left:
// they keep a later end that is no more than that later (V6).
const keptLater = 128 * time.Millisecond

// lockModel is one lock. Calls with unknown answers are not in the histories:
// what they may have ended cuts certainty short (certainEnd), what they
// may have taken excuses refusals, and each turn that they may have counted explains one count.
func lockModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return lock{} },
		Step: func(state, input, _ any) (bool, any) {
			s, in := state.(lock), input.(asked)
			if in.got < s.notBefore {
				return false, s
			}
			return s.step(in)
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

func (s lock) mayRefuse(in asked) bool {
	return in.excused || s.grant != 0 && in.sent <= s.longest
}

// counts says whether the count that an answer tells may be the lock's, and what is known then.
func (s lock) counts(in asked) (bool, lock) {
	if s.token != in.token {
		s.count, s.taken, s.given = 0, 0, 0
	}
	more := in.count - in.step - s.count
	fits := func() bool { return more <= in.taken-s.taken && -more <= in.given-s.given }
	if over, _ := s.ended(in, early); over && !fits() {
		more = in.count - in.step // it is taken anew
	}
	ok := fits()
	s.count, s.taken, s.given = in.count, s.taken+max(0, more), s.given+max(0, -more)
	return ok, s
}

func (s lock) step(in asked) (bool, lock) {
	if in.step != 0 && in.answer == yes {
		var fits bool
		if fits, s = s.counts(in); !fits {
			return false, s
		}
	}
	over, later := s.ended(in, 0)
	switch {
	case in.kind == acquire && in.answer == yes:
		later.grant, later.token, later.certain, later.longest = in.grant, in.token, in.end, in.holdEnd()
		return over, later
	case in.kind == renew && in.answer == yes:
		if s.grant != 0 && s.token == in.token {
			s.certain, s.longest = in.end, max(s.longest, in.holdEnd())
			return true, s
		}
		later.grant, later.token, later.certain, later.longest = in.grant, in.token, in.end, in.holdEnd()
		return over, later
	case in.kind == renew: // another's
		return (s.token != in.token || over) && (s.mayRefuse(in)), s
	case in.kind == acquire: // held
		return s.mayRefuse(in), s
	case in.kind == extend && in.answer == yes:
		if s.grant != 0 && s.token == in.token {
			s.certain, s.longest = in.end, max(s.longest, in.holdEnd())
			return true, s
		}
		// Extended after an end that nobody saw.
		later.grant, later.token, later.certain, later.longest = in.grant, in.token, in.end, in.holdEnd()
		return over && in.excused, later
	case in.kind == release && in.answer == yes:
		if s.grant != 0 && s.token == in.token {
			s.grant = 0
			return true, s
		}
		return over && in.excused, later
	case in.kind == extend || in.kind == release: // not ours
		over, later = s.ended(in, early)
		return s.token != in.token || over, later
	case in.answer == yes: // a read that found a token
		if s.grant != 0 && s.token == in.value {
			return s.mayRefuse(in), s
		}
		return over && in.excused, later
	default: // a read that found nothing
		over, later = s.ended(in, early)
		return over, later
	}
}

// holdEnd is until when a grant may refuse others.
func (c *call) holdEnd() time.Duration { return c.longest(c.got) }

// linearizable asks porcupine about one key.
func (j *keyJudge) linearizable() porcupine.CheckResult {
	var ops []porcupine.Operation
	taken, given := map[string]int{}, map[string]int{}
	for _, c := range j.calls {
		if c.answer == unknown {
			taken[c.token] += max(0, c.step)
			given[c.token] += max(0, -c.step)
		}
		if c.answer == unknown || c.undoes || c.tells && c.answer == no {
			continue
		}
		in := asked{call: c, end: certainEnd(c, j.calls, j.w, bySending, nil), excused: c.old || j.excused(c), taken: taken[c.token], given: given[c.token]}
		ops = append(ops, porcupine.Operation{ClientId: c.client, Input: in, Call: int64(c.sent), Return: int64(c.got)})
	}
	return porcupine.CheckOperationsTimeout(lockModel(), ops, 20*time.Second)
}

// excused reports whether an answer has a cause that porcupine does not know of.
func (j *keyJudge) excused(c *call) bool {
	found, _ := j.causes(c)
	return slices.ContainsFunc(found, func(f cause) bool { return f.kind != holder && f.kind != padding })
}
