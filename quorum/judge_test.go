package quorum

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// M3, M4, M6: what follows from what was seen of a master.
func TestJudge(t *testing.T) {
	r := rules{name: "a", list: "hash", known: firstGeneration("hash"), wait: 10 * time.Second, greatest: 5 * time.Second, quarantine: true,
		redlockd: "r", own: seat{epoch: 1, server: "id"}, borne: true, remembered: true}
	here := server{runID: "run"}
	durable := server{runID: "run2", durable: true}
	ours := &mark{real: true, id: "id", name: "a", runID: "run", generation: firstGeneration("hash"), beat: 7,
		seats: seats{}, residues: []residue{{1, "r", 7}}}
	pending := &mark{id: "id", name: "a", runID: "run", generation: firstGeneration("hash"), seen: 1000, why: whyForgotten}
	saw := memory{sawReal: true, id: "id", beat: 7}
	change := func(m *mark, f func(*mark)) *mark { return m.with(f) }
	noQuarantine := r
	noQuarantine.quarantine = false
	three := r
	three.db = 3
	exempt, wait, unborne, other, left, none := r, r, r, r, r, r
	exempt.exempt, wait.exempt = isExempt, exemptAsked
	unborne.borne = false
	unseen, seen := r, r
	unseen.remembered, seen.remembered, seen.inView = false, false, true
	other.own, other.borne, other.heard = seat{epoch: 2, server: "else"}, true, true
	unknown := other
	unknown.heard = false
	left = other
	left.quiet = true
	none.own = seat{epoch: 2, server: vacant}

	for _, c := range []struct {
		name        string
		observation observation
		mem         memory
		rules       rules
		state       state
		open        bool
		// writes is whether the mark that is written is real, or pending.
		writes string
		reason string
	}{
		{"M6 no mark, never seen", observation{server: here}, memory{}, r, stateFresh, true, "pending", "new"},
		{"M4 no mark, but there was one", observation{server: here}, saw, r, stateQuarantine, true, "pending", "flushed"},
		{"no quarantine, for tests", observation{server: here}, memory{}, noQuarantine, stateVoting, true, "real", ""},
		{"our mark", observation{server: here, mark: ours}, saw, r, stateVoting, true, "", ""},
		{"M4 the beat", observation{server: here, mark: ours}, memory{beatDue: true}, r, stateVoting, true, "real", ""},
		{"M3 a greater hold", observation{server: here, mark: ours}, memory{wanted: time.Hour}, r, stateVoting, true, "real", ""},
		{"M3 another master's mark", observation{server: here, mark: change(ours, func(m *mark) { m.name = "b" })}, saw, r,
			stateRefused, false, "", `master "b"`},
		{"M3 a copy of another master's keys",
			observation{server: here, mark: change(ours, func(m *mark) { m.name, m.runID = "b", "else" })}, saw, r,
			stateQuarantine, true, "pending", "restarted"},
		{"M3 another list of masters", observation{server: here, mark: change(ours, func(m *mark) { m.masters = "x" })}, saw, r,
			stateRefused, false, "", "another list"},
		{"no mark at all", observation{server: here, foreign: true, raw: "hello"}, saw, r, stateRefused, false, "", "not a mark"},
		{"M7 a Redis that knows no PXAT", observation{server: server{runID: "run", version: "6.0.16"}, mark: ours}, saw, r,
			stateRefused, false, "", "is Redis 6.0.16, 6.2 or newer is needed"},
		{"M7 the oldest Redis that is served", observation{server: server{runID: "run", version: "6.2.0"}, mark: ours}, saw, r,
			stateVoting, true, "", ""},
		{"M4 restarted with some memory", observation{server: server{runID: "run2"}, mark: ours}, saw, r,
			stateQuarantine, true, "pending", "restarted"},
		{"M4 restarted, durable, and nobody knows of a later beat", observation{server: durable, mark: ours}, saw, exempt,
			stateVoting, true, "real", ""},
		{"M4 restarted, durable, and others are asked", observation{server: durable, mark: ours}, saw, wait,
			stateQuarantine, false, "", "checking it against the other masters"},
		{"M4 restarted, durable, but with an older beat", observation{server: durable, mark: ours}, saw, r,
			stateQuarantine, true, "pending", "restarted"},
		{"M4 says that it is durable, and was not", observation{server: server{runID: "run2"}, mark: ours}, saw, exempt,
			stateQuarantine, true, "pending", "restarted"},
		{"M4 its beat went back", observation{server: here, mark: change(ours, func(m *mark) { m.beat = 6 })}, saw, r,
			stateQuarantine, true, "pending", "flushed"},
		{"M4 another mark, of less than was granted", observation{server: here, mark: ours}, memory{sawReal: true, id: "else", granted: time.Hour}, r,
			stateQuarantine, true, "pending", "flushed"},
		{"M9 its seat is its own since its mark is real", observation{server: here, mark: ours}, saw, unborne, stateVoting, true, "", ""},
		{"M9 another server is in use", observation{server: here, mark: ours}, saw, other,
			stateRefused, false, "", "another redlockd reaches another server"},
		{"M9 another server may be in use", observation{server: here, mark: ours}, saw, unknown,
			stateRefused, false, "", "not known yet"},
		{"M9 another server was in use", observation{server: here, mark: ours}, saw, left,
			stateQuarantine, true, "pending", "another server voted in its place"},
		{"M9 its seat was taken from it", observation{server: here, mark: ours}, saw, none,
			stateQuarantine, true, "pending", "could not be recorded"},
		{"M9 the wait does not count while another server is in use",
			observation{server: here, mark: change(pending, func(m *mark) { m.watched = 9500 * time.Millisecond }), reading: 1500},
			saw, other, stateQuarantine, true, "pending", "another redlockd"},
		{"M9 nor while too few others bear its seat",
			observation{server: here, mark: change(pending, func(m *mark) { m.watched = 9500 * time.Millisecond }), reading: 1500},
			saw, unborne, stateQuarantine, true, "pending", "too few"},
		{"V6 as many redlockd as there are residues", observation{server: here, mark: change(ours, func(m *mark) {
			m.residues = nil
			for n := 1; n < residues; n++ {
				m.residues = append(m.residues, residue{n, fmt.Sprint("r", n), 7})
			}
		})}, saw, r, stateQuarantine, true, "", "too many redlockd"},
		{"V6 one of them has gone", observation{server: here, mark: change(ours, func(m *mark) {
			m.residues, m.beat = nil, claimBeats+8
			for n := 1; n < residues; n++ {
				m.residues = append(m.residues, residue{n, fmt.Sprint("r", n), int64(7 + n/5)})
			}
		})}, memory{id: "id", beat: 7}, r, stateVoting, true, "real", ""},
		{"M5 its clock is in doubt", observation{server: here, mark: change(ours, func(m *mark) { m.doubt = time.Minute })}, saw, r,
			stateQuarantine, true, "", "together with others"},
		{"M5 who can tell takes the doubt back", observation{server: here, mark: change(ours, func(m *mark) { m.doubt = time.Minute })},
			memory{id: "id", beat: 7, clears: true}, r, stateVoting, true, "real", ""},
		{"M4 a replica", observation{server: server{runID: "run", replica: true}, mark: ours}, saw, r,
			stateQuarantine, false, "", "replica"},
		{"M4 promoted again", observation{server: here, mark: ours}, memory{unfit: true}, r,
			stateQuarantine, true, "pending", "was a replica"},
		{"M4 may evict", observation{server: server{runID: "run", evicts: "allkeys-lru"}, mark: ours}, saw, r,
			stateQuarantine, true, "pending", "may evict locks (maxmemory-policy allkeys-lru)"},
		{"M4 the wait is not over", observation{server: here, mark: pending, reading: 1500}, saw, r,
			stateQuarantine, true, "pending", "flushed"},
		{"M4 the wait is over",
			observation{server: here, mark: change(pending, func(m *mark) { m.watched = 9500 * time.Millisecond }), reading: 1500},
			saw, r, stateVoting, true, "real", ""},
		{"M9 nobody remembers, and too few are in view",
			observation{server: here, mark: change(pending, func(m *mark) { m.watched = 9500 * time.Millisecond }), reading: 1500},
			saw, unseen, stateQuarantine, true, "pending", whyOutOfView},
		{"M9 nobody remembers, and so many are in view that nobody can",
			observation{server: here, mark: change(pending, func(m *mark) { m.watched = 9500 * time.Millisecond }), reading: 1500},
			saw, seen, stateVoting, true, "real", ""},
		{"M4 a stepped clock adds a second at most",
			observation{server: here, mark: pending, reading: 1000 + 3600*1000}, saw, r, stateQuarantine, true, "pending", "flushed"},
		{"M3 a database used for the first time", observation{server: here, zero: ours}, memory{}, three,
			stateVoting, true, "real", ""},
		{"M3 a listed database without its mark",
			observation{server: here, zero: change(ours, func(m *mark) { m.dbs = []int{3} })}, memory{}, three,
			stateFresh, true, "pending", ""},
		{"M3 a new database of a master in quarantine", observation{server: here, zero: pending}, memory{}, three,
			stateFresh, true, "pending", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.observation.mark != nil {
				c.observation.raw = c.observation.mark.String()
			}
			j := judge(c.observation, c.mem, c.rules)
			writes := ""
			if j.write != nil {
				writes = "pending"
				if j.write.real {
					writes = "real"
				}
			}
			if j.state != c.state || j.open != c.open || writes != c.writes || !strings.Contains(j.reason, c.reason) {
				t.Errorf("judged %q, open %v, writes %q, because %q; want %q, %v, %q, %q",
					j.state, j.open, writes, j.reason, c.state, c.open, c.writes, c.reason)
			}
		})
	}
}

