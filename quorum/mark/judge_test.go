package mark

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

// M3, M4, M6: what follows from an observation of a master.
func TestJudge(t *testing.T) {
	r := Rules{Name: "a", List: "hash", Known: FirstGeneration("hash"), Wait: 10 * time.Second, Greatest: 5 * time.Second,
		Own: Seat{Epoch: 1, Server: "id"}, SeatRecorded: true, Remembered: true}
	here := server{RunID: "run"}
	durable := server{RunID: "run2", Durable: true}
	ours := &Mark{Real: true, ID: "id", Name: "a", RunID: "run", Generation: FirstGeneration("hash"), Beat: 7, Seats: Seats{}}
	pending := &Mark{ID: "id", Name: "a", RunID: "run", Generation: FirstGeneration("hash"), Seen: 1000, Why: WhyForgotten}
	saw := Memory{ID: "id", beat: 7}
	change := func(m *Mark, f func(*Mark)) *Mark { return m.With(f) }
	exempt, wait, unborne, other, left, none := r, r, r, r, r, r
	exempt.Exempt, wait.Exempt = IsExempt, ExemptAsked
	unborne.SeatRecorded = false
	firstSeen := r
	firstSeen.FirstSeen = true
	unseen, seen := r, r
	unseen.Remembered, seen.Remembered, seen.InView = false, false, true
	other.Own, other.SeatRecorded, other.SeatInUse = Seat{Epoch: 2, Server: "else"}, true, true
	unknown := other
	unknown.SeatInUse = false
	left = other
	left.Quiet = true
	none.Own = Seat{Epoch: 2, Server: Vacant}
	beat := func(beat int64) Seats { return Seats{"b": {Epoch: 1, Server: "id of b", Beat: beat}} }
	one, two := r, r
	one.Seats, two.Seats = beat(4), beat(5)
	three := change(ours, func(m *Mark) { m.Seats = beat(3) })

	for _, c := range []struct {
		name        string
		observation Observation
		mem         Memory
		rules       Rules
		state       State
		open        bool
		// writes is "real" or "pending" if such a mark is written, else empty.
		writes string
		reason string
	}{
		{"M6 no mark, never seen", Observation{Server: here}, Memory{}, r, Fresh, true, "pending", "new"},
		{"M4 no mark, but there was one", Observation{Server: here}, saw, r, Quarantine, true, "pending", "flushed"},
		{"our mark", Observation{Server: here, Mark: ours}, saw, r, Voting, true, "", ""},
		{"M4 the beat", Observation{Server: here, Mark: ours}, Memory{BeatDue: true}, r, Voting, true, "real", ""},
		{"M4 a beat of b that is one ahead", Observation{Server: here, Raw: three.String(), Mark: three}, saw, one, Voting, true, "", ""},
		{"M4 a beat of b that is two ahead", Observation{Server: here, Raw: three.String(), Mark: three}, saw, two, Voting, true, "real", ""},
		{"M3 a greater hold", Observation{Server: here, Mark: ours}, Memory{Wanted: time.Hour}, r, Voting, true, "real", ""},
		{"M3 another master's mark", Observation{Server: here, Mark: change(ours, func(m *Mark) { m.Name = "b" })}, saw, r,
			Refused, false, "", `master "b"`},
		{"M3 a copy of another master's keys",
			Observation{Server: here, Mark: change(ours, func(m *Mark) { m.Name, m.RunID = "b", "else" })}, saw, r,
			Quarantine, true, "pending", "restarted"},
		{"M3 another list of masters", Observation{Server: here, Mark: change(ours, func(m *Mark) { m.Masters = "x" })}, saw, r,
			Refused, false, "", "another list"},
		{"no mark at all", Observation{Server: here, Foreign: true, Raw: "hello"}, saw, r, Refused, false, "", "not a mark"},
		{"M7 a Redis that knows no PXAT", Observation{Server: server{RunID: "run", Version: "6.0.16"}, Mark: ours}, saw, r,
			Refused, false, "", "is Redis 6.0.16, 6.2 or newer is needed"},
		{"M7 the oldest Redis that is served", Observation{Server: server{RunID: "run", Version: "6.2.0"}, Mark: ours}, saw, r,
			Voting, true, "", ""},
		{"M4 restarted with some memory", Observation{Server: server{RunID: "run2"}, Mark: ours}, saw, r,
			Quarantine, true, "pending", "restarted"},
		{"M4 restarted, durable, and nobody knows of a later beat", Observation{Server: durable, Mark: ours}, saw, exempt,
			Voting, true, "real", ""},
		{"M5 restarted, durable, and its clock stepped", Observation{Server: durable, Mark: ours}, Memory{ID: "id", beat: 7, Stepped: true}, exempt,
			Quarantine, true, "pending", "restarted"},
		{"M4 restarted, durable, and others are asked", Observation{Server: durable, Mark: ours}, saw, wait,
			Quarantine, false, "", "checking it against the other masters"},
		{"M4 restarted, durable, but with an older beat", Observation{Server: durable, Mark: ours}, saw, r,
			Quarantine, true, "pending", "restarted"},
		{"M4 says that it is durable, and was not", Observation{Server: server{RunID: "run2"}, Mark: ours}, saw, exempt,
			Quarantine, true, "pending", "restarted"},
		{"M4 its beat went back", Observation{Server: here, Mark: change(ours, func(m *Mark) { m.Beat = 6 })}, saw, r,
			Quarantine, true, "pending", "flushed"},
		{"M4 another mark, of less than was granted", Observation{Server: here, Mark: ours}, Memory{ID: "else", Granted: time.Hour}, r,
			Quarantine, true, "pending", "flushed"},
		{"M9 its seat is its own since its mark is real", Observation{Server: here, Mark: ours}, saw, unborne, Voting, true, "", ""},
		{"M9 another server is in use", Observation{Server: here, Mark: ours}, saw, other,
			Refused, false, "", "another redlockd reaches another server"},
		{"M9 another server may be in use", Observation{Server: here, Mark: ours}, saw, unknown,
			Refused, false, "", "not known yet"},
		{"M9 another server was in use", Observation{Server: here, Mark: ours}, saw, left,
			Quarantine, true, "pending", "another server voted in its place"},
		{"M9 its seat was taken from it", Observation{Server: here, Mark: ours}, saw, none,
			Quarantine, true, "pending", "could not be recorded"},
		{"M9 the wait does not count while another server is in use",
			Observation{Server: here, Mark: change(pending, func(m *Mark) { m.Watched = 9500 * time.Millisecond }), Reading: 1500},
			saw, other, Quarantine, true, "pending", "another redlockd"},
		{"M9 nor while too few others bear its seat",
			Observation{Server: here, Mark: change(pending, func(m *Mark) { m.Watched = 9500 * time.Millisecond }), Reading: 1500},
			saw, unborne, Quarantine, true, "pending", "too few"},
		{"M5 its clock is in doubt", Observation{Server: here, Mark: change(ours, func(m *Mark) { m.Doubt = time.Minute })}, saw, r,
			Quarantine, true, "", "together with others"},
		{"M5 who can tell takes the doubt back", Observation{Server: here, Mark: change(ours, func(m *Mark) { m.Doubt = time.Minute })},
			Memory{ID: "id", beat: 7, clears: true}, r, Voting, true, "real", ""},
		{"M4 a replica", Observation{Server: server{RunID: "run", Replica: true}, Mark: ours}, saw, r,
			Quarantine, false, "", "replica"},
		{"M4 promoted again", Observation{Server: here, Mark: ours}, Memory{Unfit: true}, r,
			Quarantine, true, "pending", "was a replica"},
		{"M4 may evict", Observation{Server: server{RunID: "run", evicts: "allkeys-lru"}, Mark: ours}, saw, r,
			Quarantine, true, "pending", "may evict locks (maxmemory-policy allkeys-lru)"},
		{"M4 the wait is not over", Observation{Server: here, Mark: pending, Reading: 1500}, saw, r,
			Quarantine, true, "pending", "flushed"},
		{"M4 the wait is over",
			Observation{Server: here, Mark: change(pending, func(m *Mark) { m.Watched = 9500 * time.Millisecond }), Reading: 1500},
			saw, r, Voting, true, "real", ""},
		{"M4 but it does not end at the first look that shows it",
			Observation{Server: here, Mark: change(pending, func(m *Mark) { m.Watched = 9500 * time.Millisecond }), Reading: 1500},
			saw, firstSeen, Quarantine, true, "pending", ""},
		{"M9 nobody remembers, and too few are in view",
			Observation{Server: here, Mark: change(pending, func(m *Mark) { m.Watched = 9500 * time.Millisecond }), Reading: 1500},
			saw, unseen, Quarantine, true, "pending", whyOutOfView},
		{"M9 nobody remembers, and so many are in view that nobody can",
			Observation{Server: here, Mark: change(pending, func(m *Mark) { m.Watched = 9500 * time.Millisecond }), Reading: 1500},
			saw, seen, Voting, true, "real", ""},
		{"M4 a stepped clock adds a second at most",
			Observation{Server: here, Mark: pending, Reading: 1000 + 3600*1000}, saw, r, Quarantine, true, "pending", "flushed"},
		{"M3 a database has lost its seal", Observation{Server: here, Mark: ours}, Memory{Lost: "id"}, r,
			Quarantine, true, "pending", "flushed"},
		{"M3 and in a quarantine, which begins anew", Observation{Server: here, Mark: change(pending, func(m *Mark) { m.Watched = time.Hour })},
			Memory{Lost: "id"}, r, Quarantine, true, "pending", "flushed"},
		{"M3 a database had lost the seal of an earlier mark", Observation{Server: here, Mark: ours}, Memory{Lost: "before"}, r,
			Voting, true, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.observation.Mark != nil {
				c.observation.Raw = c.observation.Mark.String()
			}
			j := Judge(c.observation, c.mem, c.rules)
			writes := ""
			if j.Write != nil {
				writes = "pending"
				if j.Write.Real {
					writes = "real"
				}
			}
			if j.State != c.state || j.Open != c.open || writes != c.writes || !strings.Contains(j.Reason, c.reason) {
				t.Errorf("judged %q, open %v, writes %q, because %q; want %q, %v, %q, %q",
					j.State, j.Open, writes, j.Reason, c.state, c.open, c.writes, c.reason)
			}
		})
	}
}

