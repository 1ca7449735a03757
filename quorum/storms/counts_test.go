package storms

import (
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum"
	"github.com/redlockd/redlockd/quorum/fakeredis"
)

// The judge of counts: what a holder is told follows from what it was told before, and each turn of
// which it was told nothing is counted once or not at all.

// tally is how often a holder may have a lock: least to most, whatever becomes of the turns that
// are under way.
type tally struct {
	least, most int
	open        []*try
	used        bool
	// undone is how many turns, counted in most, are undone before a redlockd carries out
	// anything else in that life (P5).
	undone map[sighting]int
	// late is until when masters may still carry out a turn of which nothing was told, where
	// nobody has the lock: it is on its way to them, and undone when they answer (P5).
	late time.Duration
}

// turning is what an operation does to a tally: by one step. It finds low to high turns; so many takes
// and gives of others are under way at the same time, and may come behind it.
type turning struct {
	step, low, high, takes, gives int
}

// beginTurn begins an operation on a lock in a hash, as the judge of leases knows it: what may
// delete the lock is a release.
func (j *witness) beginTurn(n *node, lock quorum.Op, step int) *try {
	j.mu.Lock()
	known := j.tallyOf(lock)
	switch {
	case step > 0 && !known.used:
		lock.Kind = quorum.Acquire
	case step > 0:
		lock.Kind = quorum.AcquireOrExtend
	case step < 0 && known.least <= 1:
		lock.Kind = quorum.Release
	default:
		lock.Kind = quorum.Extend
	}
	j.mu.Unlock()
	t := j.begin(n, lock)
	j.mu.Lock()
	defer j.mu.Unlock()
	t.byRead = true
	t.lease.count.begin(t, step)
	return t
}

// tallyOf returns a holder's tally. Where nobody certainly has the lock it may be gone. The caller
// must hold mu.
func (j *witness) tallyOf(lock quorum.Op) *tally {
	l := j.leaseOf(fakeredis.KeyName{DB: lock.DB, Key: lock.Key}, lock.Token)
	if l.sure <= j.Now() {
		l.count.least = 0
	}
	return &l.count
}

// mayHave returns how often a holder has a lock at most.
func (j *witness) mayHave(lock quorum.Op) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.tallyOf(lock).most
}

func (n *tally) begin(t *try, step int) {
	t.turn = turning{step: step, low: n.least, high: n.most}
	for _, other := range n.open {
		t.turn.meets(other.turn.step)
		other.turn.meets(step)
	}
	n.used = true
	n.open = append(n.open, t)
	n.least, n.most = max(0, n.least+min(0, step)), n.most+max(0, step)
}

func (t *turning) meets(step int) {
	t.takes += max(0, step)
	t.gives += max(0, -step)
}

// ends notes that t is under way no more, lost that nobody was told of it, undone that it is undone
// there before anything else. A lost turn may have met what is to be undone elsewhere, which then
// stays (P5).
func (n *tally) ends(t *try, lost, undone bool, at sighting) {
	n.open = slices.DeleteFunc(n.open, func(other *try) bool { return other == t })
	switch {
	case undone && n.undone == nil:
		n.undone = map[sighting]int{at: 1}
	case undone:
		n.undone[at]++
	case lost:
		maps.DeleteFunc(n.undone, func(elsewhere sighting, _ int) bool { return elsewhere != at })
	}
}

// leaves reports whether a turn is under way that may leave others, and so prolong the lock.
func (n *tally) leaves() bool {
	return slices.ContainsFunc(n.open, func(t *try) bool { return t.turn.step < 0 && t.turn.high > 1 })
}

// undoneFor returns how many turns are certainly undone before what a redlockd carries out now: none
// while another turn is under way, which may have met what is to be undone, so that it stays (P5).
func (n *tally) undoneFor(at sighting) int {
	if len(n.open) > 0 {
		return 0
	}
	return n.undone[at]
}

// fits reports whether the holder may have been told that it has the lock so often, at a redlockd
// that has undone some turns.
func (t turning) fits(turns, undone int) bool {
	found := turns - t.step
	return found >= t.low && found <= t.high-undone
}

// is notes that the holder has the lock that often, after t: so a turn that gives back may be a
// release, though it was begun when there were more. The caller must hold mu.
func (n *tally) is(t *try, turns int) {
	n.least, n.most, n.undone = max(0, turns-t.turn.gives), turns+t.turn.takes, nil
	for _, other := range n.open {
		if other.turn.step < 0 && n.least == 0 {
			other.freed()
		}
	}
}

