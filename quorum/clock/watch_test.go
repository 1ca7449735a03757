package clock

import (
	"testing"
	"time"
)

// watching is a Watch of a clock that is ahead of ours by offset; the test makes its
// looks.
type watching struct {
	*Watch
	t      *testing.T
	at     time.Duration
	offset time.Duration
}

func newWatching(t *testing.T) *watching {
	s := &watching{t: t, at: time.Hour}
	s.Watch = NewWatch(func() time.Duration { return s.at }, 0.01, func() time.Duration { return 50 * time.Millisecond }, false)
	return s
}

// look takes a second; its round trip takes a millisecond.
func (s *watching) look() (fits, news bool) {
	s.at += time.Second
	sent := s.at - time.Millisecond
	return s.Saw((s.at + s.offset).Microseconds(), sent, s.at, time.Minute)
}

// warmUp looks until others must have recorded a step.
func (s *watching) warmUp() {
	s.t.Helper()
	for range 3 {
		s.look()
		s.Judged(s.WarmingUp(s.at, time.Second) == 0, false)
	}
	if !s.Warm() {
		s.t.Fatal("others never had to have told")
	}
}

// M5: a step voids the look that shows it and wakes the monitor once. When the mark
// records it, a new baseline begins, and looks sent earlier fit none.
func TestM5StepOfAWatchedClock(t *testing.T) {
	s := newWatching(t)
	s.warmUp()
	s.offset = 400 * time.Millisecond
	if fits, news := s.look(); fits || !news {
		t.Fatalf("fits %v, is news %v", fits, news)
	}
	if at, by := s.Stepped(); at != s.at || by.least > 400 || by.most < 400 {
		t.Errorf("stepped at %v by %+v, want %v by 400 ms", at, by, s.at)
	}
	if fits, news := s.look(); fits || news {
		t.Errorf("while it is looked into: fits %v, is news %v", fits, news)
	}
	s.Judged(true, true)
	for _, before := range []time.Duration{time.Millisecond, 0} { // at that very moment, too
		if fits, _ := s.Saw((s.at + s.offset).Microseconds(), s.at-before, s.at, time.Minute); fits {
			t.Errorf("what went out %v before the new baseline counts", before)
		}
	}
	if _, _, ok := s.Shows(s.at); ok {
		t.Error("looks of before the step tell the clock")
	}
	if fits, _ := s.look(); !fits {
		t.Error("the new baseline does not fit to itself")
	}
}

// M5: without a baseline the clock is watched until others must have recorded a step.
func TestM5WatchWithoutABaseline(t *testing.T) {
	s := newWatching(t)
	s.look()
	if left := s.WarmingUp(s.at, time.Second); left != time.Second || s.Warm() {
		t.Errorf("others may tell for %v, want a second", left)
	}
	s.warmUp()
	s.at += time.Minute // a hundredth of that is more than half a timeout
	if _, news := s.look(); !news || s.Warm() {
		t.Errorf("after a minute: is news %v, trusted %v", news, s.Warm())
	}
}

// M5: clocks that jump together begin new baselines together, but not one that jumped by
// another time.
func TestM5WatchBeginsAgain(t *testing.T) {
	s, other := newWatching(t), newWatching(t)
	for _, w := range []*watching{s, other} {
		w.warmUp()
	}
	s.offset, other.offset = time.Second, time.Minute
	s.look()
	other.look()
	_, by := s.Stepped()
	if !s.BeginAgain(by) || other.BeginAgain(by) {
		t.Error("it is not told which clock has jumped by this time")
	}
	if at, _ := other.Stepped(); at == 0 {
		t.Error("the other step is forgotten")
	}
	if at, _ := s.Stepped(); at != 0 {
		t.Error("the common step is not forgotten")
	}
}
