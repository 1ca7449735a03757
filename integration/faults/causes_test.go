package faults

import (
	"fmt"
	"slices"
	"time"
)

// What may stand behind an answer. The first two are as on one Redis; each of
// the others excuses, for as long as it may last and no longer.
const (
	holder    = "held or free"           // somebody has it for certain, or nobody
	padding   = "hold beyond a TTL"      // V3
	tried     = "unknown attempt"        // it may have the lock
	undone    = "unknown release"        // or extend: it may have ended the lock
	copies    = "copies out of reach"    // of what is over, beside silent masters (V4, V8)
	equals    = "equal tokens at once"   // which refuse one another
	overtaken = "overtaken by a release" // through another redlockd
	required  = "the old Redis"          // it refuses by attempts that are lost (V11)
	crowd     = "others at once"         // a split, or a queue
	away      = "masters away"
	waiting   = "masters in quarantine" // as redlockd itself says
	still     = "redlockd stood still"
	machine   = "the machine stood still"
)

// kinds of causes, in the order of the table.
var causeKinds = []string{holder, padding, tried, undone, away, waiting, still, machine, crowd, copies, equals, overtaken, required}

// cause is one thing that explains an answer.
type cause struct{ kind, text string }

// keyJudge judges the answers on one key.
type keyJudge struct {
	w        *times
	calls    []*call
	takings  []*taking
	spans    []span
	masters  int
	required bool
	window   time.Duration // bench.window
	// violation notes what is wrong.
	violation func(format string, args ...any)
}

func (b *bench) newKeyJudge(calls []*call) *keyJudge {
	w := b.h.around(calls[0].sent, calls[len(calls)-1].got)
	j := &keyJudge{w: w, calls: calls, takings: w.takings(calls), spans: spansOf(calls, w, bySending), masters: len(b.masters), required: b.old > 0, window: b.window}
	return j
}

// causes are what may explain an answer; judged is false where none is asked
// for: a lock that was taken, and no answer at all, are judged by others.
func (j *keyJudge) causes(c *call) (found []cause, judged bool) {
	switch {
	case c.old, c.implied:
		return nil, false
	case c.tells && c.answer == no:
		return j.present(c, c.value, true), true
	case c.answer == unknown:
		if !isNoQuorum(c) {
			return nil, false
		}
		return j.undecided(c), true
	case j.denies(c):
		return nil, true
	case c.kind == acquire && c.answer == no, c.kind == renew && c.answer == no:
		return j.refused(c), true
	case c.kind == read && c.answer == yes:
		return j.present(c, c.value, true), true
	case c.kind == extend && c.answer == yes, c.kind == release && c.answer == yes:
		return j.present(c, c.token, c.kind == extend), true
	case c.kind == read:
		return j.absent(c, ""), true
	case c.kind == extend, c.kind == release:
		return j.absent(c, c.token), true
	}
	return nil, false
}

// denies reports whether an answer tells of no lock, or of another's, while somebody
// had it for certain, all the time (P4). What c itself may have ended counts.
func (j *keyJudge) denies(c *call) bool {
	if c.kind == acquire || c.answer == yes && c.kind != read {
		return false
	}
	for _, t := range j.takings {
		if t.answer != yes || t.got > c.sent || c.kind != read && t.token != c.token || c.answer == yes && c.value == t.token {
			continue
		}
		end := t.certain
		if c.kind != read {
			end = certainEnd(t.call, j.calls, j.w, bySending, c)
		}
		if c.got <= end-early && j.isSpan(t.call) {
			return true
		}
	}
	return false
}

// isSpan reports whether it was told for certain; an extend with a token that all
// use is not always (continues).
func (j *keyJudge) isSpan(c *call) bool {
	return slices.ContainsFunc(j.spans, func(s span) bool { return s.by == c })
}

// refused is that another has it.
func (j *keyJudge) refused(c *call) (out []cause) {
	for _, t := range j.takings {
		own := t.token == c.token
		if t.call == c || t.sent >= c.got || own && c.kind == renew {
			continue
		}
		if kind, until := j.mayHold(t, c); kind != "" {
			out = append(out, cause{kind, fmt.Sprintf("%s until %.3fs", t.name(), until.Seconds())})
		}
		if own && t.redlockd != c.redlockd && c.sent < t.over+timeout {
			out = append(out, cause{equals, t.name()})
		}
		out = append(append(out, j.leftOver(t, c)...), j.overtaken(t, c)...)
	}
	return out
}