// isGone notes that the holder does not have the lock, after t and at the time now.
func (n *tally) isGone(t *try, now time.Duration) {
	n.is(t, 0)
	if now < n.late {
		n.most = max(n.most, 1)
	}
}

// judged ends an operation on a lock in a hash, before the judge of leases does.
func (h *hashing) judged(v *visit, a hearing) {
	if h == nil {
		return
	}
	v.judge.mu.Lock()
	defer v.judge.mu.Unlock()
	t := v.tries[0]
	n := &t.lease.count
	at, unheard := h.at(v.node, h.life), a.open() || v.caller.gone.Load()
	n.ends(t, unheard, unheard && h.undone, at)
	undone := n.undoneFor(at)
	t.mayProlong(a.open() && t.turn.high > 1 || a.won() && a.done == quorum.Extend)
	switch {
	case unheard && t.turn.step > 0:
		n.late = max(n.late, t.lasts())
	case unheard:
	case a.won() && a.done == quorum.Release:
		t.toldCount(0, undone)
		t.freed()
		n.isGone(t, t.Now())
	case a.won():
		turns := turnsIn(h.last.TokenAfter())
		t.toldCount(turns, undone)
		n.is(t, turns)
	case t.shape.required && h.last.Kind == quorum.Extend && t.requiredHad(h.lock.Token):
		// It finds nothing where the required master alone has what a read tells (V11).
		n.least = 0
	default:
		n.isGone(t, t.Now())
	}
}

// mayProlong makes a release an extend, if it may have been or was one. The caller must hold mu.
func (t *try) mayProlong(does bool) {
	if does && t.op.Kind == quorum.Release {
		t.op.Kind = quorum.Extend
		t.lease.open++
		t.to.open++
	}
}

// freed makes an extend a release, as it was or may be. The caller must hold mu.
func (t *try) freed() {
	if t.op.Kind == quorum.Extend {
		t.op.Kind = quorum.Release
		t.lease.open--
		t.to.open--
		t.disturb(t.lease)
	}
}

// toldCount checks the count that a holder is told. The caller must hold mu.
func (t *try) toldCount(turns, undone int) {
	anew := t.turn.step > 0 && turns == 1 && (t.hadSure <= t.Now()+t.fast(t.lease) || !t.undisturbed(t.lease))
	if !t.turn.fits(turns, undone) && !anew {
		if why := t.whyMiscounted(turns); why != "" {
			t.count("excuse: " + why)
		} else {
			t.fail("COUNT: %v, %s is told %d by redlockd %d, by a turn of %d on %d to %d, of which %d are undone", t.lock, t.lease.token, turns, t.node.number, t.turn.step, t.turn.low, t.turn.high, undone)
		}
	}
	t.count("counts told")
}

// whyMiscounted returns the cause of a count that does not follow from those told before, or "": a
// master was just made a replica of a server that lacks a turn, a majority came back with disks that
// lack it, or copies on a minority say that the last turn is given back (V8). These have missed that
// it was given back before, or other turns, and the lock ran out. The caller must hold mu.
func (t *try) whyMiscounted(turns int) string {
	copies, _ := t.copies(t.lease.token)
	last := turns == 0 && t.turn.step < 0
	switch {
	case t.lagging():
		return "a master has just become a replica of a server that lacks a turn"
	case t.wentBack() >= t.leastMajority():
		return "a majority of the masters came back with disks of before a turn"
	case last && t.turn.high == 0 && copies > 0 && (copies < t.largerMajority() || t.shape.required):
		return "the last turn is given back again, by copies that have missed that (V8)"
	case last && t.lease.sure > 0 && t.lease.sure <= t.Now() && t.onMinority():
		return "the lock ran out, and the last turn is given back by copies that have missed others (V8)"
	}
	return ""
}

// onMinority reports whether only a minority of the masters had copies that the answer may go by: for
// a timeout (V2).
func (t *try) onMinority() bool {
	copies, _ := t.copiesSince(t.lease.token, max(t.sent, t.Now()-t.node.config().Timeout))
	return copies > 0 && copies < t.leastMajority()
}

// wentBack returns how many masters' clocks or disks went back.
func (s *storm) wentBack() (n int) {
	s.Lock()
	defer s.Unlock()
	for _, f := range s.servers {
		if f.Strange {
			n++
		}
	}
	return n
}

