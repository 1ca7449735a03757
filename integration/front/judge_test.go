package front

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// call is one of a client: when it was sent and answered, and what came of it.
type call struct {
	kind           string // hold, take, release, extend, or the name of a step
	sent, answered time.Time
	ok             bool
	err            string // empty if it was answered
	result         string // of a step
}

// wantedTTL is the TTL of the lock that all want.
const wantedTTL = 2 * time.Second

// verdict is what a client noticed of a fault.
type verdict struct {
	gap         time.Duration // the longest time without an OK
	never       bool          // none came any more
	errors      int
	twice, lost int
	said        []string // the first errors
}

// judge reads the calls of a client in the order of their answers. What was
// answered before the fault counts for locks only.
func judge(calls, others []call, began time.Time) verdict {
	v := verdict{twice: heldTwice(calls, others), lost: lost(calls), never: true}
	last := began
	for _, c := range calls {
		switch {
		case c.answered.Before(began):
			if c.ok {
				last = c.answered
			}
		case c.err != "":
			v.errors++
			if len(v.said) < 3 {
				v.said = append(v.said, fmt.Sprintf("%s: %.160s", c.kind, c.err))
			}
		case c.ok:
			v.never = v.never && c.sent.Before(began)
			v.gap = max(v.gap, c.answered.Sub(last))
			last = c.answered
		}
	}
	return v
}

// lost counts extends of the held lock that found it gone.
func lost(calls []call) int {
	n := 0
	for _, c := range calls {
		if c.kind == "extend" && c.err == "" && !c.ok {
			n++
		}
	}
	return n
}

// span is a time for which somebody held a lock for certain.
type span struct{ from, to time.Time }

// spans are the times from an OK until the release was sent, or the TTL was over
// since the acquire was sent.
func spans(calls []call) []span {
	var all []span
	for i, c := range calls {
		if c.kind != "take" || !c.ok {
			continue
		}
		s := span{c.answered, c.sent.Add(wantedTTL)}
		if i+1 < len(calls) && calls[i+1].kind == "release" && calls[i+1].sent.Before(s.to) {
			s.to = calls[i+1].sent
		}
		all = append(all, s)
	}
	return all
}

// heldTwice counts the spans of a client that overlap with another's.
func heldTwice(calls, others []call) int {
	theirs := spans(others)
	n := 0
	for _, s := range spans(calls) {
		if slices.ContainsFunc(theirs, func(o span) bool { return o.from.Before(s.to) && s.from.Before(o.to) }) {
			n++
		}
	}
	// The contender must never get what the client holds to the end.
	for _, c := range others {
		if c.kind == "hold" && c.ok {
			n++
		}
	}
	return n
}

// TestJudge: what makes a row bad is seen.
func TestJudge(t *testing.T) {
	zero := time.UnixMilli(1_000_000)
	at := func(ms int) time.Time { return zero.Add(time.Duration(ms) * time.Millisecond) }
	made := func(kind string, sent, answered int, ok bool, err string) call {
		return call{kind: kind, sent: at(sent), answered: at(answered), ok: ok, err: err}
	}
	mine := []call{made("take", 0, 10, true, ""), made("release", 30, 40, true, "")}
	for _, test := range []struct {
		name          string
		calls, others []call
		want          verdict
	}{
		{"nothing noticed", []call{made("extend", 90, 95, true, ""), made("extend", 110, 120, true, "")}, nil, verdict{gap: 25 * time.Millisecond}},
		{"an error, and an OK later", []call{made("extend", 90, 150, false, "broken"), made("extend", 160, 400, true, "")}, nil,
			verdict{gap: 300 * time.Millisecond, errors: 1}},
		{"a gap behind the first OK", []call{made("extend", 110, 120, true, ""), made("extend", 800, 820, true, "")}, nil, verdict{gap: 700 * time.Millisecond}},
		{"errors before the fault", []call{made("extend", 1, 2, false, "early"), made("extend", 101, 102, true, "")}, nil, verdict{gap: 2 * time.Millisecond}},
		{"never", []call{made("extend", 90, 95, true, ""), made("extend", 110, 900, false, "broken")}, nil, verdict{never: true, errors: 1}},
		{"only what was sent before", []call{made("extend", 99, 101, true, "")}, nil, verdict{never: true, gap: time.Millisecond}},
		{"lost", []call{made("extend", 110, 120, false, "")}, nil, verdict{never: true, lost: 1}},
		{"apart", mine, []call{made("take", 31, 45, true, "")}, verdict{never: true}},
		{"held twice", mine, []call{made("take", 0, 29, true, "")}, verdict{never: true, twice: 1}},
		{"held until its TTL ends", mine[:1], []call{made("take", 0, 1999, true, "")}, verdict{never: true, twice: 1}},
		{"free when its TTL has ended", mine[:1], []call{made("take", 0, 2001, true, "")}, verdict{never: true}},
		{"the held lock given away", nil, []call{made("hold", 1, 2, true, "")}, verdict{never: true, twice: 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := judge(test.calls, test.others, at(100))
			got.said = nil
			if got.gap != test.want.gap || got.never != test.want.never || got.errors != test.want.errors || got.twice != test.want.twice || got.lost != test.want.lost {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}