// M4: a quarantine is counted by the master's clock, at most a second a look, and nothing
// when the clock went back.
func TestWatchCountsSeconds(t *testing.T) {
	m := &Mark{Seen: 1000}
	var watched time.Duration
	for _, step := range []struct{ reading, want int64 }{{1400, 400}, {1400, 400}, {90000, 1400}, {80000, 1400}, {80100, 1500}} {
		watched += m.gained(step.reading)
		m.Seen = step.reading
		if watched.Milliseconds() != step.want {
			t.Fatalf("watched %v at %d, want %dms", watched, step.reading, step.want)
		}
	}
}

// TestMarkText checks the text of a mark, which other versions of redlockd read.
func TestMarkText(t *testing.T) {
	m := Mark{Real: true, ID: "0a", Name: "the <first> one", RunID: "r", Generation: Generation{7, Closed, "h,i!", "h,j"}, Greatest: 500 * time.Millisecond,
		Beat: 9, Watched: time.Second, Seen: 17, Why: whyUnfit, DBs: []int{1, 15},
		Seats: Seats{"0f": {2, "ab", 12}, "1e": {1, Vacant, 0}}, Settings: Settings{time.Minute, time.Second, 2 * time.Second}, Doubt: time.Hour,
		GrantLimit: time.Hour, Floor: time.Minute}
	text := `{"v":4,"real":true,"id":"0a","name":"the \u003cfirst\u003e one","run":"r","n":7,"phase":2,"list":"h,i!","before":"h,j",` +
		`"hold":500000000,"beat":9,"watched":1000000000,"seen":17,"why":"was a replica or could evict keys","dbs":[1,15],` +
		`"seats":{"0f":{"e":2,"s":"ab","b":12},"1e":{"e":1,"s":"-"}},` +
		`"max":60000000000,"timeout":1000000000,"least":2000000000,"doubt":3600000000000,"limit":3600000000000,"floor":60000000000}`
	if got := m.String(); got != text {
		t.Errorf("a mark is stored as %s, want %s", got, text)
	}
	doc, err := os.ReadFile("../../docs/design.md")
	_, table, _ := strings.Cut(string(doc), "\n## What a mark holds\n")
	table, _, _ = strings.Cut(table, "\n## ")
	for field := range fieldsOf(t, text) {
		if !regexp.MustCompile("(?m)^\\|[^|]*`" + field + "`[^|]*\\|").MatchString(table) {
			t.Errorf("docs/design.md does not tell of the field %q, %v", field, err)
		}
	}
	if back, err := Parse(text); err != nil || !reflect.DeepEqual(*back, m) {
		t.Errorf("it came back as %+v, %v", back, err)
	}
	for _, text := range []string{"", "hello", "{}", "null", text + "}", m.Seal(3), "4 real a b c", strings.Replace(text, "4", "3", 1)} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%q is taken for a mark", text)
		}
	}
}