// countIs checks the count that a holder has read.
func (j *witness) countIs(lock quorum.Op, turns int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch n := j.tallyOf(lock); {
	case turns >= n.least && turns <= n.most || j.lagging():
		j.count("counts read")
	case n.most == 0 && j.requiredHas(lock):
		j.count("excuse: a count is read by the required master's word, which has missed the release (V11)")
	default:
		j.fail("COUNT: %d %q, %s reads %d, and has it %d to %d times", lock.DB, lock.Key, lock.Token, turns, n.least, n.most)
	}
}

// requiredHas reports whether the required master, if there is one, has a holder's lock.
func (j *witness) requiredHas(lock quorum.Op) bool {
	t := &try{witness: j, lock: fakeredis.KeyName{DB: lock.DB, Key: lock.Key}, sent: j.Now()}
	return t.requiredHad(lock.Token)
}

// TestStormJudgeOfARequiredCount checks that a count may be read though the last turn was given back,
// while the required master has it.
func TestStormJudgeOfARequiredCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := calmStorm(t, 4, true)
		defer s.end()
		a, lock := s.present()[0], quorum.Op{Key: "h", Token: "A"}
		s.Lock()
		a.Put(0, "h", fakeredis.Entry{Value: counted("A", 1)})
		s.Unlock()
		s.judge.countIs(lock, 1)
	})
}

// TestStormJudgeOfAnAbsentExtend checks that an extend that found nothing says that its holder has
// the lock no more, but where there is a required master, whose copy reads tell (V11).
func TestStormJudgeOfAnAbsentExtend(t *testing.T) {
	for _, required := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := calmStorm(t, 4, required)
			defer s.end()
			a := s.present()[0]
			s.Lock()
			a.Put(0, "h", fakeredis.Entry{Value: counted("A", 2)})
			s.Unlock()
			lock := quorum.Op{Key: "h", Token: "A"}
			v := s.dropsIn(s.stream("judge")).visits(s.nodes[0])
			v.hash, v.tries = &hashing{storm: s, lock: lock, last: quorum.Op{Kind: quorum.Extend}}, []*try{s.judge.beginTurn(s.nodes[0], lock, 0)}
			v.tries[0].lease.count.most = 2
			v.hash.judged(v, hearing{known: true, verdict: quorum.Absent, done: quorum.Extend})
			if got := s.judge.mayHave(lock); (got > 0) != required {
				t.Errorf("required %v: it may have the lock %d times", required, got)
			}
			v.tries[0].lost(true)
		})
	}
}

// TestStormJudgeOfALastTurn checks that copies on a minority may say that the last of several turns is
// given back, once the lock ran out, and that nobody is taken for its holder then.
func TestStormJudgeOfALastTurn(t *testing.T) {
	for _, tt := range []struct {
		name    string
		on      int // so many masters
		sure    time.Duration
		turns   int
		excused bool
	}{
		{"by a minority, and it ran out", 1, time.Second, 0, true},
		{"by a majority", 2, time.Second, 0, false},
		{"by none", 0, time.Second, 0, false},
		{"and it lasts", 1, time.Minute, 0, false},
		{"others are left", 1, time.Second, 1, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := calmStorm(t, 3, false)
			defer s.end()
			lock := quorum.Op{Key: "h", Token: "A", TTL: time.Minute}
			l := s.judge.leaseOf(fakeredis.KeyName{Key: "h"}, "A")
			l.sure, l.count = s.Now()+tt.sure, tally{least: 3, most: 5, used: true}
			op := s.judge.beginTurn(s.nodes[0], lock, -1)
			time.Sleep(2 * time.Second)
			servers := s.present()
			s.Lock()
			for _, f := range servers[:tt.on] {
				f.Put(0, "h", fakeredis.Entry{Value: counted("A", 1)})
			}
			s.Unlock()
			if got := op.whyMiscounted(tt.turns); (got != "") != tt.excused {
				t.Errorf("%s: %q", tt.name, got)
			}
			if !tt.excused {
				op.lost(true)
				return
			}
			v := s.dropsIn(s.stream("judge")).visits(s.nodes[0])
			v.hash, v.tries = &hashing{storm: s, lock: lock}, []*try{op}
			v.hash.judged(v, hearing{known: true, verdict: quorum.Won, done: quorum.Release})
			if op.won(); op.lease.has(s.Now()) || op.lease.open > 0 {
				t.Errorf("%s: after that A has it until %v", tt.name, op.lease.until)
			}
		})
	}
}

