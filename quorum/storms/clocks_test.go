package storms

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/fakeredis"
	"github.com/redlockd/redlockd/quorum/mark"
)

// watch finds a redlockd that watches a server's clock and role. It keeps faults away
// from both, and from the way between them, for a while.
func (s *storm) watch(rng *rand.Rand, f *fakeredis.Server, d time.Duration) bool {
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

// watches reports whether a redlockd can reach a server now and counts its vote.
func (n *node) watches(f *fakeredis.Server) bool { return n.watchesOver(f, 10*time.Millisecond) }

// watchesOver is watches where packets may take up to slow longer each way.
func (n *node) watchesOver(f *fakeredis.Server, slow time.Duration) bool {
	n.mu.Lock()
	q, g, thawed := n.q, n.wires, n.thawed
	n.mu.Unlock()
	if q == nil || thawed != nil {
		return false
	}
	n.Lock()
	w := g.wire(f)
	good := !f.Down && !f.Frozen && f.Fault != "BUSY" && w.Refused+w.There.Stalled+w.Back.Stalled == 0 && w.Connections() > 0 &&
		max(w.There.Delay, w.Back.Delay) < slow
	n.Unlock()
	if !good {
		return false
	}
	for i, m := range q.Status().Masters {
		if list := n.files(); i < len(list) && list[i].leads() == f && m.State == mark.Voting {
			return true
		}
	}
	return false
}

// step makes a clock step while some redlockd watches it.
func (s *storm) step(rng *rand.Rand) {
	s.with(rng, 0, 0, func(f *fakeredis.Server, _ time.Duration) { s.stepBy(rng, f, stride(rng)) })
}

// stride returns the size of a step: from a few milliseconds to a minute, in either
// direction.
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

func (n *node) watchesAll(all []*fakeredis.Server, slow time.Duration) bool {
	return !slices.ContainsFunc(all, func(f *fakeredis.Server) bool { return !n.watchesOver(f, slow) })
}

// seen returns how long a redlockd takes at most to see a step and to write it into the
// marks.
func (s *storm) seen() time.Duration {
	longest := time.Duration(0)
	for _, n := range s.nodes {
		longest = max(longest, n.config().Timeout)
	}
	for _, cfg := range s.shape.settings { // those started since may have it
		longest = max(longest, cfg.Timeout)
	}
	return clock.WarmUpTime(longest)
}

func (s *storm) stepBy(rng *rand.Rand, f *fakeredis.Server, by time.Duration) {
	if !s.watch(rng, f, s.seen()) {
		return
	}
	s.tell("master %s: its clock steps by %v", f.Name, by)
	s.jump(f, by)
}

// jump makes a clock step at once.
func (s *storm) jump(f *fakeredis.Server, by time.Duration) {
	s.on(f, 0, func() {
		f.Offset += by
		f.Stepped = s.Now()
		f.Strange = f.Strange || by < 0
	}, nil)
}

// common makes most clocks step by the same amount, at nearly the same moment.
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
	if has("crash") && rng.IntN(2) == 0 {
		time.Sleep(s.seen())
		s.restart(rng)
	}
}
