package quorum

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

var (
	storms     = flag.Int("storms", 1, "how many random schedules of faults TestStorm tries")
	firstStorm = flag.Uint64("storm", 0, "the seed of the first of them; 0 is a random one")
	stormLasts = flag.Duration("lasts", 6*time.Second, "how long each of them lasts, in virtual time")
)

// TestStorm: random faults of masters, networks and redlockd, among them clocks
// that step, while clients take, extend, read and release. No two hold a lock at
// a time, and no holder hears that it has none (P1, P4); when all is well again
// locks are taken (P3), and nothing is left (P5). One redlockd watches all of the
// time, so that each step is seen. For a night of it: go test ./quorum -run
// TestStorm -timeout 0 -args -storms 10000 -lasts 30s.
func TestStorm(t *testing.T) {
	first := *firstStorm
	if first == 0 {
		first = rand.Uint64N(1e9) + 1
	}
	for i := range *storms {
		seed := first + uint64(i)
		n := []int{3, 5}[seed%2]
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			change := func(cfg *Config) { cfg.MaxTTL = 5 * time.Second }
			inBubbleWith(t, n, change, func(c *cluster) {
				s := &storm{cluster: c, rng: rand.New(rand.NewPCG(seed, uint64(n))), held: map[string]*holding{}}
				s.rage(*stormLasts)
			})
		})
	}
}

// storm is a cluster under faults, with its clients.
type storm struct {
	*cluster
	dice  sync.Mutex
	rng   *rand.Rand // of those that make the faults
	nodes []*node
	// mended are the faults that are not yet.
	mended sync.WaitGroup

	mu sync.Mutex
	// passed is what has passed beside virtual time, see leap.
	passed time.Duration
	held   map[string]*holding
	late   []*fakeMaster // stepped back, so that what they hold lives longer
	story  []string
}

// holding is what a client was told.
type holding struct {
	token       string
	until, sure time.Time // by the reply, and by the request, as reads tell it
}

func (s *storm) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.passed)
}

func (s *storm) tell(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.story = append(s.story, time.Now().Add(s.passed).Format("05.000 ")+fmt.Sprintf(format, args...))
}

func (s *storm) fail(format string, args ...any) {
	s.tell(format, args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.story[max(0, len(s.story)-60):] {
		s.t.Log(line)
	}
	s.t.Errorf(format, args...)
}

// rage makes faults for a while, and then looks at what is left.
func (s *storm) rage(d time.Duration) {
	direct := s.cfg.Masters
	for i := range 2 + s.n(3) {
		n := &node{cfg: direct}
		s.cfg.Masters = direct
		for m := range direct {
			n.links = append(n.links, s.throughLink(m))
		}
		if i > 0 { // the first one is never cut off
			n.cfg = s.cfg.Masters
		}
		s.nodes = append(s.nodes, n)
		s.boot(n)
	}
	s.stop(s.q)
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for i := range 6 {
		rng := rand.New(rand.NewPCG(s.rng.Uint64(), 0))
		clients.Go(func() { s.client(i, rng, stop) })
	}
	time.Sleep(2 * time.Second)
	for began := time.Now(); time.Since(began) < d && !s.t.Failed(); {
		time.Sleep(time.Duration(s.n(500)) * time.Millisecond)
		s.fault()
	}
	close(stop)
	clients.Wait()
	s.mended.Wait()
	s.calm()
}

// calm wants that all is well some time after the last fault.
func (s *storm) calm() {
	if s.t.Failed() {
		return
	}
	for _, n := range s.nodes {
		open(n.q.Load(), 3) // a quarantine passes while somebody watches
	}
	time.Sleep(20 * time.Second)
	for i, n := range s.nodes {
		for _, db := range []int{0, 3} {
			k := acquire(fmt.Sprint("calm", i), "t", time.Second)
			k.DB = db
			if o := do(n.q.Load(), k); o.Verdict != Won {
				s.fail("redlockd %d, database %d: %v %v, want won", i, db, o.Verdict, o.Err)
			}
		}
	}
	time.Sleep(3 * time.Second)
	for _, f := range s.masters {
		for _, db := range []int{0, 3} {
			f.Select(db)
			if slices.Contains(s.late, f) {
				continue
			}
			if left := slices.DeleteFunc(f.Keys(), func(k string) bool { return k == MarkKey }); len(left) > 0 {
				s.fail("master %s, database %d: %q are left", f.name, db, left)
			}
		}
	}
}

// client takes one of a few locks again and again.
func (s *storm) client(number int, rng *rand.Rand, stop chan struct{}) {
	for round := 0; ; round++ {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(rng.IntN(60)) * time.Millisecond):
		}
		lock := Op{Key: []string{"k", "l"}[rng.IntN(2)], Token: fmt.Sprint(number, "-", round),
			TTL: time.Duration(200+rng.IntN(4000)) * time.Millisecond}
		if rng.IntN(4) == 0 {
			lock.DB = 3
		}
		if rng.IntN(3) == 0 {
			s.read(lock, rng)
			continue
		}
		lock.Kind = Acquire
		for s.ask(lock, rng) && rng.IntN(4) > 0 {
			time.Sleep(time.Duration(rng.Int64N(int64(lock.TTL) * 9 / 10)))
			lock.Kind = Extend
		}
		if lock.Kind = Release; rng.IntN(3) == 0 {
			s.mu.Lock()
			if h := s.held[lock.id()]; h != nil && h.token == lock.Token {
				delete(s.held, lock.id())
			}
			s.mu.Unlock()
			do(s.nodes[s.any(rng)].q.Load(), lock)
		}
	}
}

