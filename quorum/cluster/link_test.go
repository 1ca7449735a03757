package cluster

import (
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/vote"
)

// watched returns a database on three masters, with a clock that the test drives. No
// monitor runs: the links know the marks that the test gives them.
func watched(t *testing.T, now *time.Duration) *Database {
	cfg := DefaultConfig()
	cfg.Masters = []Master{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	reads := func() time.Duration { return *now }
	all := &Cluster{cfg: cfg, now: reads, log: hclog.NewNullLogger(), events: newEvents(), masters: cfg.Masters, ctx: t.Context(),
		agreed: mark.NewAgreement(cfg.Settings(), reads)}
	all.change.init(all, cfg.Masters)
	d := newDatabase(all, 0)
	all.databases[0].Store(d)
	for _, l := range d.List().Links {
		l.open = true
		seat, _ := d.agreed.Of(l.hash)
		d.agreed.Take(l.hash, seat, "mark of "+l.Name, 0)
		l.learns(&mark.Mark{Real: true, ID: "mark of " + l.Name, Name: l.Name, Floor: FloorHold, Generation: mark.FirstGeneration(d.List().name)})
	}
	return d
}

// learns makes the link see a mark now.
func (l *Link) learns(m *mark.Mark) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.view.Standing.Server = m.ID
	l.learn(m, m.String(), l.now())
}

// sees makes all links see their mark with a change.
func (d *Database) sees(change func(*mark.Mark)) {
	for _, l := range d.List().Links {
		l.learns(l.view.Under.With(change))
	}
}

// M3: all marks record a hold at one time only if each was seen again after the last of
// them was seen to record it. What a single mark says about all marks does not count.
func TestM3AllAtOneTime(t *testing.T) {
	now := time.Second
	d := watched(t, &now)
	now += time.Second
	d.sees(func(m *mark.Mark) { m.Greatest = 100 * time.Second })
	if got := d.holdOnAllMarks(); got != 0 {
		t.Errorf("all bore %v, though none was seen again", got)
	}
	now += time.Second
	d.sees(func(*mark.Mark) {})
	if got := d.holdOnAllMarks(); got != 100*time.Second {
		t.Errorf("all bore %v", got)
	}
	l := d.List().Links[0]
	before := l.view.Under
	l.learns(before.With(func(m *mark.Mark) { m.GrantLimit = time.Hour }))
	if told, _, sure := d.grantLimit(l); told != 100*time.Second || !sure {
		t.Errorf("told of %v, sure %v", told, sure)
	}
	own, _ := d.agreed.Of(l.hash)
	d.agreed.Take(l.hash, own, "another", 0)
	l.learns(before.With(func(m *mark.Mark) { m.ID = "another" }))
	if got := d.holdOnAllMarks(); got != 0 {
		t.Errorf("all bore %v, though one may have borne it after the others lost it", got)
	}
}

// M3: a mark that records less than raised resets raised: the next acquire looks at the
// marks again.
func TestM3GreatestHoldIsLost(t *testing.T) {
	now := time.Second
	d := watched(t, &now)
	d.sees(func(m *mark.Mark) { m.Greatest = 10 * time.Second })
	if !d.Raise(10*time.Second) || d.raised.Load() != int64(10*time.Second) {
		t.Error("the marks were not seen to bear the hold")
	}
	l := d.List().Links[0]
	l.learns(l.view.Under.With(func(m *mark.Mark) { m.Greatest = 0 }))
	if d.raised.Load() != 0 {
		t.Error("a mark bears nothing, and that is not seen")
	}
}

// M3: marks that still record a hold, but do not let it be granted any more, as those of a
// majority that restarted empty, are told it again before the next acquire, in all
// databases.
func TestM3GrantLimitIsLost(t *testing.T) {
	now := time.Second
	zero := watched(t, &now)
	one := newDatabase(zero.change.all, 1)
	for _, l := range one.List().Links {
		l.open = true
		l.learns(l.zero.view.Under)
	}
	hold := 10 * time.Second
	zero.sees(func(m *mark.Mark) { m.Greatest, m.Floor, m.GrantLimit = hold, time.Second, hold })
	for _, d := range []*Database{zero, one} {
		if above, _ := d.AboveGrantLimit(hold); above || !d.Raise(hold) {
			t.Fatal("the marks were not seen to let the hold be granted")
		}
	}
	for _, l := range zero.List().Links[:2] {
		l.learns(l.view.Under.With(func(m *mark.Mark) { m.GrantLimit = m.Floor }))
	}
	for _, d := range []*Database{one, zero} {
		if above, _ := d.AboveGrantLimit(hold); !above {
			t.Error("two marks of three do not let the hold be granted any more, and that is not seen")
		}
	}
}

