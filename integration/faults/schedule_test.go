package faults

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// schedule draws faults. A master or a redlockd has one fault at a time; of
// the masters two at most are away or in quarantine, unless a fault says
// otherwise, and two at most lose their memory within the greatest hold (P1).
type schedule struct {
	b *bench
	// rng is what a fault draws its details from, anew for each; pick draws
	// which faults there are, when, and of whom.
	rng, pick *rand.Rand
	// now is the fault that is being prepared, and only whom it must take, if
	// it is repeated.
	now, only *carried

	mu    sync.Mutex
	busy  []bool      // masters
	until []time.Time // when their quarantine is over
	taken []bool      // redlockds
	ran   map[string]int
	// few are the faults that come at any time, all those that need all
	// masters and come in turns of their own; over ends it.
	few, all []kind
	over     func() bool
	wg       sync.WaitGroup
}

func newSchedule(b *bench) *schedule {
	return &schedule{b: b, pick: rand.New(rand.NewPCG(b.seed, 1<<40)), now: &carried{}, busy: make([]bool, len(b.masters)),
		until: make([]time.Time, len(b.masters)), taken: make([]bool, len(b.redlockds)), ran: map[string]int{},
		few: kinds(), all: whole(), over: b.ended}
}

func (s *schedule) count(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ran[name]++
}

func (s *schedule) counted(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ran[name]
}

func (s *schedule) index(m *master) int {
	for i, o := range s.b.masters {
		if o == m {
			return i
		}
	}
	panic("no such master")
}

func (s *schedule) isFree(i int) bool { return !s.busy[i] && time.Now().After(s.until[i]) }

func (s *schedule) mastersFree() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.busy {
		if !s.isFree(i) {
			return false
		}
	}
	return true
}

func (s *schedule) allFree() bool {
	if s.only != nil {
		return true
	}
	free := s.mastersFree()
	s.mu.Lock()
	defer s.mu.Unlock()
	return free && !slices.Contains(s.taken, true)
}

// takeMasters draws n free masters, the last of which has what is asked for.
// It returns nil where too many would be away. An ambush takes three: two of
// them are back before the third goes.
func (s *schedule) takeMasters(n int, has func(*master) bool) []*master {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.only != nil {
		n = min(n, len(s.only.masters))
		out := s.takeThese(s.only.masters[:n])
		s.only.masters = s.only.masters[n:]
		return out
	}
	var free, all []int
	for i := range s.busy {
		if s.isFree(i) {
			all = append(all, i)
			if has == nil || has(s.b.masters[i]) {
				free = append(free, i)
			}
		}
	}
	away := len(s.busy) - len(all)
	if len(free) < n || n < 3 && away+n > 2 || n >= 3 && away > 0 {
		return nil
	}
	s.pick.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
	s.now.masters = append(s.now.masters, free[:n]...)
	return s.takeThese(free[:n])
}

func (s *schedule) takeThese(list []int) (out []*master) {
	for _, i := range list {
		s.busy[i] = true
		out = append(out, s.b.masters[i])
	}
	return out
}

// free gives masters back; for a while they still may be in quarantine.
func (s *schedule) free(ms []*master, quarantine time.Duration) {
	for _, m := range ms {
		i := s.index(m)
		s.mu.Lock()
		s.busy[i] = false
		s.until[i] = time.Now().Add(quarantine)
		s.mu.Unlock()
	}
}

func (s *schedule) takeRedlockd() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.pick.IntN(len(s.taken))
	if s.only != nil {
		if len(s.only.redlockds) == 0 {
			return -1
		}
		n, s.only.redlockds = s.only.redlockds[0], s.only.redlockds[1:]
	}
	if s.taken[n] {
		return -1
	}
	s.taken[n] = true
	s.now.redlockds = append(s.now.redlockds, n)
	return n
}

func (s *schedule) freeRedlockd(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken[n] = false
}

// run draws faults until it is over, and waits for their ends. Now and then it
// is the turn of a fault that needs all masters: until those are free only
// redlockd are disturbed.
func (s *schedule) run() {
	var turn time.Time
	few, all := bag{kinds: s.few}, bag{kinds: s.all}
	for !s.over() {
		due := len(s.all) > 0 && time.Now().After(turn)
		switch {
		case due && s.begin(&all):
			turn = time.Now().Add(s.b.window + time.Second)
		case due && !s.mastersFree():
			if s.pick.IntN(4) == 0 {
				s.begin(&bag{kinds: []kind{{"freeze redlockd", 1, freezeRedlockd}}})
			}
		case due: // until the redlockd are free, too
		default:
			s.begin(&few)
		}
		time.Sleep(20*time.Millisecond + rand64(s.pick, 150*time.Millisecond))
	}
	s.wg.Wait()
}

// begin draws a fault and runs it, or puts it back where what it needs is not
// free.
func (s *schedule) begin(from *bag) bool {
	k := from.draw(s.pick)
	if !s.carryOut(k, s.pick.Uint64()) {
		from.left = append(from.left, k)
		return false
	}
	return true
}

// carryOut runs a fault, with draws of its own, and records it, or returns
// false where what it needs is not free.
func (s *schedule) carryOut(k kind, draws uint64) bool {
	s.rng = rand.New(rand.NewPCG(draws, 0))
	s.now = &carried{at: s.b.h.now(), kind: k.name, draws: draws}
	f := k.prepare(s)
	if f == nil {
		return false
	}
	s.b.record(*s.now)
	s.count(k.name)
	s.wg.Go(f)
	return true
}

// bag is drawn from without putting back, so that every kind has its turn.
type bag struct{ kinds, left []kind }

func (b *bag) draw(rng *rand.Rand) kind {
	if len(b.left) == 0 {
		for _, k := range b.kinds {
			for range k.weight {
				b.left = append(b.left, k)
			}
		}
	}
	i := rng.IntN(len(b.left))
	k := b.left[i]
	b.left = append(b.left[:i], b.left[i+1:]...)
	return k
}