// id names the lock of an operation.
func (op *Op) id() string { return fmt.Sprint(op.DB, op.Key) }

// any is a redlockd that clients go to: not the one that watches, which would
// see every step at once.
func (s *storm) any(rng *rand.Rand) int { return 1 + rng.IntN(len(s.nodes)-1) }

// ask takes or extends a lock, and is whether the client was told that it has
// it.
func (s *storm) ask(op Op, rng *rand.Rand) bool {
	at := s.any(rng)
	sent, leapt := s.now(), s.leapt()
	o := do(s.nodes[at].q.Load(), op)
	if o.Verdict == Won {
		if rng.IntN(4) == 0 {
			time.Sleep(time.Duration(rng.Int64N(int64(s.cfg.stay()))))
		}
		if o.Confirm() != nil {
			return false
		}
		o.Told()
	}
	now := s.now()
	s.mu.Lock()
	h := s.held[op.id()]
	has := h != nil && now.Before(h.until)
	if o.Verdict == Won {
		h := &holding{token: op.Token, until: now.Add(op.TTL), sure: sent.Add(op.TTL*98/100 - 50*time.Millisecond)}
		if s.passed != leapt {
			h.until = h.sure // no clock of redlockd's tells how late its OK is
		}
		s.held[op.id()] = h
	}
	s.mu.Unlock()
	s.tell("%s %v by %s at redlockd %d: %v", op.id(), op.Kind, op.Token, at, o.Verdict)
	switch {
	case o.Verdict == Won && has && h.token != op.Token:
		s.fail("%s: %s has it, and %s until %v", op.id(), op.Token, h.token, h.until)
	case op.Kind == Extend && (o.Verdict == Held || o.Verdict == Absent) && has && h.token == op.Token:
		s.fail("%s: %s is told %v, and has it until %v", op.id(), op.Token, o.Verdict, h.until)
	}
	return o.Verdict == Won
}

// read reads a lock, and finds its holder.
func (s *storm) read(op Op, rng *rand.Rand) {
	op.Kind = Read
	at := s.any(rng)
	holder := func() string {
		now := s.now()
		s.mu.Lock()
		defer s.mu.Unlock()
		if h := s.held[op.id()]; h != nil && now.Before(h.sure) {
			return h.token
		}
		return ""
	}
	before := holder()
	o := do(s.nodes[at].q.Load(), op)
	if after := holder(); before == "" || before != after {
		return
	}
	if o.Verdict == Absent || o.Verdict == Held && o.State.Token != before {
		s.fail("%s at redlockd %d: a read finds %v %q, and %s has it", op.id(), at, o.Verdict, o.State.Token, before)
	}
}