// M8: a master that joins reports nothing of greater holds. It may miss what is recorded
// under the previous list meanwhile.
func TestM8JoiningMasterHasNoGrantLimit(t *testing.T) {
	joins := Generation{Number: 2, Phase: Announced, Masters: NameHash("a") + "," + NameHash("b"), Before: NameHash("b") + "," + NameHash("c")}
	r := Rules{Name: "a", List: joins.Masters, Known: joins,
		Own: Seat{Epoch: 1, Server: "id"}, SeatRecorded: true, Remembered: true, Floor: time.Minute, MayTakeOver: true}
	pending := &Mark{ID: "id", Name: "a", RunID: "run", Generation: joins, Seen: 1000, Why: whyNew}
	for phase, want := range map[Phase]time.Duration{Announced: 0, Closed: 0, Final: time.Minute} {
		mk := pending.With(func(m *Mark) { m.Phase = phase })
		j := Judge(Observation{Server: server{RunID: "run"}, Mark: mk, Raw: mk.String(), Reading: 2000}, Memory{ID: "id"}, r)
		if j.Write == nil || !j.Write.Real || j.Write.GrantLimit != want {
			t.Errorf("%v: writes %+v, want a real mark with the grant limit %v", phase, j.Write, want)
		}
	}
}

func fieldsOf(t *testing.T, text string) (fields map[string]any) {
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}
