package faults

import (
	"slices"
	"testing"
	"time"
)

// A judge that excuses everything would let every run pass. So here is what it
// must not excuse, and, next to each, what it must.
func TestJudge(t *testing.T) {
	const ms = time.Millisecond
	took := func(n int, token string, sent, ttl time.Duration, a answer) *call {
		return &call{n: n, client: n, kind: acquire, token: token, sent: sent, got: sent + 10*ms, ttl: ttl, answer: a, value: "NOQUORUM x"}
	}
	did := func(n int, kind, token string, sent time.Duration, a answer) *call {
		return &call{n: n, client: n, kind: kind, token: token, sent: sent, got: sent + 10*ms, answer: a, value: "NOQUORUM x"}
	}
	lost := &trouble{what: "cut", from: 0, to: 4 * time.Second, after: back, masters: []int{1}, redlockd: everyone}
	short := &trouble{what: "cut", from: 500 * ms, to: 600 * ms, after: back, masters: []int{1}, redlockd: everyone}
	three := &trouble{what: "cut", from: 900 * ms, to: 1100 * ms, after: back, masters: []int{0, 1, 2}, redlockd: 0}
	emptied := &trouble{what: "empty restart", from: 900 * ms, to: 910 * ms, after: back, masters: []int{1}, redlockd: everyone, quarantine: true}
	frozen := &trouble{what: "freeze", from: 0, to: 3 * time.Second, after: back, redlockd: 0}
	long := took(1, "a", 0, time.Second, yes)
	unknownOne := took(1, "a", 0, time.Second, unknown)
	broken := took(1, "a", 0, time.Second, unknown)
	broken.value = "EOF"
	told := took(1, "a", 0, 3*time.Second, unknown)
	told.value, told.answered = "answered as it hung up", true
	freed := did(2, release, "a", 500*ms, yes)
	far := func(late time.Duration) *trouble {
		return &trouble{what: "one way", from: 0, to: 4 * time.Second, after: back, masters: []int{0, 1, 2}, redlockd: 0, late: late}
	}
	by := func(redlockd int, c *call) *call { c.redlockd = redlockd; return c }
	finds := func(token string, sent time.Duration) *call {
		c := did(9, read, "", sent, yes)
		c.value = token
		return c
	}
	lasts, renewed := took(1, "a", 0, 4*time.Second, yes), func(redlockd int) *call {
		c := took(2, "a", 400*ms, 4*time.Second, yes)
		c.kind, c.redlockd = renew, redlockd
		return c
	}
	prolonged := func(kind string, sent time.Duration) *call {
		c := did(2, kind, "a", sent, unknown)
		c.ttl = 3 * time.Second
		return c
	}
	for _, c := range []struct {
		name     string
		before   []*call
		troubles []*trouble
		is       *call
		want     string // the strongest cause, or none
	}{
		{"refused while somebody holds it", []*call{long}, nil, took(9, "b", 500*ms, time.Second, no), holder},
		{"refused in the padding", []*call{long}, nil, took(9, "b", 1500*ms, time.Second, no), padding},
		{"refused after the hold", []*call{long}, nil, took(9, "b", 3*time.Second, time.Second, no), ""},
		{"refused by nobody", nil, nil, took(9, "b", 500*ms, time.Second, no), ""},
		{"refused by a lock that was released", []*call{long, freed}, nil, took(9, "b", 600*ms, time.Second, no), ""},
		{"refused by a copy that the release did not reach", []*call{long, freed}, []*trouble{short}, took(9, "b", 600*ms, time.Second, no), copies},
		{"refused by a copy after its hold", []*call{long, freed}, []*trouble{lost}, took(9, "b", 3500*ms, time.Second, no), ""},
		{"refused by an unknown attempt", []*call{unknownOne}, []*trouble{lost}, took(9, "b", 1200*ms, time.Second, no), tried},
		{"refused by an unknown attempt after its hold", []*call{unknownOne}, []*trouble{lost}, took(9, "b", 3500*ms, time.Second, no), ""},
		{"refused by an unknown attempt that was undone", []*call{unknownOne}, nil, took(9, "b", 1800*ms, time.Second, no), ""},
		{"refused by an attempt that was answered as its client hung up", []*call{told}, nil, took(9, "b", 2900*ms, time.Second, no), tried},
		{"refused by an attempt that was so answered, after its hold", []*call{told}, nil, took(9, "b", 6*time.Second, time.Second, no), ""},
		{"refused by an attempt that a frozen redlockd may make yet", []*call{broken}, []*trouble{frozen, lost}, took(9, "b", 4500*ms, time.Second, no), tried},
		{"a release of the holder's is denied", []*call{long}, nil, did(9, release, "a", 500*ms, no), ""},
		{"a release after the end", []*call{long}, nil, did(9, release, "a", 1500*ms, no), holder},
		{"an extend of the holder's is denied", []*call{long}, nil, did(9, extend, "a", 500*ms, no), ""},
		{"a read finds nothing while somebody holds it", []*call{long}, nil, did(9, read, "", 500*ms, no), ""},
		{"a read finds nothing after a release", []*call{long, freed}, nil, did(9, read, "", 600*ms, no), holder},
		{"a renewal by the holder is refused, with a copy beside", []*call{took(2, "b", 0, 2*time.Second, unknown), took(1, "a", 100*ms, time.Second, yes)},
			[]*trouble{lost}, did(9, renew, "a", 500*ms, no), ""},
		{"a read finds another's beside the holder", []*call{took(2, "b", 0, 2*time.Second, unknown), long},
			[]*trouble{lost}, func() *call { c := did(9, read, "", 500*ms, yes); c.value = "b"; return c }(), ""},
		{"a read finds what was released elsewhere while it was renewed", []*call{lasts, renewed(2), by(1, did(3, release, "a", 500*ms, yes))},
			nil, finds("a", 1900*ms), overtaken},
		{"refused by it", []*call{lasts, renewed(2), by(1, did(3, release, "a", 500*ms, yes))}, nil, took(9, "b", 1900*ms, time.Second, no), overtaken},
		{"a read finds it when the release has reached all", []*call{lasts, renewed(2), by(1, did(3, release, "a", 500*ms, yes))},
			nil, finds("a", 2100*ms), ""},
		{"a read finds it, by the redlockd that has renewed it", []*call{lasts, renewed(1), by(1, did(3, release, "a", 500*ms, yes))},
			nil, finds("a", 900*ms), ""},
		{"a read finds it, released when nothing was on its way", []*call{lasts, renewed(2), by(1, did(3, release, "a", 800*ms, yes))},
			nil, finds("a", 900*ms), ""},
		{"a read finds what two have had on its way", []*call{took(1, "a", 300*ms, 4*time.Second, yes), renewed(2), by(1, did(3, release, "a", 500*ms, yes))},
			nil, finds("a", 3*time.Second), overtaken},
		{"a read finds a lost attempt that came late", []*call{took(1, "a", 0, 3*time.Second, unknown), by(1, took(2, "a", 50*ms, time.Second, yes)), by(2, did(3, release, "a", 100*ms, yes))},
			[]*trouble{far(400 * ms)}, finds("a", 450*ms), tried},
		{"a read finds a lost attempt of which only the answers came late", []*call{took(1, "a", 0, 3*time.Second, unknown), by(2, took(2, "a", 50*ms, time.Second, yes)), by(2, did(3, release, "a", 100*ms, yes))},
			[]*trouble{far(0)}, finds("a", 450*ms), ""},
		{"no majority though all is well", []*call{long}, nil, did(9, extend, "a", 500*ms, unknown), ""},
		{"no majority while three masters are away", []*call{long}, []*trouble{three}, took(9, "b", 950*ms, time.Second, unknown), away},
		{"no majority for whom they are not away", []*call{long}, []*trouble{three}, func() *call {
			c := did(9, extend, "a", 950*ms, unknown)
			c.redlockd = 1
			return c
		}(), ""},
		{"a read finds what an extend without a majority has prolonged", []*call{long, prolonged(extend, 800*ms)}, nil, finds("a", 2900*ms), tried},
		{"the same, after what it asked for", []*call{long, prolonged(extend, 800*ms)}, nil, finds("a", 6*time.Second), ""},
		{"a read finds what a renewal without a majority has prolonged", []*call{long, prolonged(renew, 800*ms)}, nil, finds("a", 2900*ms), tried},
		{"a renewal that has prolonged nothing is undone", []*call{long, prolonged(renew, 4*time.Second)}, nil, finds("a", 6500*ms), ""},
		{"found before it is over", []*call{long}, nil, finds("a", 1400*ms), padding},
		{"found though it is over", []*call{long}, nil, finds("a", 1500*ms), ""},
		{"released before it is over", []*call{long}, nil, did(9, release, "a", 1400*ms, yes), padding},
		{"released though it is over", []*call{long}, nil, did(9, release, "a", 1500*ms, yes), ""},
		{"extended before it is over", []*call{long}, nil, did(9, extend, "a", 1400*ms, yes), padding},
		{"extended though it is over", []*call{long}, nil, did(9, extend, "a", 1500*ms, yes), ""},
		{"an extend is denied shortly before the end", []*call{long}, nil, did(9, extend, "a", 930*ms, no), ""},
		{"an extend is denied at the end", []*call{long}, nil, did(9, extend, "a", 960*ms, no), holder},
		{"found where the clocks of a majority are not known", []*call{long}, []*trouble{three}, finds("a", 1500*ms), padding},
		{"found where that of one is not known", []*call{long}, []*trouble{lost}, finds("a", 1500*ms), ""},
		{"found though it is over, right after a mark was lost", []*call{long}, []*trouble{emptied}, finds("a", 1500*ms), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls := append(slices.Clone(c.before), c.is)
			w := &times{troubles: c.troubles}
			j := &keyJudge{w: w, calls: calls, takings: w.takings(calls), spans: spansOf(calls, w, bySending), masters: 5}
			found, judged := j.causes(c.is)
			got := ""
			for _, kind := range slices.Backward(causeKinds) {
				if slices.ContainsFunc(found, func(f cause) bool { return f.kind == kind }) {
					got = kind
				}
			}
			if !judged || got != c.want {
				t.Errorf("judged %v, cause %q, want %q\n%v\n%s", judged, got, c.want, found, j.considered(c.is))
			}
		})
	}
}

