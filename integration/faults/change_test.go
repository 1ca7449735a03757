package faults

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// replaceMaster changes the list of masters (M8), while one of them or a
// redlockd may stand still.
func replaceMaster(s *schedule) func() {
	if !s.allFree() {
		return nil
	}
	ms := s.takeMasters(len(s.b.masters), nil)
	s.takeAllRedlockd(true)
	rng := rand.New(rand.NewPCG(s.rng.Uint64(), 0))
	return func() {
		s.b.replace(rng, s.index(ms[0]), ms[1])
		s.takeAllRedlockd(false)
		s.free(ms, 0)
	}
}

// replace puts a new, empty server in the place of a master, as
// docs/operations.md says, with the redlockd reloaded at moments of their own,
// some of them after the old list is closed. If there is a bystander, it or a
// redlockd may stand still meanwhile.
func (b *bench) replace(rng *rand.Rand, at int, bystander *master) {
	m := b.masters[at]
	old, oldName := m.Master, m.name
	next := b.newMaster(m.fsync, m.clock)
	b.follow(next)
	b.watchMaster(at, next.Master)
	b.h.fault("replace master: %s by %s", oldName, next.name)
	// Until its own reload a redlockd refuses by the list of before, and closed
	// means that too few may be on both lists (M8).
	all5 := make([]int, len(b.masters))
	for i := range all5 {
		all5[i] = i
	}
	change := b.h.begin(trouble{what: "change of masters", redlockd: everyone, masters: all5})
	defer func() { b.h.end(change) }()
	var all sync.WaitGroup
	var oldLinks []*rig.Link
	for n, r := range b.redlockds {
		// The first one is not late: it begins the change.
		late := rand64(rng, handover*3/2)
		if n == 0 {
			late = 0
		}
		link := rig.NewLink(b.k, next.Addr)
		cfg := r.Config
		cfg.Masters, cfg.Names = slices.Clone(cfg.Masters), slices.Clone(cfg.Names)
		cfg.Masters[at], cfg.Names[at] = link.Addr, next.name
		oldLinks = append(oldLinks, r.links[at])
		r.links[at] = link
		all.Go(func() {
			time.Sleep(late)
			b.h.fault("replace master: reload of redlockd %d", n)
			r.Reload(cfg)
		})
	}
	if bystander != nil {
		all.Go(func() { b.standStill(rng, bystander) })
	}
	all.Wait()
	b.waitFinal()
	m.Master, m.name, m.aheadFile, m.ahead, m.copied = next.Master, next.name, next.aheadFile, 0, 0
	b.h.fault("replace master: %s is not needed any more", oldName)
	old.Kill()
	for _, l := range oldLinks {
		l.Cut()
	}
}

// waitFinal waits until a change of the list is over everywhere.
func (b *bench) waitFinal() {
	for n, r := range b.redlockds {
		rig.Eventually(b.tb, "the new list is final", func() (bool, string) {
			phase, number, voting := r.Info("masters_phase"), r.Info("masters_generation"), r.Info("masters_voting")
			return phase == "final" && number == b.redlockds[0].Info("masters_generation") && voting == strconv.Itoa(len(b.masters)),
				fmt.Sprintf("generation %s is %s at redlockd %d, %s masters vote", number, phase, n, voting)
		})
	}
}

// standStill freezes a master or a redlockd, in some of the changes.
func (b *bench) standStill(rng *rand.Rand, m *master) {
	wait, for1 := rand64(rng, handover), 100*time.Millisecond+rand64(rng, handover)
	switch r := b.redlockds[rng.IntN(len(b.redlockds))]; rng.IntN(3) {
	case 0:
		time.Sleep(wait)
		t := b.h.begin(trouble{what: "freeze", redlockd: everyone, masters: []int{slices.Index(b.masters, m)}, late: forever})
		defer func() { b.h.end(t) }()
		b.h.fault("replace master: freeze master %s for %v", m.name, for1)
		m.Freeze()
		time.Sleep(for1)
		m.Thaw()
	case 1:
		time.Sleep(wait)
		b.freeze(r, for1)
	}
}

func (s *schedule) takeAllRedlockd(taken bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := range s.taken {
		s.taken[n] = taken
	}
}