// M4: a quarantine is watched by the master's clock, at most a second a look,
// and nothing when it went back.
func TestWatchCountsSeconds(t *testing.T) {
	m := &mark{seen: 1000}
	var watched time.Duration
	for _, step := range []struct{ reading, want int64 }{{1400, 400}, {1400, 400}, {90000, 1400}, {80000, 1400}, {80100, 1500}} {
		watched += m.gained(step.reading)
		m.seen = step.reading
		if watched.Milliseconds() != step.want {
			t.Fatalf("watched %v at %d, want %dms", watched, step.reading, step.want)
		}
	}
}

func TestMarkText(t *testing.T) {
	for _, m := range []mark{
		{real: true, id: "0a", name: "the first one", runID: "r", db: 3, generation: generation{7, closed, "h,i!", "h,j"}, greatest: 500 * time.Millisecond,
			beat: 9, watched: time.Second, seen: 17, why: whyUnfit, dbs: []int{1, 15},
			seats: seats{"0f": {2, "ab", 12}, "1e": {1, vacant, 0}}, settings: settings{time.Minute, time.Second, 2 * time.Second, time.Second}, doubt: time.Hour,
			residues: []residue{{1, "ab", 5}, {31, "cd", 4}}, told: time.Hour},
		{name: "-"}, {id: "x"},
	} {
		text := m.String()
		back, err := parseMark(text)
		if err != nil || back.String() != text || back.name != m.name || len(back.dbs) != len(m.dbs) || back.told != m.told {
			t.Errorf("%q came back as %+v, %v", text, back, err)
		}
	}
	for _, text := range []string{"", "hello", "1 real", strings.Repeat(" ", 13), "2 real a b c 0 1 h 0 0 0 0 - -"} {
		if _, err := parseMark(text); err == nil {
			t.Errorf("%q is taken for a mark", text)
		}
	}
}
