package quorum

import (
	"math/rand/v2"
	"time"
)

// whole is a server of the list without a fault, or nil.
func (s *storm) whole(rng *rand.Rand) *redisServer {
	f := pick(rng, s.present())
	s.Lock()
	defer s.Unlock()
	if s.spared(f) || f.down || f.frozen || f.replica || f.evicts {
		return nil
	}
	return f
}

// on does something to a server, and undoes it after a time.
func (s *storm) on(f *redisServer, after time.Duration, begin, end func()) {
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

// with finds a server for a fault.
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

// kill ends a master, which comes back with all it had.
func (s *storm) kill(rng *rand.Rand) {
	s.with(rng, 0, 1500*time.Millisecond, func(f *redisServer, after time.Duration) {
		s.tell("master %s ends, and comes back with its memory after %v, aof %v", f.name, after, f.aof)
		s.on(f, after, f.kill, func() { f.boot(false) })
	})
}

func (s *storm) empty(rng *rand.Rand) {
	s.with(rng, 0, 1500*time.Millisecond, func(f *redisServer, after time.Duration) {
		s.tell("master %s ends, and comes back empty after %v", f.name, after)
		s.on(f, after, f.kill, func() { f.boot(true) })
	})
}

// oldDisk brings a master back with what it had some time before. One that
// says that it loses nothing shows that by its beat, or says so no more: a disk
// that lies and shows nothing is what nobody can see.
func (s *storm) oldDisk(rng *rand.Rand) {
	s.with(rng, 0, 1500*time.Millisecond, func(f *redisServer, after time.Duration) {
		old := some(rng, 500*time.Millisecond, 5*time.Second)
		s.on(f, after, func() {
			to := s.now() - old
			if f.beatAt(to) == f.beatAt(s.now()) {
				f.aof = false
			}
			s.tell("master %s ends, and comes back after %v with its disk of %v before, aof %v", f.name, after, old, f.aof)
			f.kill()
			f.goBack(to)
			f.strange = true
		}, func() { f.boot(false) })
	})
}

func (s *storm) flush(rng *rand.Rand) {
	s.with(rng, 0, 0, func(f *redisServer, _ time.Duration) {
		s.tell("master %s is flushed", f.name)
		s.on(f, 0, f.flush, nil)
	})
}

// errors makes some masters refuse for a while.
func (s *storm) errors(rng *rand.Rand) {
	code := pick(rng, []string{"BUSY", "OOM", "MISCONF", "READONLY", "NOREPLICAS"})
	for range 1 + rng.IntN(3) {
		s.with(rng, 0, 3*time.Second, func(f *redisServer, after time.Duration) {
			s.tell("master %s answers %s for %v", f.name, code, after)
			s.on(f, after, func() { f.fault = code }, func() { f.fault = "" })
		})
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

// lossyRole makes it one of a server that lacks what came last. Somebody sees
// it as a replica.
func (s *storm) lossyRole(rng *rand.Rand) {
	s.with(rng, 2500*time.Millisecond, 4*time.Second, func(f *redisServer, after time.Duration) {
		if !s.watch(rng, f, after+4*time.Second) {
			return
		}
		lag := some(rng, 0, 3*time.Second)
		s.tell("master %s is a replica for %v, of one that lacks the last %v", f.name, after, lag)
		s.on(f, after, func() {
			f.replica, f.strange = true, true
			f.goBack(s.now() - lag)
		}, func() { f.replica, f.promoted = false, true })
	})
}

// evict lets a master forget keys, as soon as somebody has seen that it may.
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

// watch finds a redlockd that watches a server's clock and role, and spares both
// and what is between them for a while.
func (s *storm) watch(rng *rand.Rand, f *redisServer, d time.Duration) bool {
	at := rng.IntN(len(s.nodes))
	for i := range s.nodes {
		n := s.nodes[(at+i)%len(s.nodes)]
		if n.watches(f) {
			s.spare(d, n, f, pair{n, f})
			return true
		}
	}
	return false
}

// watches is whether a redlockd has looked at a server all of the last seconds,
// and votes with it.
func (n *node) watches(f *redisServer) bool {
	n.mu.Lock()
	q, g, thawed := n.q, n.wires, n.thawed
	n.mu.Unlock()
	if q == nil || thawed != nil {
		return false
	}
	n.Lock()
	w := g.wire(f)
	good := !f.down && !f.frozen && f.fault != "BUSY" && w.refused+w.there.stalled+w.back.stalled == 0 && len(w.pipes) > 0 &&
		max(w.there.delay, w.back.delay) < 10*time.Millisecond
	n.Unlock()
	if !good {
		return false
	}
	for i, m := range q.Status().Masters {
		if list := n.files(); i < len(list) && list[i].leads() == f && m.State == Voting {
			return true
		}
	}
	return false
}

// step makes a clock step, while somebody watches it.
func (s *storm) step(rng *rand.Rand) {
	s.with(rng, 0, 0, func(f *redisServer, _ time.Duration) { s.stepBy(rng, f, stride(rng)) })
}

// stride is by how much: from a few milliseconds to a minute.
func stride(rng *rand.Rand) time.Duration {
	by := 5 * time.Millisecond
	for by < 30*time.Second && rng.IntN(7) > 0 {
		by *= 2
	}
	by = some(rng, by, 2*by)
	if rng.IntN(4) == 0 {
		return -by
	}
	return by
}

func (s *storm) stepBy(rng *rand.Rand, f *redisServer, by time.Duration) {
	if !s.watch(rng, f, 4*time.Second) {
		return
	}
	s.tell("master %s: its clock steps by %v", f.name, by)
	s.on(f, 0, func() {
		f.offset += by
		f.stepped = s.now()
		f.strange = f.strange || by < 0
	}, nil)
}

// common makes most clocks step by the same time, at nearly the same moment.
func (s *storm) common(rng *rand.Rand) {
	by := stride(rng)
	for _, f := range s.present() {
		if rng.IntN(4) > 0 && !s.spared(f) {
			s.stepBy(rng, f, by)
		}
		if rng.IntN(2) == 0 {
			time.Sleep(some(rng, 0, 100*time.Millisecond))
		}
	}
}

// burst leaves locks with a bare majority of the masters, of which one loses
// something right before or after a redlockd sees it first.
func (s *storm) burst(rng *rand.Rand) {
	list := s.present()
	at := rng.IntN(len(list))
	var ways []pair
	for k := 1; k <= len(list)-majority(len(list)); k++ {
		for _, n := range s.nodes {
			if p := (pair{n, list[(at+k)%len(list)]}); !s.spared(p) {
				ways = append(ways, p)
			}
		}
	}
	after := some(rng, 300*time.Millisecond, 1500*time.Millisecond)
	s.tell("burst: %v are cut off for %v", ways, after)
	s.onWires(ways, after, func(w *wire) { w.refused++; w.resetAll() }, func(w *wire) { w.refused-- })
	one := []func(*rand.Rand){s.restart, s.freeze, s.cut, func(*rand.Rand) {}}[rng.IntN(4)]
	time.Sleep(some(rng, 0, 600*time.Millisecond))
	if has("crash") && has("freeze") {
		one(rng)
	}
	time.Sleep(some(rng, 0, 800*time.Millisecond))
	f := list[at]
	if s.spared(f) {
		return
	}
	switch dice := rng.IntN(3); {
	case dice > 0 && has("step"):
		s.stepBy(rng, f, stride(rng))
	case has("flush"):
		s.tell("master %s is flushed", f.name)
		s.on(f, 0, f.flush, nil)
	}
}
