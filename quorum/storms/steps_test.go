package storms

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/redlockd/redlockd/quorum"
	"github.com/redlockd/redlockd/quorum/fakeredis"
	"github.com/redlockd/redlockd/quorum/vote"
)

// untold makes the clocks of a majority step together while these masters deny writes.
// The redlockd that sees it stands still before it can write that into their marks, and
// another one has been started meanwhile.
func (s *storm) untold(rng *rand.Rand) {
	on, sees, starts := s.watched(rng)
	if on == nil {
		return
	}
	code, after := pick(rng, []string{"OOM", "MISCONF", "NOREPLICAS"}), s.seen()+some(rng, 0, time.Second)
	for _, f := range on {
		s.tell("master %s answers %s for %v", f.Name, code, after)
		s.on(f, after, func() { f.Fault = code }, func() { f.Fault = "" })
	}
	s.stepTogether(on, sees, stride(rng))
	s.sleep(some(rng, 0, after/2))
	s.begins(starts, some(rng, 0, 200*time.Millisecond), s.shape.setting(starts.rng, true))
	s.sleep(after - 100*time.Millisecond)
	if away := some(rng, time.Second, 4*time.Second); !s.spared(sees) && sees.freeze() {
		s.tell("redlockd %d stands still for %v", sees.number, away)
		s.mend(away, func() { sees.thaw(true) })
	}
}

// early makes the clocks of a majority step together, which ends a lock, right before a
// redlockd with a short timeout starts, which then is asked for that lock. The only one that
// sees the step has a long timeout and slow ways, and so needs longer to record it in the
// marks.
func (s *storm) early(rng *rand.Rand) {
	on, sees, starts := s.watched(rng)
	if on == nil {
		return
	}
	long, short := s.shape.settings[0], s.shape.settings[0]
	long.Timeout, short.Timeout = 200*time.Millisecond, 20*time.Millisecond
	if sees.config().Timeout < long.Timeout {
		s.begins(sees, 0, long)
		s.spare(3*time.Second, sees)
		for until := s.Now() + 3*time.Second; !sees.watchesAll(on, 10*time.Millisecond); {
			if s.Now() > until || !s.sleep(50*time.Millisecond) {
				return
			}
		}
	}
	by, down := time.Duration(float64(long.Timeout)*(0.3+0.18*rng.Float64())), some(rng, 200*time.Millisecond, time.Second)
	c := s.dropsIn(rng)
	op := c.lock()
	op.Key = fmt.Sprint("early", c.number) // which nobody removes
	if !c.takes(sees, &op, 4*time.Second, 400*time.Millisecond) {
		return
	}
	s.begins(starts, down, short)
	s.spare(down+6*time.Second, quiet{sees})
	s.onlySees(sees, starts, by)
	s.sleep(down - some(rng, time.Millisecond, 50*time.Millisecond))
	if !sees.watchesAll(on, long.Timeout/2) {
		return // nobody would see the step (docs/safety.md)
	}
	s.stepTogether(on, sees, op.TTL+time.Second)
	s.contend(rng, op, 3*time.Second, starts)
}

// takes takes a lock for as long as most, or as the redlockd allows, and returns whether
// it was won. It gives up after some time.
func (c *client) takes(n *node, op *quorum.Op, most, within time.Duration) bool {
	op.Kind, op.TTL = quorum.Acquire, min(most, n.config().MaxTTL)
	for end := c.Now() + within; !c.call(n, *op, *op).won(); {
		if c.Now() > end || !c.sleep(20*time.Millisecond) {
			return false
		}
	}
	return true
}

// dropsIn returns a client that comes for one meeting.
func (s *storm) dropsIn(rng *rand.Rand) *client {
	return &client{storm: s, number: 100 + rng.IntN(1e6), rng: rng}
}

// onlySees makes the ways of one redlockd slow, and cuts off all others but the one that
// starts.
func (s *storm) onlySees(sees, starts *node, by time.Duration) {
	var slow, cut []pair
	for _, f := range s.present() {
		for _, n := range s.nodes {
			switch n {
			case sees:
				slow = append(slow, pair{n, f})
			case starts:
			default:
				cut = append(cut, pair{n, f})
			}
		}
	}
	s.tell("%v longer both ways: %v; cut off: %v", by, slow, cut)
	s.onWires(slow, 6*time.Second, func(w *fakeredis.Wire) { w.There.Delay, w.Back.Delay = w.There.Delay+by, w.Back.Delay+by },
		func(w *fakeredis.Wire) { w.There.Delay, w.Back.Delay = w.There.Delay-by, w.Back.Delay-by })
	s.onWires(cut, 5*time.Second, func(w *fakeredis.Wire) { w.Refused++; w.Reset() }, func(w *fakeredis.Wire) { w.Refused-- })
}

// watched returns a bare majority of the masters, a redlockd that watches them, and
// another one; or nil if there are none without a fault.
func (s *storm) watched(rng *rand.Rand) (on []*fakeredis.Server, by, other *node) {
	nodes := slices.Clone(s.nodes)
	rng.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	nodes = slices.DeleteFunc(nodes, func(n *node) bool { return s.spared(n) })
	all := s.present()
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	majority := vote.Majority(len(all))
	for i, n := range nodes {
		on = slices.DeleteFunc(slices.Clone(all), func(f *fakeredis.Server) bool { return s.spared(f) || !n.watches(f) })
		if len(nodes) > 1 && len(on) >= majority {
			return on[:majority], n, nodes[(i+1)%len(nodes)]
		}
	}
	return nil, nil, nil
}

// stepTogether makes clocks step by the same time, and keeps faults away from the
// redlockd that is to see it, and from its ways, until it has.
func (s *storm) stepTogether(on []*fakeredis.Server, sees *node, by time.Duration) {
	s.spare(s.seen(), sees)
	for _, f := range on {
		s.spare(s.seen(), f, pair{sees, f})
		s.tell("master %s: its clock steps by %v, as redlockd %d is to see", f.Name, by, sees.number)
		s.jump(f, by)
	}
}
