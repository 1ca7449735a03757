package faults

import (
	"slices"
	"sync"
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
	b.frozenFor(r, func() { time.Sleep(for1) })
}

// frozenFor stops a redlockd while something happens.
func (b *bench) frozenFor(r *redlockd, meanwhile func()) {
	b.h.fault("freeze redlockd: %s", r.addr)
	r.disturbing.Store(true)
	t := b.h.begin(trouble{what: "freeze", redlockd: slices.Index(b.redlockds, r)})
	r.Freeze()
	meanwhile()
	r.Thaw()
	r.disturbed.Store(int64(b.h.now()))
	r.disturbing.Store(false)
	b.h.end(t)
	b.h.fault("freeze redlockd: %s thawed", r.addr)
}

// killRedlockd kills one, or at one moment all but one.
func killRedlockd(s *schedule) func() {
	wait, most := rand64(s.rng, 500*time.Millisecond), 1
	if s.rng.IntN(4) == 0 {
		most = len(s.b.redlockds) - 1
	}
	var list []int
	for try := 0; try < 10 && len(list) < most; try++ {
		n := s.takeRedlockd()
		if n >= 0 && n == s.b.watched {
			s.freeRedlockd(n)
			s.now.redlockds = s.now.redlockds[:len(s.now.redlockds)-1]
		} else if n >= 0 {
			list = append(list, n)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return func() {
		var all sync.WaitGroup
		for _, n := range list {
			all.Go(func() { s.b.kill(n, wait) })
		}
		all.Wait()
		for _, n := range list {
			s.freeRedlockd(n)
		}
	}
}

// kill ends a redlockd as a power cut would, and starts it again.
func (b *bench) kill(n int, wait time.Duration) {
	r := b.redlockds[n]
	b.h.fault("kill redlockd: %d for %v", n, wait)
	if n == oneDoorIs {
		b.process.Add(1)
	}
	r.disturbing.Store(true)
	t := b.h.begin(trouble{what: "kill", redlockd: n, killed: true})
	r.Kill()
	time.Sleep(wait)
	r.Restart()
	r.killed.Store(int64(b.h.now()))
	r.disturbed.Store(int64(b.h.now()))
	r.disturbing.Store(false)
	b.h.end(t)
}