// mayHold says as what a majority may have t's lock while c is answered, and
// until when at most.
func (j *keyJudge) mayHold(t *taking, c *call) (kind string, until time.Duration) {
	switch {
	case t.answer == no, c.sent >= t.gone, c.sent > t.until:
		return "", 0
	case t.answer == unknown:
		return tried, min(t.until, t.gone)
	case c.sent <= t.certain: // c itself may end it
		return holder, t.certain
	case t.certain < t.sent+t.ttl:
		return undone, t.until
	default:
		return padding, t.until
	}
}

// leftOver is that copies of what was lost or is over still are on a minority
// of masters and redlockd cannot tell that there are no more (V4).
func (j *keyJudge) leftOver(t *taking, c *call) (out []cause) {
	if t.answer != no && c.sent < t.gone || c.sent > t.until+j.w.wentBack(t.sent, c.got) {
		return nil
	}
	if j.required {
		out = append(out, cause{required, t.name()})
	}
	silent, why := j.w.silentTo(c.redlockd, c.sent, c.got)
	left := j.w.left(t)
	if t.answer == no && c.sent < t.over {
		left = "it is under way"
	}
	if len(silent) > 0 && left != "" {
		out = append(out, cause{copies, fmt.Sprintf("%s, over since %s; left by %s; now %v", t.name(), t.goneBy, left, why[0])})
	}
	return out
}

// present is that a token is there: on a majority, or for a release on any
// master (V8).
func (j *keyJudge) present(c *call, token string, onMajority bool) (out []cause) {
	for _, t := range j.takings {
		if t.call == c || t.token != token || t.sent >= c.got || t.answer == no && onMajority && !j.required {
			continue
		}
		kind, until := j.mayHold(t, c)
		// All but those whom it refuses are told that it is over though the masters keep it
		// longer (V15). What the required master alone has may be an old client's, which is
		// never over (V11).
		over := t.got + t.ttl + overBy
		if t.kind != acquire {
			over += keptLater
		}
		if kind == padding && c.kind != acquire && !j.required && c.sent > over && !j.noClocks(c) {
			kind = ""
		}
		if kind != "" {
			out = append(out, cause{kind, fmt.Sprintf("%s until %.3fs", t.name(), until.Seconds())})
		}
		out = append(out, j.overtaken(t, c)...)
		if back := j.w.wentBack(t.sent, c.got); !onMajority && t.answer == yes && c.sent > t.until && c.sent <= t.until+back {
			out = append(out, cause{copies, fmt.Sprintf("%s, which a clock that went back by %v keeps", t.name(), back)})
		}
		if !onMajority || j.required {
			out = append(out, j.leftOver(t, c)...)
		}
	}
	return out
}

// noClocks reports whether a redlockd may not know whether the clocks of a majority of the
// masters have stepped, because they were away: it cannot call a copy over (M5).
func (j *keyJudge) noClocks(c *call) bool {
	silent, _ := j.w.silentTo(c.redlockd, c.sent-timeout, c.got)
	return 2*len(silent) > j.masters
}

// absent is that nobody has it, or not with this token; "" is any. That
// somebody has it for certain is denies.
func (j *keyJudge) absent(c *call, token string) []cause {
	var cut []cause
	for _, t := range j.takings {
		own := token == "" || t.token == token
		switch {
		case t.answer != yes || !own || t.got > c.sent:
		case c.got < t.sent+t.ttl-early && c.sent < t.gone && !j.endedByAnswer(t, c) && t.certain < c.got:
			cut = append(cut, cause{undone, "of " + t.name()})
		}
	}
	if len(cut) > 0 {
		return cut
	}
	return []cause{{holder, "nobody has it for certain"}}
}

// endedByAnswer reports whether what cut t's certainty short was answered yes.
func (j *keyJudge) endedByAnswer(t *taking, c *call) bool {
	for _, o := range j.calls {
		if o != c && o.token == t.token && o.answer == yes && o.kind == release && o.sent >= t.sent && o.sent < c.got {
			return true
		}
	}
	return false
}
