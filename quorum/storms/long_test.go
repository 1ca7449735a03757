package storms

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/redlockd/redlockd/quorum"
	"github.com/redlockd/redlockd/quorum/fakeredis"
	"github.com/redlockd/redlockd/quorum/vote"
)

// longest takes a lock for long on a bare majority, of which one master loses it. The
// other redlockd may allow only shorter locks, but that master must not vote before this
// one is over.
func (s *storm) longest(rng *rand.Rand) {
	n := slices.MaxFunc(s.nodes, func(a, b *node) int { return cmp.Compare(a.config().MaxTTL, b.config().MaxTTL) })
	f, op := s.onBareMajority(rng, n, 4*time.Second)
	if f == nil {
		return
	}
	s.tell("master %s is flushed", f.Name)
	s.on(f, 0, f.Flush, nil)
	s.contend(rng, op, op.TTL, s.nodes...)
}

// rewound takes a lock for long on a bare majority, of which one master then restarts with
// its disk of three seconds before, and reports that it loses nothing. Only the beats in the
// marks of the others show that it has lost that lock, so there must be others; a later disk
// may have the latest beat (docs/safety.md). One redlockd stands still meanwhile, and so
// remembers the beat on that disk.
func (s *storm) rewound(rng *rand.Rand) {
	n, witness := pick(rng, s.nodes), pick(rng, s.nodes)
	frozen := n != witness && !s.spared(witness) && len(s.list()) > 1 && witness.freeze()
	if frozen {
		s.tell("redlockd %d stands still", witness.number)
		defer witness.thaw(true)
	}
	began := s.Now()
	if len(s.list()) == 1 || !s.sleep(2500*time.Millisecond) {
		return
	}
	f, op := s.onBareMajority(rng, n, 6*time.Second)
	if f == nil || !s.sleep(began+3*time.Second-s.Now()) {
		return
	}
	s.Lock()
	lies := f.BeatAt(began) == f.BeatAt(s.Now())
	s.Unlock()
	if lies {
		return
	}
	down := some(rng, 0, 100*time.Millisecond)
	s.tell("master %s ends, and comes back after %v with its disk of %v", f.Name, down, began)
	s.on(f, down, func() {
		f.AOF, f.Strange = has("aof"), true
		f.Crash()
		f.GoBack(began)
	}, func() { f.Boot(false) })
	time.Sleep(down)
	if frozen && rng.IntN(2) == 0 {
		witness.thaw(true)
	}
	s.contend(rng, op, op.TTL, s.nodes...)
}

// onBareMajority takes a lock for as long as most, or as the redlockd allows, on a bare
// majority, and keeps other faults away from the masters until the lock ends. It returns
// one master of that majority, nil if the lock was not won.
func (s *storm) onBareMajority(rng *rand.Rand, n *node, most time.Duration) (*fakeredis.Server, quorum.Op) {
	list := s.present()
	at := rng.IntN(len(list))
	c := s.dropsIn(rng)
	op := c.lock()
	op.Key = fmt.Sprint("long", c.number) // which nobody removes
	if slices.ContainsFunc(list, func(f *fakeredis.Server) bool { return s.spared(f) }) {
		return nil, op
	}
	var ways []pair
	for k := 1; k <= len(list)-vote.Majority(len(list)); k++ {
		for _, m := range s.nodes {
			ways = append(ways, pair{m, list[(at+k)%len(list)]})
		}
	}
	const after = 500 * time.Millisecond
	s.tell("for a long lock, cut off for %v: %v", after, ways)
	s.onWires(ways, after, func(w *fakeredis.Wire) { w.Refused++; w.Reset() }, func(w *fakeredis.Wire) { w.Refused-- })
	if !c.takes(n, &op, most, after-50*time.Millisecond) {
		return nil, op
	}
	for _, f := range list {
		s.spare(op.TTL, f)
	}
	return list[at], op
}

// contend has another client try to take a lock through some redlockd for a while, beyond
// the storm's end too.
func (s *storm) contend(rng *rand.Rand, op quorum.Op, d time.Duration, through ...*node) {
	c := s.dropsIn(rng)
	for end := s.Now() + d; s.Now() < end && !s.t.Failed(); c.round++ {
		time.Sleep(20 * time.Millisecond)
		op.Token = fmt.Sprint(c.number, "-", c.round, "'")
		c.call(pick(rng, through), op, op)
	}
}