// TestStormJudgeOfCounts checks which count may be told last: each turn that nobody was told of
// counts once or not at all, and not at all where it was undone.
func TestStormJudgeOfCounts(t *testing.T) {
	here, there := sighting{life: 1}, sighting{life: 2}
	type turn struct {
		step, told   int
		lost, undone bool
		at           sighting
	}
	takes, gives := func(told int) turn { return turn{step: +1, told: told, at: here} }, func(told int) turn { return turn{step: -1, told: told, at: here} }
	lostTake, lostGive, undone := turn{step: +1, lost: true}, turn{step: -1, lost: true}, turn{step: +1, lost: true, undone: true, at: here}
	for _, tt := range []struct {
		name  string
		turns []turn
		fits  bool
	}{
		{"up and down", []turn{takes(1), takes(2), gives(1), gives(0)}, true},
		{"not counted", []turn{takes(1), takes(1)}, false},
		{"counted twice", []turn{takes(1), takes(3)}, false},
		{"not given back", []turn{takes(1), takes(2), gives(2)}, false},
		{"given back twice", []turn{takes(1), takes(2), gives(0)}, false},
		{"a lost one is counted", []turn{takes(1), lostTake, takes(3)}, true},
		{"a lost one is not counted", []turn{takes(1), lostTake, takes(2)}, true},
		{"a lost one is counted twice", []turn{takes(1), lostTake, takes(4)}, false},
		{"a lost one is known to be counted", []turn{takes(1), lostTake, takes(3), takes(3)}, false},
		{"a lost one is given back", []turn{takes(1), takes(2), lostGive, takes(2)}, true},
		{"a lost one is not given back", []turn{takes(1), takes(2), lostGive, gives(1)}, true},
		{"an undone one is counted", []turn{undone, takes(2)}, false},
		{"an undone one was counted up by a lost one", []turn{undone, {step: +1, lost: true, at: there}, gives(1)}, true},
		{"an undone one was prolonged by a lost one", []turn{undone, {lost: true, at: there}, gives(0)}, true},
		{"a lost one at the same place does not count it", []turn{undone, {step: +1, lost: true, at: here}, gives(1)}, false},
		{"an undone one is counted elsewhere", []turn{undone, {step: +1, told: 2, at: there}}, true},
	} {
		var n tally
		last := false
		for _, c := range tt.turns {
			op := &try{}
			n.begin(op, c.step)
			n.ends(op, c.lost, c.undone, c.at)
			if last = op.turn.fits(c.told, n.undone[c.at]); !c.lost {
				n.is(op, c.told)
			}
		}
		if last != tt.fits {
			t.Errorf("%s: fits %v, want %v", tt.name, last, tt.fits)
		}
	}
	for most, want := range map[int]bool{1: false, 2: true} {
		n := tally{least: 1, most: most}
		if n.begin(&try{}, -1); n.leaves() != want {
			t.Errorf("one of at most %d turns is given back: may leave others %v", most, !want)
		}
	}
	for told, want := range map[int]quorum.Kind{1: quorum.Release, 2: quorum.Extend} {
		n, l := tally{least: 2, most: 2}, &lease{open: 1}
		take, give := &try{}, &try{op: quorum.Op{Kind: quorum.Extend}, lease: l, to: l}
		n.begin(take, +1)
		n.begin(give, -1)
		if n.is(take, told); n.least != told-1 || give.op.Kind != want {
			t.Errorf("%d are told while one is given back: at least %d stay, by a %v", told, n.least, give.op.Kind)
		}
	}
	undoing, other := &tally{undone: map[sighting]int{here: 1}}, &try{}
	if undoing.begin(other, +1); undoing.undoneFor(here) != 0 {
		t.Error("a turn that is under way cannot meet what is to be undone")
	}
	if undoing.ends(other, false, false, here); undoing.undoneFor(here) != 1 {
		t.Error("nothing is undone")
	}
	for now, want := range map[time.Duration]bool{time.Second: true, time.Minute: false} {
		n, op := tally{late: 2 * time.Second}, &try{}
		n.begin(op, +1)
		n.ends(op, true, false, here)
		n.isGone(op, now)
		if n.begin(op, -1); op.turn.fits(0, 0) != want {
			t.Errorf("a late turn is given back after %v: fits %v, want %v", now, !want, want)
		}
	}
}
