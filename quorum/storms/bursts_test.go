package storms

import (
	"math/rand/v2"
	"time"

	"github.com/redlockd/redlockd/quorum/fakeredis"
	"github.com/redlockd/redlockd/quorum/vote"
)

// staleWitness freezes a redlockd and meanwhile restarts a master with the disk of the
// moment at which the freeze began. The master claims that it loses nothing.
func (s *storm) staleWitness(rng *rand.Rand) {
	n, f := pick(rng, s.nodes), s.whole(rng)
	if f == nil || s.spared(n) || !n.freeze() {
		return
	}
	began, away := s.Now(), some(rng, 1200*time.Millisecond, 4*time.Second)
	s.tell("redlockd %d stands still for %v", n.number, away)
	s.mend(away, func() { n.thaw(true) })
	time.Sleep(away - some(rng, 0, 300*time.Millisecond))
	s.Lock()
	busy, to := f.Down || f.Frozen || s.spared(f), began+some(rng, 0, 200*time.Millisecond)
	lies := f.BeatAt(to) == f.BeatAt(s.Now())
	s.Unlock()
	if busy || lies {
		return
	}
	s.tell("master %s ends, and comes back with its disk of %v", f.Name, to)
	s.on(f, some(rng, 0, 400*time.Millisecond), func() {
		f.AOF = has("aof")
		f.Crash()
		f.GoBack(to)
		f.Strange = true
	}, func() { f.Boot(false) })
}

// burst lets locks be taken on a bare majority of the masters. One of these loses
// something right before or after a redlockd sees it first.
func (s *storm) burst(rng *rand.Rand) {
	list := s.present()
	at := rng.IntN(len(list))
	var ways []pair
	for k := 1; k <= len(list)-vote.Majority(len(list)); k++ {
		for _, n := range s.nodes {
			if p := (pair{n, list[(at+k)%len(list)]}); !s.spared(p) {
				ways = append(ways, p)
			}
		}
	}
	after := some(rng, 300*time.Millisecond, 1500*time.Millisecond)
	s.tell("burst: %v are cut off for %v", ways, after)
	s.onWires(ways, after, func(w *fakeredis.Wire) { w.Refused++; w.Reset() }, func(w *fakeredis.Wire) { w.Refused-- })
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
		s.tell("master %s is flushed", f.Name)
		s.on(f, 0, f.Flush, nil)
	}
}