// TestJudgeEndsAQuarantine checks that what interrupts a quarantine prolongs it, and that
// it is over once all redlockd have said that the master votes.
func TestJudgeEndsAQuarantine(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		one, other []time.Duration
		want       time.Duration
	}{
		"never told":               {nil, nil, 8*s + 2*s + back},
		"told by one":              {[]time.Duration{15 * s}, nil, 8*s + 2*s + back},
		"told before it was known": {[]time.Duration{9 * s, 12 * s}, []time.Duration{9 * s, 12 * s}, 8*s + 2*s + back},
		"told":                     {[]time.Duration{9 * s, 14 * s, 16 * s}, []time.Duration{15 * s}, 5 * s},
		"told after its end":       {[]time.Duration{30 * s}, []time.Duration{30 * s}, 8*s + 2*s + back},
	} {
		t.Run(name, func(t *testing.T) {
			restart := &trouble{from: 9 * s, to: 10 * s, after: 8 * s, masters: []int{1}, redlockd: everyone, quarantine: true}
			cut := &trouble{from: 12 * s, to: 14 * s, after: back, masters: []int{1}, redlockd: everyone}
			h := &history{troubles: []*trouble{restart, cut}, voting: map[[2]int][]time.Duration{{0, 1}: c.one, {1, 1}: c.other}}
			h.prolong(5, 2)
			if restart.after != c.want {
				t.Errorf("it shows for %v, want %v", restart.after, c.want)
			}
		})
	}
}

// TestStandstillHasAnAftermath checks what a standstill of the whole machine excuses: what
// comes in it, and for a while after a long one.
func TestStandstillHasAnAftermath(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		lasts, sent time.Duration
		excused     bool
	}{{s / 2, s / 4, true}, {s / 2, s, false}, {2 * s, 2*s + s/2, true}, {2 * s, 4 * s, false}} {
		j := &keyJudge{masters: 5, w: &times{stood: []stillness{{0, c.lasts}}}}
		got := j.undecided(&call{kind: acquire, sent: c.sent, got: c.sent + s/100})
		if excused := slices.ContainsFunc(got, func(why cause) bool { return why.kind == machine }); excused != c.excused {
			t.Errorf("a call %v after the begin of a standstill of %v is excused: %v", c.sent, c.lasts, excused)
		}
	}
}