// M8: a master that joins the list has no record of what was granted under the previous
// list.
func TestM8WhoJoinsRemembersNothing(t *testing.T) {
	now := time.Second
	d := watched(t, &now)
	before := ListName([]Master{{Name: "a"}, {Name: "b"}, {Name: "x"}})
	d.sees(func(m *mark.Mark) {
		m.Generation = mark.Generation{Number: 2, Phase: mark.Announced, Masters: d.List().name, Before: before}
	})
	for _, l := range d.List().Links {
		if got, want := l.remembers(0), l.Name != "c"; got != want {
			t.Errorf("%s remembers: %v, want %v", l.Name, got, want)
		}
	}
}

// M5: what waited while redlockd saw the clocks of a majority jump creates nothing after
// that: it would be counted by the new baseline, and the locks of before may be gone.
func TestM5WaitedUntilTheSilence(t *testing.T) {
	for _, tt := range []struct {
		silence      time.Duration
		sent, unsent int
	}{{0, 2, 0}, {time.Minute, 1, 1}} {
		now := time.Second
		d := watched(t, &now)
		l := d.List().Links[0]
		l.clock = clock.NewWatch(l.now, 0, l.exact, true) // watched for long enough
		l.outbox.Put(&outbox.Task{Kind: vote.Acquire, Effects: []outbox.Effect{{Key: "k"}}})
		l.outbox.Put(&outbox.Task{Kind: vote.Release, Effects: []outbox.Effect{{Key: "k"}}})
		d.silentUntil.Store(int64(now + tt.silence))
		b := &outbox.Batch{}
		(&sender{Link: l}).take(b)
		if len(b.Tasks) != tt.sent || len(b.Unsent) != tt.unsent {
			t.Errorf("silent for %v: %d go out and %d do not, want %d and %d", tt.silence, len(b.Tasks), len(b.Unsent), tt.sent, tt.unsent)
		}
	}
}

// M2: a batch waits for others as long as more tasks come, but neither for many rounds
// nor for a long time.
func TestM2GatheringIsBounded(t *testing.T) {
	for _, tt := range []struct {
		name       string
		each       time.Duration // how long a round takes
		more, want int           // tasks that may come, one in each round
	}{
		{"nobody comes", 0, 0, 1},
		{"three come", 0, 3, 4},
		{"one in every round", 0, 1000, 1 + maxYields},
		{"long rounds", maxGather, 1000, 3},
	} {
		cfg := DefaultConfig()
		reads, l := 0, (*Link)(nil)
		// The clock is read once in each round, with the mutex held.
		now := func() time.Duration {
			if reads++; reads <= tt.more {
				l.outbox.Put(&outbox.Task{})
			}
			return time.Duration(reads) * tt.each
		}
		l = newLink(t.Context(), &cfg, Master{}, &Database{cfg: &cfg, now: now, stalls: &clock.StallDetector{}}, now, hclog.NewNullLogger(), newEvents())
		l.conn, l.open = &connection{}, true
		l.outbox.Put(&outbox.Task{})
		l.mu.Lock()
		(&sender{Link: l, c: l.conn}).gather()
		l.mu.Unlock()
		if n, _ := l.outbox.Queued(); n != tt.want {
			t.Errorf("%s: %d tasks in the batch, want %d", tt.name, n, tt.want)
		}
	}
}

// M4: a mark that was looked at before the loss may be older than the lock that was lost.
// Until the other masters have been looked at after the loss, the wait is that of the
// longest lock.
func TestM4LooksBeforeTheLossTellNothing(t *testing.T) {
	now := time.Second
	d := watched(t, &now)
	d.sees(func(m *mark.Mark) { m.Greatest = 10 * time.Second })
	now += time.Second
	lost, back := now, d.List().Links[0]
	now += time.Second
	if g := d.holdSince(back, lost); g.remembered || g.wait < d.cfg.MaxTTL {
		t.Errorf("before anybody was looked at: %+v", g)
	}
	d.sees(func(*mark.Mark) {})
	if g := d.holdSince(back, lost); !g.remembered || g.greatest != 10*time.Second || g.wait > 11*time.Second {
		t.Errorf("after all were looked at: %+v", g)
	}
}

