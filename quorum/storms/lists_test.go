package storms

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/redlockd/redlockd/quorum/fakeredis"
	"github.com/redlockd/redlockd/quorum/vote"
)

// maxServers bounds the number of servers in a storm.
const maxServers = 14

// files returns the list in a redlockd's file.
func (n *node) files() []site {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.file
}

// reload gives a redlockd a list, as a changed file and a SIGHUP do.
func (n *node) reload(list []site) {
	n.turn <- struct{}{}
	defer func() { <-n.turn }()
	n.mu.Lock()
	n.file = list
	n.known = append(n.known, list...)
	q, g := n.q, n.wires
	n.mu.Unlock()
	n.troubled(n, nil, 0)
	if q == nil {
		return
	}
	if err := q.ChangeMasters(n.masters(g, list)); err != nil {
		n.tell("redlockd %d: %v", n.number, err)
	}
}

// reloadAll gives all redlockd the list, one after the other, some of them late.
func (s *storm) reloadAll(rng *rand.Rand, list []site, within time.Duration) {
	s.mu.Lock()
	s.file = list
	s.mu.Unlock()
	nodes := slices.Clone(s.nodes)
	rng.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	for i, n := range nodes {
		late := some(rng, 0, within)
		if i > 0 && rng.IntN(5) == 0 {
			late += 12 * time.Second
		}
		time.Sleep(late / time.Duration(len(nodes)))
		s.tell("redlockd %d is reloaded", n.number)
		n.reload(list)
	}
}

// listChanges reports whether the list of masters was changed and not all redlockd have
// the new one as final.
func (s *storm) listChanges() bool {
	s.mu.Lock()
	changed := s.generation > 1
	s.mu.Unlock()
	return changed && !s.settledList()
}

// settledList reports whether all redlockd have the latest list as final.
func (s *storm) settledList() bool {
	s.mu.Lock()
	generation := s.generation
	s.mu.Unlock()
	for _, n := range s.nodes {
		q, _ := n.running()
		if q == nil {
			return false
		}
		if st := q.Status(); st.Phase != "final" || st.Generation != generation {
			return false
		}
	}
	return true
}

// nextList replaces the list of all files with the next one, and returns false if another
// actor of the storm has just done so.
func (s *storm) nextList(before, list []site) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.file, before) {
		return false
	}
	s.before, s.file = before, list
	s.generation++
	return true
}

// changeList adds, removes or replaces a master.
func (s *storm) changeList(rng *rand.Rand) {
	list, before := s.list(), s.list()
	s.Lock()
	full := len(s.servers) >= maxServers
	s.Unlock()
	if !s.settledList() || full {
		return
	}
	out := -1
	if rng.IntN(3) > 0 && len(list) > 1 {
		if out = rng.IntN(len(list)); s.shape.required && list[out].master == "a" {
			return
		}
	}
	if out < 0 && len(list) >= 7 {
		return
	}
	if out >= 0 {
		s.tell("the list: %s goes", list[out].master)
		list = slices.Delete(list, out, out+1)
	}
	if out < 0 || rng.IntN(2) == 0 || len(list) == 0 {
		s.lastName++
		name := fmt.Sprint("m", s.lastName)
		s.tell("the list: %s comes", name)
		list = append(list, s.place(name, s.server(name)))
	}
	if s.nextList(before, list) {
		s.reloadAll(rng, list, s.nodes[0].config().Handover*8/10)
	}
}

// successor returns another server for a master: an empty one, or one with the memory
// of the first, which then ends for good. Nothing protects a single master against two
// servers under its name (M9), so its first server always ends.
func (s *storm) successor(rng *rand.Rand, p site) *fakeredis.Server {
	s.Lock()
	before, full := p.leads(), len(s.servers) >= maxServers
	s.Unlock()
	if full || s.spared(before) {
		return nil
	}
	f := s.server(fmt.Sprint(before.Name, "'"))
	if rng.IntN(3) == 0 || len(s.list()) == 1 {
		s.Lock()
		f.TakeOver(before)
		s.Unlock()
		s.tell("master %s: server %s ends, %s has what it had", p.master, before.Name, f.Name)
	}
	return f
}

// changeAddress moves a master to another server by its address in the files.
func (s *storm) changeAddress(rng *rand.Rand) {
	list := s.list()
	at := rng.IntN(len(list))
	if f := s.successor(rng, list[at]); f != nil {
		s.tell("master %s moves to the address of %s", list[at].master, f.Name)
		list[at] = site{master: list[at].master, address: f.Name + ":1", to: f}
		s.reloadAll(rng, list, 3*time.Second)
	}
}

// moveName moves a name to another server. Existing connections stay.
func (s *storm) moveName(rng *rand.Rand) {
	list := s.list()
	p := list[rng.IntN(len(list))]
	if p.moving == nil {
		return
	}
	if f := s.successor(rng, p); f != nil {
		s.tell("the name of master %s leads to %s now", p.master, f.Name)
		s.Lock()
		*p.moving = f
		s.Unlock()
	}
}

// shrink takes a master off a list of an even number, so that the new majority is less
// than the old one. Meanwhile all redlockd but one reach only the new majority, so that
// the one which is reloaded last may count by the old list what they grant (M8).
func (s *storm) shrink(rng *rand.Rand) {
	list, servers := s.list(), s.present()
	out := rng.IntN(len(list))
	if len(list)%2 == 1 || len(list) < 4 || !s.settledList() || s.shape.required && list[out].master == "a" {
		return
	}
	last := pick(rng, s.nodes)
	if servers = slices.Delete(servers, out, out+1); s.spared(last) {
		return
	}
	var ways []pair
	for _, f := range servers[vote.Majority(len(servers)):] {
		for _, n := range s.nodes {
			if p := (pair{n, f}); n != last && !s.spared(p) {
				ways = append(ways, p)
			}
		}
	}
	s.tell("the list: %s goes; cut off: %v; redlockd %d is reloaded last", list[out].master, ways, last.number)
	if !s.nextList(list, slices.Delete(slices.Clone(list), out, out+1)) {
		return
	}
	handover := s.nodes[0].config().Handover
	s.onWires(ways, 2*handover, func(w *fakeredis.Wire) { w.Refused++; w.Reset() }, func(w *fakeredis.Wire) { w.Refused-- })
	for _, n := range s.nodes {
		if n != last {
			n.reload(s.list())
		}
	}
	s.sleep(handover * 8 / 10)
	last.reload(s.list())
}
