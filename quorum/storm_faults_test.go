package quorum

import (
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"
)

// node is one redlockd, now and then.
type node struct {
	q     atomic.Pointer[Quorum]
	clock *stoppable
	links []*link
	cfg   []Master
	turn  sync.Mutex // of who restarts it
}

// boot starts a redlockd over links of its own.
func (s *storm) boot(n *node) {
	s.dice.Lock()
	defer s.dice.Unlock()
	n.clock = &stoppable{}
	s.cfg.Masters = n.cfg
	n.q.Store(s.redlockdBy(n.clock.clock()))
}

// mend undoes a fault after a time.
func (s *storm) mend(after time.Duration, undo func()) {
	s.mended.Go(func() {
		time.Sleep(after)
		undo()
	})
}

// some is a random time.
func (s *storm) some(least, most time.Duration) time.Duration {
	return least + time.Duration(s.n(int(most-least)))
}

// n is a random number below most.
func (s *storm) n(most int) int {
	s.dice.Lock()
	defer s.dice.Unlock()
	return s.rng.IntN(most)
}

// fault makes one.
func (s *storm) fault() {
	i := s.n(len(s.masters))
	f := s.masters[i]
	at := 1 + s.n(len(s.nodes)-1)
	n := s.nodes[at]
	switch s.n(16) {
	case 0:
		s.step(i)
	case 1, 11, 12, 13, 14, 15:
		s.burst(i, at)
	case 2, 3, 4:
		after := s.some(0, 6*time.Second)
		s.tell("redlockd %d is cut off from %s for %v", at, f.name, after)
		n.links[i].cut(true)
		s.mend(after, func() { n.links[i].cut(false) })
	case 5, 6:
		s.restart(at)
	case 7:
		s.faultOf(f)
	case 8:
		f.set(func() { f.delay = s.some(0, 15*time.Millisecond) })
		s.mend(time.Second, func() { f.set(func() { f.delay = 0 }) })
	case 9:
		if s.n(4) == 0 {
			s.leap(at)
		}
	case 10:
		open(n.q.Load(), 3)
	}
}

// step makes a clock step.
func (s *storm) step(i int) {
	by := s.some(time.Second, time.Minute)
	if s.n(4) == 0 {
		by = -by
		s.mu.Lock()
		s.late = append(s.late, s.masters[i])
		s.mu.Unlock()
	}
	s.tell("master %s: its clock steps by %v", s.masters[i].name, by)
	s.masters[i].set(func() { s.masters[i].offset += by })
}

// restart ends a redlockd as a crash does, and starts another one.
func (s *storm) restart(at int) {
	n := s.nodes[at]
	if !n.turn.TryLock() {
		return
	}
	defer n.turn.Unlock()
	s.tell("redlockd %d is restarted", at)
	for _, k := range n.links {
		k.cut(true)
	}
	s.stop(n.q.Load())
	for _, k := range n.links {
		k.cut(false)
	}
	s.boot(n)
}

// burst leaves locks with a bare majority of the masters, of which one steps, or
// loses its memory, right before or after a redlockd sees it first.
func (s *storm) burst(i, at int) {
	n := len(s.masters)
	for k := 1; k <= n-majority(n); k++ {
		f := s.masters[(i+k)%n]
		f.mu.Lock()
		busy := f.down || f.frozen != nil
		f.mu.Unlock()
		if busy {
			continue
		}
		s.tell("master %s is cut off", f.name)
		f.kill()
		defer f.mend()
	}
	time.Sleep(s.some(300*time.Millisecond, 1500*time.Millisecond))
	switch s.n(4) {
	case 0:
		s.mend(s.some(500*time.Millisecond, 800*time.Millisecond), func() { s.restart(at) })
	case 1:
		s.nodes[at].links[i].cut(true)
		s.mend(s.some(500*time.Millisecond, 3*time.Second), func() { s.nodes[at].links[i].cut(false) })
	case 2:
		s.mend(s.some(500*time.Millisecond, 800*time.Millisecond), func() { open(s.nodes[at].q.Load(), 3) })
	}
	s.mend(s.some(300*time.Millisecond, time.Second), func() { // the others are back
		if s.n(3) > 0 {
			s.step(i)
			return
		}
		s.tell("master %s is flushed", s.masters[i].name)
		s.masters[i].FlushAll()
	})
}

// faultOf makes one of a master, unless it has one.
func (s *storm) faultOf(f *fakeMaster) {
	f.mu.Lock()
	busy := f.down || f.frozen != nil
	f.mu.Unlock()
	if busy {
		return
	}
	after := s.some(0, 1500*time.Millisecond)
	kind := s.n(5)
	s.tell("master %s: fault %d for %v", f.name, kind, after)
	switch kind {
	case 0:
		f.freeze()
		s.mend(after, f.thaw)
	case 1:
		f.kill()
		s.mend(after, f.mend)
	case 2:
		f.kill()
		s.mend(after, f.startEmpty)
	case 3:
		f.set(func() { f.aof = !f.aof })
		f.kill()
		s.mend(after, f.startWithMemory)
	case 4:
		f.FlushAll()
	}
}

// leap makes a time pass in which nobody runs, and which the clock of one
// redlockd does not count.
func (s *storm) leap(still int) {
	d := s.some(0, 5*time.Second)
	synctest.Wait()
	s.tell("%v pass, which redlockd %d does not count", d, still)
	s.mu.Lock()
	s.passed += d
	s.mu.Unlock()
	for i, n := range s.nodes {
		if i != still {
			n.clock.mu.Lock()
			n.clock.skipped += d
			n.clock.mu.Unlock()
		}
	}
	for _, f := range s.masters {
		f.set(func() { f.offset += d })
	}
}

// leapt is what has passed that a redlockd does not count.
func (s *storm) leapt() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.passed
}