// TestV3LeastInTheSettings checks that a mark is raised to a greater least padding only while enough
// marks in view have recorded the padding for long: what a mark has said of it before is not written
// to others, since all may have been lost since (V3, why 19).
func TestV3LeastInTheSettings(t *testing.T) {
	now := time.Second
	d := watched(t, &now)
	mon := &monitor{Link: d.List().Links[0]}
	padding := d.cfg.Settings().Padding()
	sees := func(looks int, change func(*mark.Mark)) {
		for range looks {
			now += time.Second
			d.sees(change)
		}
	}
	for _, step := range []struct {
		name string
		then func()
		want time.Duration
	}{
		{"the marks have just recorded it", func() { sees(1, func(m *mark.Mark) { m.Timeout, m.Least = padding/2, padding }) }, 0},
		{"they have recorded it for long", func() { sees(20, func(*mark.Mark) {}) }, padding},
		{"they are out of view", func() { now += 3 * time.Second }, 0},
		{"they are lost", func() { sees(1, func(m *mark.Mark) { m.ID, m.Timeout, m.Least = "new", 0, 0 }) }, 0},
	} {
		step.then()
		if got := mon.settings().Least; got != step.want {
			t.Errorf("%s: %v, want %v", step.name, got, step.want)
		}
	}
}

// M4: a beat that was seen in another database is one that the master must not go back behind.
func TestM4BeatSeenInAnotherDatabase(t *testing.T) {
	now := time.Second
	zero := watched(t, &now)
	one := newDatabase(zero.change.all, 1)
	first, l := zero.List().Links[0], one.List().Links[0]
	before := first.view.Under.With(func(m *mark.Mark) { m.DBs = []int{1} })
	first.learns(before)
	l.learns(before.With(func(m *mark.Mark) { m.Beat++ }))
	first.conn = &connection{}
	l.conn = first.conn
	s := mark.Observation{Mark: before, Raw: before.String(), Seal: before.Seal(1), Sent: now}
	if err := (&monitor{Link: l}).follow(l.conn, s); err != nil || l.open {
		t.Errorf("a master with a memory of before is asked again in database 1: %v, %v", l.open, err)
	}
	if !first.view.Memory.NewerThan(before) {
		t.Error("database 0 does not know of the beat")
	}
	s.Mark = before.With(func(m *mark.Mark) { m.Beat++ })
	first.learns(s.Mark)
	if err := (&monitor{Link: l}).follow(l.conn, s); err != nil || !l.open {
		t.Errorf("a master with the memory of now is not asked: %v, %v", l.open, err)
	}
	if now += clock.LookAge + 1; l.byMark(func(*Link) bool { return true }) {
		t.Error("database 1 goes by what database 0 has not looked at for long (M3)")
	}
}

// M4, M9: no database counts a master whose server has no seat, or has a mark of before.
func TestM9OtherDatabasesGoByTheSeat(t *testing.T) {
	now := time.Second
	zero := watched(t, &now)
	one := newDatabase(zero.change.all, 1)
	first, l := zero.List().Links[0], one.List().Links[0]
	l.learns(first.view.Under)
	l.clock.WarmingUp(now, time.Second)
	l.clock.Judged(true, false)
	own, _ := zero.agreed.Of(first.hash)
	if !l.votes() || !first.votes() {
		t.Fatal("a master that has lost nothing does not vote")
	}
	zero.agreed.SawBeat(first.hash, own.Server, first.view.Under.Beat+3)
	if l.votes() || first.votes() {
		t.Error("a master with a memory of three beats before votes")
	}
	first.learns(first.view.Under.With(func(m *mark.Mark) { m.Beat += 3 }))
	l.learns(first.view.Under)
	if !l.votes() || !first.votes() {
		t.Fatal("a master that has every beat does not vote")
	}
	own, _ = zero.agreed.Of(first.hash)
	zero.agreed.Take(first.hash, own, "another server", 0)
	if l.votes() || first.votes() {
		t.Error("a master votes whose seat another server has")
	}
}
