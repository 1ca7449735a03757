package storms

import (
	"math/rand/v2"
	"time"

	"github.com/redlockd/redlockd/quorum"
	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/fakeredis"
	"github.com/redlockd/redlockd/quorum/vote"
)

// late delays what one redlockd sends beyond its time, and so behind what others send
// meanwhile.
func (s *storm) late(rng *rand.Rand) {
	n := pick(rng, s.nodes)
	timeout := n.config().Timeout
	s.delays(n, timeout+some(rng, 0, timeout), some(rng, 300*time.Millisecond, 1500*time.Millisecond))
}

// delays delays what a redlockd sends, for a while.
func (s *storm) delays(n *node, by, after time.Duration) {
	var ways []pair
	for _, f := range s.present() {
		if p := (pair{n, f}); !s.spared(p) {
			ways = append(ways, p)
		}
	}
	s.tell("what redlockd %d sends takes %v longer for %v", n.number, by, after)
	s.onWires(ways, after, func(w *fakeredis.Wire) { w.There.Delay += by }, func(w *fakeredis.Wire) { w.There.Delay -= by })
}

// quiet is a redlockd that only one client asks, guarded as such for a while. What many
// clients ask over a slow way leaves no moment in which its masters are not frozen.
type quiet struct{ node *node }

// overtaken extends a lock for a short time through a redlockd, of which what it sends
// comes a little too late, and then for a long time through another one. The first extend
// arrives behind that. In half of the cases the looks that it goes by were late as well.
func (s *storm) overtaken(rng *rand.Rand) {
	slow, quick := pick(rng, s.nodes), pick(rng, s.nodes)
	if slow == quick {
		return
	}
	c := s.dropsIn(rng)
	op := c.lock()
	if !c.takes(quick, &op, 4*time.Second, 400*time.Millisecond) {
		return
	}
	cfg, looks := slow.config(), time.Duration(rng.IntN(2))*(clock.LookAge+some(rng, 0, clock.LookAge))
	by := cfg.Timeout + cfg.Grace() + some(rng, -cfg.Grace(), cfg.Timeout)
	s.spare(looks+2*by, quiet{slow})
	s.delays(slow, by, looks+2*by)
	if !s.sleep(looks) {
		return
	}
	op.Kind, op.TTL = quorum.Extend, some(rng, 100*time.Millisecond, 600*time.Millisecond).Truncate(time.Millisecond)
	if c.call(slow, op, op).open() {
		op.TTL = min(4*time.Second, quick.config().MaxTTL)
		c.call(quick, op, op)
	}
}

// schism freezes one redlockd, gives all others another, empty server for a master, and
// waits until that votes. Then each side has a bare majority with its own server,
// unless the marks decide which server has the seat (M9).
func (s *storm) schism(rng *rand.Rand) {
	list := s.list()
	at, who := rng.IntN(len(list)), rng.IntN(len(s.nodes))
	stays, goes := s.nodes[who], s.nodes[(who+1)%len(s.nodes)]
	s.Lock()
	before, full := list[at].leads(), len(s.servers) >= maxServers
	s.Unlock()
	alone := len(list) == 1 // no other marks say which server has the seat
	if full || alone || stays == goes || s.spared(before) || s.spared(stays) || !stays.freeze() {
		return
	}
	f := s.server(before.Name + "'")
	s.tell("master %s moves to the address of %s, and redlockd %d, which stands still, stays with %s", list[at].master, f.Name, stays.number, before.Name)
	list[at] = site{master: list[at].master, address: f.Name + ":1", to: f}
	s.mu.Lock()
	s.file = list
	s.mu.Unlock()
	s.spare(12*time.Second, f, before, pair{goes, f})
	for _, n := range s.nodes {
		if n != stays {
			n.reload(list)
		}
	}
	for until := s.Now() + 10*time.Second; s.Now() < until && !goes.watches(f) && s.sleep(100*time.Millisecond); {
	}
	s.part(stays, f)
	stays.thaw(true)
}

// part leaves one redlockd a bare majority with its own server, and the others one with
// f; the two share no other master.
func (s *storm) part(stays *node, f *fakeredis.Server) {
	var others []*fakeredis.Server
	for _, g := range s.present() {
		if g != f {
			others = append(others, g)
		}
	}
	q := vote.Majority(len(others) + 1)
	var ways []pair
	for i, g := range others {
		for _, n := range s.nodes {
			if n == stays && i >= q-1 || n != stays && i < len(others)-(q-1) {
				ways = append(ways, pair{n, g})
			}
		}
	}
	const after = 5 * time.Second // the one that stood still watches the clocks first (M5)
	s.tell("cut off: %v for %v", ways, after)
	s.onWires(ways, after, func(w *fakeredis.Wire) { w.Refused++; w.Reset() }, func(w *fakeredis.Wire) { w.Refused-- })
}
