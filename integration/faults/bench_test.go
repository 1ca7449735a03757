package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// bench is one run: servers, clients, and the history of what they were told.
type bench struct {
	tb   testing.TB
	seed uint64
	plan
	window    time.Duration // the greatest hold, and a little
	slots     int
	masters   []*master
	redlockds []*redlockd
	// doors are where clients ask: the redlockd, and an old Redis if there is
	// one.
	doors    []*redlockd
	h        *history
	grants   atomic.Int64
	keys     []slotKey
	over     atomic.Bool
	k        keeper
	names    int // of masters, given so far
	executed *executed
	growth   growth
	// table counts the answers by their causes, and certain the holders.
	table   *table
	certain atomic.Int64
	calls   atomic.Int64
	// process numbers the processes of the redlockd that is the one door: each
	// counts as another redlockd (P1), so it has keys of its own.
	process atomic.Int64
	// watched is the redlockd that lives as long as a long run, so that what it
	// uses can be compared; -1 in a short one.
	watched  int
	watchers sync.WaitGroup
	// moved tells the old clients to stop, and oldClients waits for them.
	moved      atomic.Bool
	oldClients sync.WaitGroup
}

// plan is what differs from one bench to the other.
type plan struct {
	// length is how long faults are drawn, and four times as long where until
	// then the run has not shown what it must (TestFaults); 0 where something
	// else ends it.
	length         time.Duration
	clients        int
	redlockds      int
	minTTL, maxTTL time.Duration
	// clocks is whether some of the masters have clocks of their own.
	clocks bool
	// old is how many of the clients still ask the first master directly,
	// which is the required one (V11).
	old int
	// differ is whether the last redlockd has other settings than the rest, as
	// in a rolling restart: a shorter timeout and a shorter greatest TTL.
	differ bool
	// each adds to the configuration of each redlockd, if it is not nil.
	each func(n int, cfg *rig.Config)
}

// slotKey is the name of a key in use. A new one is taken every few dozen
// calls, so that histories are short.
type slotKey struct {
	sync.Mutex
	n, uses int
	since   time.Duration
	process int64
}

const (
	oneDoorIs  = 0  // the redlockd that is the one door
	anyProcess = -1 // of it
	keyUses    = 250
	keyLife    = 8 * time.Second
)

// key is the one of a slot, and the process that it is for if there is one
// door.
func (b *bench) key(slot int) (name string, process int64) {
	k := &b.keys[slot]
	k.Lock()
	defer k.Unlock()
	now := b.process.Load()
	if k.uses++; k.uses > keyUses || b.h.now()-k.since > keyLife || k.process != now && b.manner(slot) == oneDoor {
		k.n, k.uses, k.since, k.process = k.n+1, 1, b.h.now(), now
	}
	if b.manner(slot) != oneDoor {
		return fmt.Sprintf("key-%d-%d", slot, k.n), anyProcess
	}
	return fmt.Sprintf("key-%d-%d", slot, k.n), now
}

// manner is how clients use a slot's keys.
func (b *bench) manner(slot int) manner {
	switch n := slot % 10; {
	case b.old > 0:
		return unique
	case n == 2:
		return unreleased
	case n == 5:
		return oneDoor
	case n == 3:
		return again
	case n == 4:
		return lasting
	case n == 6:
		return watching
	case n == 7 && has("members"):
		return together
	case n == 8:
		return comesBack
	case n == 9 && has("hashes"):
		return counted
	default:
		return unique
	}
}

// has reports whether the bench has clients of a kind, which WITHOUT may leave out: setget is SET
// NX GET, hashes are locks in hashes, members are several in one string.
func has(class string) bool { return !strings.Contains(","+os.Getenv("WITHOUT")+",", ","+class+",") }

func (b *bench) nextGrant() int { return int(b.grants.Add(1)) }

// ended reports whether nothing more is to be done.
func (b *bench) ended() bool { return b.over.Load() || b.tb.Failed() }

// number is one of the environment.
func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// seed is that of the run; SEED repeats one.
func seed() uint64 { return uint64(number("SEED", int(rand.Uint32()))) }

func newBench(t *testing.T, seed uint64, p plan) *bench {
	b := &bench{tb: t, seed: seed, plan: p, h: newHistory(), executed: newExecuted(t)}
	b.slots = b.clients / 2
	b.keys = make([]slotKey, b.slots)
	// Holds end at 2 s or at 5 s, the steps of a mark's greatest hold (M3).
	b.window = 3 * time.Second
	if b.maxTTL > 1100*time.Millisecond {
		b.window = 6 * time.Second
	}
	b.k = newKeeper(t)
	clock := ""
	if b.clocks {
		clock = clockLibrary(b.k)
	}
	for i, fsync := range []string{"always", "always", "always", "everysec", ""} {
		lib := ""
		if i >= 2 {
			lib = clock
		}
		b.masters = append(b.masters, b.newMaster(fsync, lib))
	}
	b.watched = -1
	if b.length >= longRun {
		b.watched = b.plan.redlockds
		b.plan.redlockds++
	}
	for n := range b.plan.redlockds {
		b.redlockds = append(b.redlockds, b.newRedlockd(n))
	}
	b.doors = b.redlockds
	if b.old > 0 {
		b.doors = append(slices.Clone(b.redlockds), &redlockd{addr: b.masters[0].Addr})
	}
	t.Logf("SEED=%d, %v, %d redlockd (one with other settings: %v), %d clients, TTLs from %v to %v", b.seed, b.length, len(b.redlockds),
		b.differ, b.clients, b.minTTL, b.maxTTL)
	return b
}

// run lets the clients work while disturb does, and reads what they were told.
func (b *bench) run(disturb func()) {
	b.waitWell()
	b.growth.begin(b.redlockds)
	b.h.began = time.Now()
	var names []string
	for i, m := range b.masters {
		names = append(names, m.name)
		b.follow(m)
		b.watchMaster(i, m.Master)
	}
	for n, r := range b.redlockds {
		b.watchRedlockd(r)
		b.watchers.Go(func() { b.watchVoting(n, names) })
	}
	var clients sync.WaitGroup
	clients.Go(b.watchItself)
	for i := range b.clients {
		if i < b.old {
			b.oldClients.Go(newClient(b, i, true).run)
			continue
		}
		clients.Go(newClient(b, i, false).run)
	}
	clients.Go(b.watchGrowth)
	disturb()
	b.over.Store(true)
	b.oldClients.Wait()
	clients.Wait()
	b.watchers.Wait()
	b.waitWell()
	b.wantNothingLeft()
	b.executed.finish()
	b.check()
	b.wantNoGrowth()
}

// waitWell waits until a lock taken through each redlockd is on all masters.
func (b *bench) waitWell() {
	var masters []*rig.Master
	for _, m := range b.masters {
		masters = append(masters, m.Master)
	}
	for _, r := range b.redlockds {
		r.WaitVoting(masters...)
	}
}
