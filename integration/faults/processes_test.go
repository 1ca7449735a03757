package faults

import (
	"time"
)

func freezeRedlockd(s *schedule) func() {
	n := s.takeRedlockd()
	if n < 0 {
		return nil
	}
	r := s.b.redlockds[n]
	// Now and then for longer than any TTL.
	for1 := 20*time.Millisecond + rand64(s.rng, s.b.maxTTL*[]time.Duration{1, 1, 4}[s.rng.IntN(3)]/2)
	return func() {
		s.b.freeze(r, for1)
		s.freeRedlockd(n)
	}
}

// freeze stops a redlockd for a time.
func (b *bench) freeze(r *redlockd, for1 time.Duration) {
	b.h.fault("freeze redlockd: %s for %v", r.addr, for1)
	r.disturbing.Store(true)
	r.Freeze()
	time.Sleep(for1)
	r.Thaw()
	r.disturbed.Store(int64(b.h.now()))
	r.disturbing.Store(false)
	b.h.fault("freeze redlockd: %s thawed", r.addr)
}

// killRedlockd leaves the first alone: clients with equal tokens use it, and
// another process counts as another redlockd (P1).
func killRedlockd(s *schedule) func() {
	n := s.takeRedlockd()
	if n < 0 {
		return nil
	}
	if n == 0 {
		s.freeRedlockd(n)
		return nil
	}
	r := s.b.redlockds[n]
	wait := rand64(s.rng, 500*time.Millisecond)
	return func() {
		s.b.h.fault("kill redlockd: %d", n)
		r.disturbing.Store(true)
		r.Kill()
		time.Sleep(wait)
		r.Restart()
		r.killed.Store(int64(s.b.h.now()))
		r.disturbed.Store(int64(s.b.h.now()))
		r.disturbing.Store(false)
		s.freeRedlockd(n)
	}
}
