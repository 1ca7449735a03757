package storms

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/fakeredis"
)

// source makes faults of some kinds, again and again.
type source struct {
	name  string
	every time.Duration
	rng   *rand.Rand
	kinds []kind
}

// kind is one kind of fault, of a class.
type kind struct {
	class string
	make  func(rng *rand.Rand)
}

// sources returns the sources of this storm. Each storm has about half of the kinds, so
// that rare pairs of faults meet in some storms. In two of three storms most sources are
// left out, since a fault that comes alone meets locks that were granted: where
// everything fails at once, hardly any are. In one of four storms there is but one kind of
// fault, again and again, in half of them a meeting, which needs the most to go its way.
func (s *storm) sources() []*source {
	all := []*source{
		{name: "network", every: 600 * time.Millisecond, kinds: []kind{{"cut", s.cut}, {"oneway", s.oneWay}, {"delay", s.delay}, {"reset", s.reset}}},
		{name: "redlockd", every: 1500 * time.Millisecond, kinds: []kind{{"freeze", s.freeze}, {"suspend", s.suspend}, {"crash", s.restart}}},
		{name: "masters", every: 1200 * time.Millisecond, kinds: []kind{{"still", s.still}, {"slow", s.slow}, {"kill", s.kill}, {"empty", s.empty},
			{"olddisk", s.oldDisk}, {"flush", s.flush}, {"errors", s.errors}, {"scripts", s.scripts}, {"role", s.role}, {"lossyrole", s.lossyRole}, {"evict", s.evict}}},
		{name: "clocks", every: 3 * time.Second, kinds: []kind{{"step", s.step}, {"common", s.common}}},
		{name: "bursts", every: 4 * time.Second, kinds: []kind{{"cut", s.burst}, {"olddisk", s.staleWitness}}},
		{name: "lists", every: 5 * time.Second, kinds: []kind{{"list", s.changeList}, {"address", s.changeAddress}, {"names", s.moveName}}},
		{name: "meetings", every: time.Second, kinds: []kind{{"delay", s.late}, {"delay", s.overtaken}, {"address", s.schism}, {"list", s.shrink}, {"errors", s.untold}, {"settings", s.early}, {"flush", s.longest}, {"olddisk", s.rewound}}},
		{name: "forget", every: 3 * time.Second, kinds: []kind{{"forget", s.forget}}},
	}
	if f := s.alone(all); f != nil {
		return []*source{f}
	}
	dice := s.stream("sources")
	left := []int{0, 50, 75}[dice.IntN(3)] // in percent
	only := dice.IntN(len(all))
	var out []*source
	for i, f := range all {
		if dice.IntN(100) < left && i != only {
			continue
		}
		f.rng = s.stream(f.name)
		f.every *= time.Duration(1 + dice.IntN(8))
		var some []kind
		for _, k := range f.kinds {
			if dice.IntN(2) == 0 && has(k.class) {
				some = append(some, k)
			}
		}
		if f.kinds = some; len(some) > 0 {
			out = append(out, f)
		}
	}
	return out
}

// alone returns the only source of a storm with one kind of fault, or nil.
func (s *storm) alone(all []*source) *source {
	dice := s.stream("alone")
	if dice.IntN(4) > 0 {
		return nil
	}
	f := pick(dice, all)
	if dice.IntN(2) == 0 {
		f = all[slices.IndexFunc(all, func(f *source) bool { return f.name == "meetings" })]
	}
	k := pick(dice, f.kinds)
	if !has(k.class) {
		return nil
	}
	f.rng, f.kinds = s.stream(f.name), []kind{k}
	return f
}

func (s *storm) source(f *source) {
	for s.sleep(some(f.rng, 0, f.every)) {
		f.kinds[f.rng.IntN(len(f.kinds))].make(f.rng)
	}
}

// spare keeps faults away from things for a while.
func (s *storm) spare(d time.Duration, things ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, it := range things {
		s.guarded[it] = max(s.guarded[it], s.Now()+d)
	}
}

func (s *storm) spared(it any) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Now() < s.guarded[it]
}

// pair is a redlockd and a server, and the way between them.
type pair struct {
	node   *node
	server *fakeredis.Server
}

// present returns the servers that the masters of the list are now.
func (s *storm) present() []*fakeredis.Server {
	s.Lock()
	defer s.Unlock()
	var out []*fakeredis.Server
	for _, p := range s.list() {
		out = append(out, p.leads())
	}
	return out
}

func pick[T any](rng *rand.Rand, of []T) T { return of[rng.IntN(len(of))] }

// ways returns some of the ways between redlockd and servers: one, all of a redlockd,
// all of a server, or any.
func (s *storm) ways(rng *rand.Rand) []pair {
	n, f, which := pick(rng, s.nodes), pick(rng, s.present()), rng.IntN(5)
	var out []pair
	for _, m := range s.nodes {
		for _, g := range s.present() {
			if m == n && g == f || which == 1 && m == n && rng.IntN(4) > 0 || which == 2 && g == f || which == 3 && rng.IntN(3) == 0 {
				if !s.spared(pair{m, g}) {
					out = append(out, pair{m, g})
				}
			}
		}
	}
	return out
}

