package quorum

import (
	"math/rand/v2"
	"time"

	"github.com/redlockd/redlockd/quorum/vote"
)

// whole returns a server of the list without a fault, or nil.
func (s *storm) whole(rng *rand.Rand) *redisServer {
	f := pick(rng, s.present())
	s.Lock()
	defer s.Unlock()
	if s.spared(f) || f.down || f.frozen || f.replica || f.evicts {
		return nil
	}
	return f
}

// on begins a fault of a server, and ends it after a time.
func (s *storm) on(f *redisServer, after time.Duration, begin, end func()) {
	s.troubled(nil, f, after)
	s.Lock()
	begin()
	s.Unlock()
	if end == nil {
		return
	}
	s.mend(after, func() {
		s.Lock()
		defer s.Unlock()
		end()
		f.work()
	})
}

// with calls fault with a server that has no other fault.
func (s *storm) with(rng *rand.Rand, least, most time.Duration, fault func(f *redisServer, after time.Duration)) {
	if f := s.whole(rng); f != nil {
		fault(f, some(rng, least, most))
	}
}

func (s *storm) still(rng *rand.Rand) {
	s.with(rng, 0, 3*time.Second, func(f *redisServer, after time.Duration) {
		s.tell("master %s stands still for %v", f.name, after)
		s.on(f, after, func() { f.frozen = true }, func() { f.frozen = false })
	})
}

func (s *storm) slow(rng *rand.Rand) {
	s.with(rng, 0, 2*time.Second, func(f *redisServer, after time.Duration) {
		each := some(rng, 100*time.Microsecond, 10*time.Millisecond)
		s.tell("master %s takes %v for each command for %v", f.name, each, after)
		s.on(f, after, func() { f.slow = each }, func() { f.slow = 0 })
	})
}

// kill ends a master, which comes back with all its data.
func (s *storm) kill(rng *rand.Rand) {
	s.with(rng, 0, 1500*time.Millisecond, func(f *redisServer, after time.Duration) {
		s.tell("master %s ends, and comes back with its memory after %v, aof %v", f.name, after, f.aof)
		s.on(f, after, f.crash, func() { f.boot(false) })
	})
}

func (s *storm) empty(rng *rand.Rand) {
	s.with(rng, 0, 1500*time.Millisecond, func(f *redisServer, after time.Duration) {
		s.tell("master %s ends, and comes back empty after %v", f.name, after)
		s.on(f, after, f.crash, func() { f.boot(true) })
	})
}

// oldDisk brings a master back with its data of some time before. If it claims that it
// loses nothing, its beat must disprove that, or the claim is taken back: nothing shows
// a disk that lies and has the same beat.
func (s *storm) oldDisk(rng *rand.Rand) {
	s.with(rng, 0, 1500*time.Millisecond, func(f *redisServer, after time.Duration) {
		old := some(rng, 500*time.Millisecond, 5*time.Second)
		s.on(f, after, func() {
			to := s.now() - old
			if f.beatAt(to) == f.beatAt(s.now()) {
				f.aof = false
			}
			s.tell("master %s ends, and comes back after %v with its disk of %v before, aof %v", f.name, after, old, f.aof)
			f.crash()
			f.goBack(to)
			f.strange = true
		}, func() { f.boot(false) })
	})
}

// forget has a majority, or more, come back empty at about the same time; often no
// redlockd is left that saw them before.
func (s *storm) forget(rng *rand.Rand) {
	if s.listChanges() && !has("forgetlist") {
		return
	}
	list := s.present()
	n := vote.Majority(len(list)) + rng.IntN(len(list)-vote.Majority(len(list))+1)
	if rng.IntN(2) == 0 && has("crash") {
		for range s.nodes {
			s.restart(rng)
		}
	}
	for _, at := range rng.Perm(len(list))[:n] {
		f, after := list[at], some(rng, 0, time.Second)
		s.Lock()
		busy := s.spared(f) || f.down || f.frozen || f.replica || f.evicts
		s.Unlock()
		if busy {
			continue
		}
		s.tell("one of a majority, master %s ends, and comes back empty after %v", f.name, after)
		s.on(f, after, f.crash, func() { f.boot(true) })
	}
}

func (s *storm) flush(rng *rand.Rand) {
	s.with(rng, 0, 0, func(f *redisServer, _ time.Duration) {
		s.tell("master %s is flushed", f.name)
		s.on(f, 0, f.flush, nil)
	})
}

// errors makes some masters answer errors for a while.
func (s *storm) errors(rng *rand.Rand) {
	code := pick(rng, []string{"BUSY", "OOM", "MISCONF", "READONLY", "NOREPLICAS"})
	for range 1 + rng.IntN(3) {
		f, after := pick(rng, s.present()), some(rng, 0, 3*time.Second)
		if code == "BUSY" && s.spared(f) {
			continue // no redlockd sees anything meanwhile
		}
		s.tell("master %s answers %s for %v", f.name, code, after)
		s.on(f, after, func() { f.fault = code }, func() { f.fault = "" })
	}
}

func (s *storm) scripts(rng *rand.Rand) {
	s.with(rng, 0, 0, func(f *redisServer, _ time.Duration) {
		s.tell("master %s forgets its scripts", f.name)
		s.on(f, 0, func() { clear(f.scripts) }, nil)
	})
}

// role makes a master a replica for a while.
func (s *storm) role(rng *rand.Rand) {
	s.with(rng, 0, 4*time.Second, func(f *redisServer, after time.Duration) {
		s.tell("master %s is a replica for %v", f.name, after)
		s.on(f, after, func() { f.replica = true }, func() { f.replica, f.promoted = false, true })
	})
}

// evict makes a master delete keys, as soon as a redlockd has seen that it may.
func (s *storm) evict(rng *rand.Rand) {
	s.with(rng, time.Second, 8*time.Second, func(f *redisServer, after time.Duration) {
		s.tell("master %s may evict keys for %v", f.name, after)
		s.on(f, after, func() { f.evicts = true }, func() { f.evicts = false })
		s.mended.Go(func() {
			for until := s.now() + after; s.now() < until; time.Sleep(300 * time.Millisecond) {
				s.Lock()
				f.evict()
				s.Unlock()
			}
		})
	})
}
