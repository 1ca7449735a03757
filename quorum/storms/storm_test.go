package storms

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum/fakeredis"
)

var (
	storms     = flag.Int("storms", 2, "how many random schedules of faults TestStorm tries")
	firstStorm = flag.Uint64("storm", 0, "the seed of the first of them; 0 is a random one")
	stormLasts = flag.Duration("lasts", 6*time.Second, "how long each of them lasts, in virtual time")
	leftOut    = flag.String("without", "", "what storms do without, by commas: "+strings.Join(slices.Sorted(maps.Keys(classes)), ", "))
	wholeStory = flag.Bool("story", false, "tell the whole story of a storm, also where nothing is wrong")
)

// TestStorm runs random schedules of faults: of masters, networks and
// redlockd, with clocks that step and changes of the list of masters, while clients
// take, extend, read and release locks. It checks that no two clients hold a lock at a
// time (P1), and that no client is answered that another one has it unless that may be
// so (P4). After the faults locks can be taken again (P3), and no copies are left (P5).
// For a night of it: make storms STORMS=10000.
func TestStorm(t *testing.T) {
	first := *firstStorm
	if first == 0 {
		first = rand.Uint64N(1e9) + 1
	}
	excuses := map[string]int{}
	for i := range *storms {
		seed := first + uint64(i)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStorm(t, seed)
				s.rage(*stormLasts)
				for name, n := range s.judge.counts {
					excuses[name] += n
				}
			})
		})
	}
	for _, name := range slices.Sorted(maps.Keys(excuses)) {
		t.Logf("%8d %s", excuses[name], name)
	}
}

// storm is a cluster under faults, with its clients.
type storm struct {
	*fakeredis.World
	t       *testing.T
	seed    uint64
	shape   shape
	judge   *witness
	joined  members
	sighted map[sighting]string // of locks in hashes
	busy    string              // what most clients do

	servers []*fakeredis.Server // all there are, also those on no list
	nodes   []*node
	// file is the list of masters that all redlockd are to have.
	file []site
	// generation is the number of the latest list, lastName the last number in the name
	// of a new master.
	generation, lastName int
	// before is the list before the last change, nil if there was none.
	before []site
	// emptied are the masters of another list that were emptied after the calm.
	emptied map[string]bool
	// restarted reports whether a redlockd was started with the new file after the calm.
	restarted bool
	// guarded is until when something is kept free of faults, so that the assumptions
	// of the rules hold.
	guarded map[any]time.Duration
	// begun is the greatest padding, in nanoseconds, of a redlockd that was started with settings
	// of its own.
	begun  atomic.Int64
	mended sync.WaitGroup
	// troubles are the faults so far.
	troubles []trouble
	stop     chan struct{}
	calls    sync.WaitGroup

	mu    sync.Mutex
	story []string
}

func newStorm(t *testing.T, seed uint64) *storm {
	s := &storm{t: t, seed: seed, World: fakeredis.NewWorld(), emptied: map[string]bool{}, guarded: map[any]time.Duration{}, stop: make(chan struct{}), generation: 1}
	s.judge = newWitness(s)
	s.joined.ends, s.sighted = map[string]time.Duration{}, map[sighting]string{}
	s.shape, s.busy = drawShape(s.stream("shape")), s.drawBusy()
	return s
}

// stream returns the random numbers of one actor.
func (s *storm) stream(actor string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(actor))
	return rand.New(rand.NewPCG(s.seed, h.Sum64()))
}

func (s *storm) tell(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.story = append(s.story, fmt.Sprintf("%9.4f ", s.Now().Seconds())+fmt.Sprintf(format, args...))
}

func (s *storm) fail(format string, args ...any) {
	s.tell("FAIL "+format, args...)
	s.t.Errorf(format, args...)
}

// confess logs the story of a storm that failed.
func (s *storm) confess() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.t.Failed() && !*wholeStory {
		return
	}
	s.t.Logf("%s", s.shape.String())
	for _, line := range s.story {
		s.t.Log(line)
	}
}

// rage makes faults for a while, and then checks the state that is left.
func (s *storm) rage(d time.Duration) {
	defer s.end()
	s.build()
	time.Sleep(4 * time.Second)
	var clients sync.WaitGroup
	for i := range 6 {
		c := &client{storm: s, number: i, rng: s.stream(fmt.Sprint("client", i))}
		clients.Go(c.live)
	}
	var faults sync.WaitGroup
	for _, f := range s.sources() {
		faults.Go(func() { s.source(f) })
	}
	time.Sleep(d)
	close(s.stop)
	faults.Wait()
	clients.Wait()
	s.mended.Wait()
	s.calls.Wait()
	s.calm()
}

// end stops everything, so that the bubble can end.
func (s *storm) end() {
	defer s.confess()
	for _, n := range s.nodes {
		n.end()
	}
	s.Lock()
	for _, f := range s.servers {
		f.Dispose()
	}
	s.Unlock()
	time.Sleep(15 * time.Second) // the background goroutines of rueidis end
	synctest.Wait()
}

// sleep waits for a while, and returns false if the storm ends or has failed.
func (s *storm) sleep(d time.Duration) bool {
	select {
	case <-s.stop:
		return false
	case <-time.After(d):
		return !s.t.Failed()
	}
}

// mend calls undo after a time.
func (s *storm) mend(after time.Duration, undo func()) {
	s.mended.Go(func() {
		time.Sleep(after)
		undo()
	})
}

// patient returns a context with a limit after which a storm gives up.
func patient(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), d)
}

// some returns a random duration between two.
func some(rng *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(rng.Int64N(int64(most-least)+1))
}
