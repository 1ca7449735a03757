package faults

import (
	"slices"
	"testing"
	"time"
)

const ms = time.Millisecond

// TestJudgeOfMembers checks what of the strings that several hold is a violation: that who
// certainly is in is not told.
func TestJudgeOfMembers(t *testing.T) {
	in := &glimpse{sent: 0, got: 10 * ms, who: "a", until: time.Second}
	leaves := &glimpse{sent: 500 * ms, got: 500 * ms, who: "a"}
	look := func(sent time.Duration, found ...string) *glimpse {
		return &glimpse{sent: sent, got: sent + 5*ms, found: found}
	}
	for _, c := range []struct {
		name string
		all  []*glimpse
		want int
	}{
		{"is found", []*glimpse{in, look(100*ms, "b", "a")}, 0},
		{"is not found", []*glimpse{in, look(100*ms, "b")}, 1},
		{"nobody is found", []*glimpse{in, look(100 * ms)}, 1},
		{"looked before it was told", []*glimpse{in, look(8 * ms)}, 0},
		{"begins to leave", []*glimpse{in, leaves, look(498 * ms)}, 0},
		{"its TTL is about to be over", []*glimpse{in, look(960 * ms)}, 0},
	} {
		h := newHistory()
		h.strings["k"] = c.all
		h.checkMembers("k")
		if len(h.violations) != c.want {
			t.Errorf("%s: %q, want %d", c.name, h.violations, c.want)
		}
	}
}