func (p pair) String() string { return fmt.Sprintf("%d-%s", p.node.number, p.server.Name) }

// onWires changes some wires for a while.
func (s *storm) onWires(ways []pair, after time.Duration, begin, end func(*fakeredis.Wire)) {
	var wires []*fakeredis.Wire
	for _, p := range ways {
		s.troubled(p.node, p.server, after)
		g := p.node.wiring()
		s.Lock()
		wires = append(wires, g.wire(p.server))
		s.Unlock()
	}
	for _, w := range wires {
		w.Change(func() { begin(w) })
	}
	s.mend(after, func() {
		for _, w := range wires {
			w.Change(func() { end(w) })
		}
	})
}

// cut cuts some ways off: by breaking the connections, or as a firewall that drops
// packets.
func (s *storm) cut(rng *rand.Rand) {
	ways, after, breaks := s.ways(rng), some(rng, 0, 6*time.Second), rng.IntN(2) == 0
	s.tell("cut off: %v for %v", ways, after)
	s.onWires(ways, after, func(w *fakeredis.Wire) {
		if w.Refused++; breaks {
			w.Reset()
			return
		}
		w.There.Stalled++
		w.Back.Stalled++
	}, func(w *fakeredis.Wire) {
		if w.Refused--; !breaks {
			w.There.Stalled--
			w.Back.Stalled--
		}
	})
}

// oneWay lets packets through in one direction only.
func (s *storm) oneWay(rng *rand.Rand) {
	ways, after := s.ways(rng), some(rng, 0, 5*time.Second)
	way := s.oneOf(rng, "cut off one way", ways, after)
	s.onWires(ways, after, func(w *fakeredis.Wire) { way(w).Stalled++ }, func(w *fakeredis.Wire) { way(w).Stalled-- })
}

func (s *storm) oneOf(rng *rand.Rand, what string, ways []pair, after time.Duration) func(*fakeredis.Wire) *fakeredis.Direction {
	if rng.IntN(2) == 0 {
		s.tell("%s, there: %v for %v", what, ways, after)
		return func(w *fakeredis.Wire) *fakeredis.Direction { return &w.There }
	}
	s.tell("%s, back: %v for %v", what, ways, after)
	return func(w *fakeredis.Wire) *fakeredis.Direction { return &w.Back }
}

// delay makes one direction slow, often longer than timeout.
func (s *storm) delay(rng *rand.Rand) {
	ways, after := s.ways(rng), some(rng, 0, 4*time.Second)
	by := time.Duration(float64(s.nodes[0].config().Timeout) * (0.5 + rng.Float64()))
	way := s.oneOf(rng, fmt.Sprintf("%v longer", by), ways, after)
	s.onWires(ways, after, func(w *fakeredis.Wire) { way(w).Delay += by }, func(w *fakeredis.Wire) { way(w).Delay -= by })
}

func (s *storm) reset(rng *rand.Rand) {
	ways := s.ways(rng)
	s.tell("connections break: %v", ways)
	s.onWires(ways, 0, (*fakeredis.Wire).Reset, func(*fakeredis.Wire) {})
}

// freeze makes a redlockd stand still.
func (s *storm) freeze(rng *rand.Rand) { s.freezeFor(rng, some(rng, 0, 4*time.Second), true) }

// suspend stops its clock as well, like a host that sleeps.
func (s *storm) suspend(rng *rand.Rand) { s.freezeFor(rng, some(rng, 0, 4*time.Second), false) }

func (s *storm) freezeFor(rng *rand.Rand, d time.Duration, counts bool) {
	n := pick(rng, s.nodes)
	if s.spared(n) || !n.freeze() {
		return
	}
	s.tell("redlockd %d stands still for %v, which its clock counts: %v", n.number, d, counts)
	s.mend(d, func() { n.thaw(counts) })
}

// restart ends some redlockd, and starts another one.
func (s *storm) restart(rng *rand.Rand) {
	if n := pick(rng, s.nodes); !s.spared(n) {
		s.begins(n, some(rng, 0, time.Second), s.shape.setting(rng, true))
	}
}

// begins ends a redlockd as a crash does, and starts another one after a time.
func (s *storm) begins(n *node, down time.Duration, cfg cluster.Config) {
	select {
	case n.turn <- struct{}{}:
	default:
		return
	}
	s.tell("redlockd %d ends", n.number)
	s.begun.Store(max(s.begun.Load(), int64(cfg.Settings().Padding())))
	n.crashed++
	s.troubled(n, nil, down)
	n.crash()
	s.mend(down, func() {
		defer func() { <-n.turn }()
		n.mu.Lock()
		n.cfg = cfg
		n.mu.Unlock()
		s.tell("redlockd %d is started: timeout %v, max_ttl %v", n.number, n.cfg.Timeout, n.cfg.MaxTTL)
		n.boot()
	})
}
