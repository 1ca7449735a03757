package storms

import (
	"math/rand/v2"
	"time"

	"github.com/redlockd/redlockd/quorum/fakeredis"
	"github.com/redlockd/redlockd/quorum/vote"
)

// whole returns a server of the list without a fault, or nil.
func (s *storm) whole(rng *rand.Rand) *fakeredis.Server {
	f := pick(rng, s.present())
	s.Lock()
	defer s.Unlock()
	if s.spared(f) || f.Down || f.Frozen || f.Replica || f.Evicts {
		return nil
	}
	return f
}

// on begins a fault of a server, and ends it after a time.
func (s *storm) on(f *fakeredis.Server, after time.Duration, begin, end func()) {
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
		f.Work()
	})
}

// with calls fault with a server that has no other fault.
func (s *storm) with(rng *rand.Rand, least, most time.Duration, fault func(f *fakeredis.Server, after time.Duration)) {
	if f := s.whole(rng); f != nil {
		fault(f, some(rng, least, most))
	}
}

func (s *storm) still(rng *rand.Rand) {
	s.with(rng, 0, 3*time.Second, func(f *fakeredis.Server, after time.Duration) {
		s.tell("master %s stands still for %v", f.Name, after)
		s.on(f, after, func() { f.Frozen = true }, func() { f.Frozen = false })
	})
}

func (s *storm) slow(rng *rand.Rand) {
	s.with(rng, 0, 2*time.Second, func(f *fakeredis.Server, after time.Duration) {
		each := some(rng, 100*time.Microsecond, 10*time.Millisecond)
		s.tell("master %s takes %v for each command for %v", f.Name, each, after)
		s.on(f, after, func() { f.Slow = each }, func() { f.Slow = 0 })
	})
}

// kill ends a master, which comes back with all its data.
func (s *storm) kill(rng *rand.Rand) {
	s.with(rng, 0, 1500*time.Millisecond, func(f *fakeredis.Server, after time.Duration) {
		s.tell("master %s ends, and comes back with its memory after %v, aof %v", f.Name, after, f.AOF)
		s.on(f, after, f.Crash, func() { f.Boot(false) })
	})
}

func (s *storm) empty(rng *rand.Rand) {
	s.with(rng, 0, 1500*time.Millisecond, func(f *fakeredis.Server, after time.Duration) {
		s.tell("master %s ends, and comes back empty after %v", f.Name, after)
		s.on(f, after, f.Crash, func() { f.Boot(true) })
	})
}

// oldDisk brings a master back with its data of some time before. If it claims that it
// loses nothing, its beat must disprove that, or the claim is taken back: nothing shows
// a disk that lies and has the same beat.
func (s *storm) oldDisk(rng *rand.Rand) {
	s.with(rng, 0, 1500*time.Millisecond, func(f *fakeredis.Server, after time.Duration) {
		old := some(rng, 500*time.Millisecond, 5*time.Second)
		s.on(f, after, func() {
			to := s.Now() - old
			if f.BeatAt(to) == f.BeatAt(s.Now()) {
				f.AOF = false
			}
			s.tell("master %s ends, and comes back after %v with its disk of %v before, aof %v", f.Name, after, old, f.AOF)
			f.Crash()
			f.GoBack(to)
			f.Strange = true
		}, func() { f.Boot(false) })
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
		busy := s.spared(f) || f.Down || f.Frozen || f.Replica || f.Evicts
		s.Unlock()
		if busy {
			continue
		}
		s.tell("one of a majority, master %s ends, and comes back empty after %v", f.Name, after)
		s.on(f, after, f.Crash, func() { f.Boot(true) })
	}
}

// flush flushes a master, or one of its databases.
func (s *storm) flush(rng *rand.Rand) {
	s.with(rng, 0, 0, func(f *fakeredis.Server, _ time.Duration) {
		if db := pick(rng, []int{-1, 0, 3}); db >= 0 {
			s.tell("database %d of master %s is flushed", db, f.Name)
			s.on(f, 0, func() { f.FlushDB(db) }, nil)
			return
		}
		s.tell("master %s is flushed", f.Name)
		s.on(f, 0, f.Flush, nil)
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
		s.tell("master %s answers %s for %v", f.Name, code, after)
		s.on(f, after, func() { f.Fault = code }, func() { f.Fault = "" })
	}
}

func (s *storm) scripts(rng *rand.Rand) {
	s.with(rng, 0, 0, func(f *fakeredis.Server, _ time.Duration) {
		s.tell("master %s forgets its scripts", f.Name)
		s.on(f, 0, f.ForgetScripts, nil)
	})
}

// role makes a master a replica for a while.
func (s *storm) role(rng *rand.Rand) {
	s.with(rng, 0, 4*time.Second, func(f *fakeredis.Server, after time.Duration) {
		s.tell("master %s is a replica for %v", f.Name, after)
		s.on(f, after, func() { f.Replica = true }, func() { f.Replica, f.Promoted = false, true })
	})
}

// evict makes a master delete keys, as soon as a redlockd has seen that it may.
func (s *storm) evict(rng *rand.Rand) {
	s.with(rng, time.Second, 8*time.Second, func(f *fakeredis.Server, after time.Duration) {
		s.tell("master %s may evict keys for %v", f.Name, after)
		s.on(f, after, func() { f.Evicts = true }, func() { f.Evicts = false })
		s.mended.Go(func() {
			for until := s.Now() + after; s.Now() < until; time.Sleep(300 * time.Millisecond) {
				s.Lock()
				f.Evict()
				s.Unlock()
			}
		})
	})
}