// TestJudgeOfExec checks which EXEC had to do nothing: the token has changed since WATCH.
func TestJudgeOfExec(t *testing.T) {
	made := func(redlockd int, sent time.Duration, became string) *turn {
		return &turn{call: &call{redlockd: redlockd, sent: sent, got: sent + 5*ms}, became: became}
	}
	exec := func(saw string) *turn {
		e := made(0, 500*ms, "x")
		e.watched, e.saw = 100*ms, saw
		return e
	}
	frees := func(saw string) *turn {
		e := exec(saw)
		e.kind, e.became = release, ""
		return e
	}
	spares, away := made(1, 200*ms, ""), &turn{}
	spares.spared = true
	for _, c := range []struct {
		name string
		all  []*turn
		want string
	}{
		{"nothing changed", []*turn{exec("a")}, ""},
		{"it changed before", []*turn{made(0, 90*ms, "a"), exec("a")}, ""},
		{"it changed", []*turn{made(0, 200*ms, "b"), exec("a")}, "violation"},
		{"it changed through another redlockd", []*turn{made(1, 200*ms, "b"), exec("a")}, "violation"},
		{"it was taken and freed through another redlockd", []*turn{made(1, 200*ms, "b"), exec("")}, "excuse"},
		{"it was taken and freed", []*turn{made(0, 200*ms, "b"), exec("")}, "violation"},
		{"it was freed through another redlockd, and is again", []*turn{made(1, 200*ms, ""), frees("a")}, "violation"},
		{"it was freed where masters were away, and is again", []*turn{made(1, 200*ms, ""), frees("a"), away}, "excuse"},
		{"it changed where masters were away, and is freed", []*turn{made(1, 200*ms, "b"), frees("a"), away}, "violation"},
		{"it has its token again", []*turn{made(1, 200*ms, "b"), made(1, 300*ms, "a"), exec("a")}, "violation"},
		{"another EXEC has left it as it was", []*turn{spares, exec("a")}, ""},
		{"it was freed, and is again", []*turn{made(0, 200*ms, ""), frees("a")}, "violation"},
		{"it may have changed after", []*turn{made(0, 498*ms, "b"), exec("a")}, ""},
	} {
		h := newHistory()
		if c.all[len(c.all)-1] == away {
			c.all = c.all[:len(c.all)-1]
			h.troubles = []*trouble{{from: 190 * ms, to: 600 * ms, masters: []int{1}, redlockd: everyone}}
		}
		h.turns["k"] = c.all
		h.checkTurns("k")
		got := ""
		switch {
		case len(h.violations) > 0:
			got = "violation"
		case len(h.counts) > 0:
			got = "excuse"
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestJudgeOfNulls checks that an EXEC that is null has a cause at one of its keys.
func TestJudgeOfNulls(t *testing.T) {
	has := &call{n: 1, kind: acquire, key: "k", token: "a", got: 10 * ms, ttl: time.Second, answer: yes}
	freed := &call{n: 2, kind: release, key: "k", token: "a", sent: 200 * ms, got: 210 * ms, answer: yes}
	refused := &call{n: 3, kind: acquire, key: "k", token: "b", sent: 200 * ms, got: 210 * ms, ttl: time.Second, answer: no}
	for _, c := range []struct {
		name  string
		calls []*call
		saw   []string // under k, and under another key that is free
		at    time.Duration
		want  bool
	}{
		{"nothing was done", []*call{has}, []string{"a"}, 300 * ms, false},
		{"another was refused", []*call{has, refused}, []string{"a"}, 300 * ms, false},
		{"it was freed", []*call{has, freed}, []string{"a"}, 300 * ms, true},
		{"its TTL is over", []*call{has}, []string{"a"}, 1100 * ms, true},
		{"it was free, and is taken", []*call{has}, []string{""}, 300 * ms, true},
		{"it was free, and nobody has taken it", []*call{refused}, []string{""}, 300 * ms, false},
		{"both are as they were", []*call{has}, []string{"a", ""}, 300 * ms, false},
		{"one of two was freed", []*call{has, freed}, []string{"a", ""}, 300 * ms, true},
	} {
		b := &bench{h: newHistory()}
		b.h.keys = map[string][]*call{"k": c.calls, "l": {{kind: read, key: "l", answer: no}}}
		exec := &null{call: &call{sent: c.at, got: c.at + 5*ms, answer: no}}
		for i, saw := range c.saw {
			exec.seen = append(exec.seen, &turn{call: &call{key: []string{"k", "l"}[i], token: "c"}, asked: 100 * ms, watched: 110 * ms, saw: saw})
		}
		b.h.nulls = []*null{exec}
		if b.checkNulls(); len(b.h.violations) == 0 != c.want {
			t.Errorf("%s: %q", c.name, b.h.violations)
		}
	}
}

// TestJudgeOfTokens checks that a token that SET NX GET tells is one that somebody may have, where
// a refusal alone may come from a copy that is out of reach.
func TestJudgeOfTokens(t *testing.T) {
	long := &call{n: 1, kind: acquire, token: "a", got: 10 * ms, ttl: time.Second, answer: yes}
	freed := &call{n: 2, kind: release, token: "a", sent: 500 * ms, got: 510 * ms, answer: yes}
	short := &trouble{what: "cut", from: 490 * ms, to: 600 * ms, after: back, masters: []int{1}, redlockd: everyone}
	for _, c := range []struct {
		name  string
		calls []*call
		tells string // the token, or none for SET NX
		want  bool
	}{
		{"refused by a copy that the release did not reach", []*call{long, freed}, "", true},
		{"told of it", []*call{long, freed}, "a", false},
		{"told of who has it", []*call{long}, "a", true},
		{"told of somebody else", []*call{long}, "b", false},
	} {
		is := &call{n: 3, kind: acquire, token: "z", sent: 620 * ms, got: 625 * ms, ttl: time.Second, answer: no, tells: c.tells != "", value: c.tells}
		calls := append(slices.Clone(c.calls), is)
		w := &times{troubles: []*trouble{short}}
		j := &keyJudge{w: w, calls: calls, takings: w.takings(calls), spans: spansOf(calls, w, bySending), masters: 5}
		if found, judged := j.causes(is); !judged || len(found) > 0 != c.want {
			t.Errorf("%s: causes %v, judged %v", c.name, found, judged)
		}
	}
}

// TestJudgeOfNoQuorum checks that masters that are away excuse a NOQUORUM for three seconds only,
// and those in quarantine while the redlockd itself says so.
func TestJudgeOfNoQuorum(t *testing.T) {
	const s = time.Second
	cut := &trouble{what: "cut", from: s, to: 2 * s, after: 3 * s, masters: []int{0, 1, 2}, redlockd: everyone}
	lost := &trouble{what: "empty restart", from: s, to: 2 * s, after: 30 * s, masters: []int{0, 1, 2}, redlockd: everyone, quarantine: true}
	said := map[[2]int][]time.Duration{}
	for m := range 3 {
		said[[2]int{0, m}] = []time.Duration{3 * s, 8 * s}
	}
	for _, c := range []struct {
		name string
		by   *trouble
		at   time.Duration
		text string
		want string
	}{
		{"while they are cut off", cut, 1500 * ms, "x", away},
		{"two seconds later", cut, 4 * s, "x", away},
		{"four seconds later", cut, 6 * s, "x", ""},
		{"in quarantine, as it says", lost, 9 * s, "x", waiting},
		{"in quarantine, as it does not say any more", lost, 12 * s, "x", ""},
		{"in quarantine, as the answer says", lost, 12 * s, "2 of 5 masters may vote: c quarantine waiting 9s, d quarantine waiting 9s, e down", waiting},
		{"new, as the answer says", lost, 12 * s, "2 of 5 masters may vote: c new waiting 9s, d new waiting 9s, e down", waiting},
		{"it grants nothing, as clocks may have stepped", lost, 7 * s, "the clocks of a majority jumped together, or redlockd stood still: it grants nothing for 1s", still},
		{"it grants nothing for too long", lost, 11500 * ms, "the clocks of a majority jumped together, or redlockd stood still: it grants nothing for 1s", ""},
		{"cut off long ago, and the answer speaks of a quarantine", cut, 6 * s, "2 of 5 masters may vote: c quarantine waiting 9s, d quarantine waiting 9s, e down", ""},
	} {
		e := &call{kind: acquire, token: "a", sent: c.at, got: c.at + 10*ms, answer: unknown, value: "NOQUORUM " + c.text}
		w := &times{troubles: []*trouble{c.by}, mute: said}
		j := &keyJudge{w: w, calls: []*call{e}, takings: w.takings([]*call{e}), masters: 5, window: 3 * s}
		got := ""
		for _, f := range j.undecided(e) {
			got += f.kind
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestJudgeOfNoQuorumAgain checks that the latest standstill of a redlockd excuses, also where an
// earlier one still shows, and a change of token that nobody could tell until its hold is over.
func TestJudgeOfNoQuorumAgain(t *testing.T) {
	const s = time.Second
	e := &call{kind: read, sent: 6 * s, got: 6*s + 10*ms, answer: unknown, value: "NOQUORUM x"}
	first := &trouble{what: "freeze", from: s, to: 2 * s, after: 5 * s, redlockd: 0}
	second := &trouble{what: "freeze", from: 4 * s, to: 5 * s, after: 5 * s, redlockd: 0}
	change := &call{kind: acquire, token: "b", sent: 4 * s, got: 4*s + ms, ttl: 4 * s, answer: unknown, value: "NOQUORUM x", replaces: true}
	over := *change
	over.sent, over.got, over.ttl = s, s+ms, s
	for _, c := range []struct {
		name  string
		stood []*trouble
		calls []*call
		want  string
	}{
		{"it stood still twice", []*trouble{first, second}, nil, still},
		{"it stood still long ago", []*trouble{first}, nil, ""},
		{"an undecided change", nil, []*call{change}, tried},
		{"an undecided change whose hold is over", nil, []*call{&over}, ""},
	} {
		calls := append(c.calls, e)
		w := &times{troubles: c.stood}
		j := &keyJudge{w: w, calls: calls, takings: w.takings(calls), masters: 5, window: 3 * s}
		got := ""
		for _, f := range j.undecided(e) {
			got += f.kind
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
