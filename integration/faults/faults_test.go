package faults

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/redlockd/redlockd/integration/rig"
)

// bench is one run.
type bench struct {
	tb        testing.TB
	seed      uint64
	maxTTL    time.Duration
	window    time.Duration // the greatest hold, and a little
	length    time.Duration
	clients   int
	slots     int
	masters   []*master
	redlockds []*redlockd
	h         *history
	grants    atomic.Int64
	keys      []slotKey
	bare      int // holders on a bare majority, one of which was lost
}

// slotKey is the name of a key in use. A new one is taken every few dozen
// calls, so that histories are short.
type slotKey struct {
	sync.Mutex
	n, uses int
	since   time.Duration
}

const (
	keyUses = 250
	keyLife = 8 * time.Second
)

func (b *bench) key(slot int) string {
	k := &b.keys[slot]
	k.Lock()
	defer k.Unlock()
	if k.uses++; k.uses > keyUses || b.h.now()-k.since > keyLife {
		k.n, k.uses, k.since = k.n+1, 1, b.h.now()
	}
	return fmt.Sprintf("key-%d-%d", slot, k.n)
}

// manner is how clients use a slot's keys.
func (b *bench) manner(slot int) manner {
	switch slot % 6 {
	case 2:
		return unreleased
	case 5:
		return oneDoor
	default:
		return unique
	}
}

func (b *bench) nextGrant() int { return int(b.grants.Add(1)) }

func (b *bench) ended() bool { return b.h.now() > b.length || b.tb.Failed() }

func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

func newBench(t *testing.T) *bench {
	b := &bench{tb: t, seed: uint64(number("SEED", int(rand.Uint32()))), length: 30 * time.Second, clients: 24, h: newHistory()}
	if m := number("MINUTES", 0); m > 0 {
		b.length, b.clients = time.Duration(m)*time.Minute, 64
	}
	b.clients = number("CLIENTS", b.clients)
	b.slots = b.clients / 2
	b.keys = make([]slotKey, b.slots)
	// Holds end at 2 s or at 5 s, the steps of a mark's greatest hold (M3).
	b.maxTTL, b.window = 1100*time.Millisecond, 3000*time.Millisecond
	if b.seed%3 == 0 {
		b.maxTTL, b.window = 4*time.Second, 6000*time.Millisecond
	}
	k := newKeeper(t)
	clock := clockLibrary(k)
	// Those with a clock of their own step and drift.
	for i, fsync := range []string{"always", "always", "everysec", "", ""} {
		lib := ""
		if i >= 2 {
			lib = clock
		}
		b.masters = append(b.masters, newMaster(k, string(rune('a'+i)), fsync, lib))
	}
	for i := range 3 {
		b.redlockds = append(b.redlockds, newRedlockd(k, b.masters, b.maxTTL, i == 0))
	}
	t.Logf("SEED=%d, %v, %d clients, TTLs up to %v", b.seed, b.length, b.clients, b.maxTTL)
	return b
}

// TestFaults is P1, P2, P4 and P5 under everything that happens to real
// masters.
func TestFaults(t *testing.T) {
	b := newBench(t)
	b.waitWell()
	b.h.began = time.Now()
	if os.Getenv("TRACE") != "" {
		b.trace()
	}
	s := newSchedule(b)
	var clients sync.WaitGroup
	clients.Go(b.watchItself)
	for i := range b.clients {
		clients.Go(newClient(b, i).run)
	}
	var memory []int64
	clients.Go(func() {
		for !b.ended() {
			time.Sleep(b.length / 20)
			memory = append(memory, b.redlockds[0].RSS()>>20)
		}
	})
	s.run()
	clients.Wait()
	b.waitWell()
	b.wantNothingLeft()
	b.check(s)
	b.wantCounts(s)
	b.wantBounded(memory)
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

// wantNothingLeft is P5 and P2: the greatest hold later nothing is left. A
// clock that went back a while ago makes its copies last that much longer.
func (b *bench) wantNothingLeft() {
	time.Sleep(b.window)
	for _, m := range b.masters {
		var keys []string
		var err error
		for end := time.Now().Add(greatestStep); ; time.Sleep(100 * time.Millisecond) {
			keys, err = m.Client.Keys(context.Background(), "*").Result()
			if err == nil && len(keys) == 1 && keys[0] == "redlockd:mark" {
				break
			}
			if m.ahead == "" || time.Now().After(end) {
				b.tb.Errorf("when all is over master %s has %q, %v; want only redlockd's mark", m.name, keys, err)
				break
			}
		}
	}
}

// check reads the histories.
func (b *bench) check(s *schedule) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	gate := make(chan struct{}, 2)
	checked, certain, bare := 0, 0, 0
	for _, key := range slices.Sorted(maps.Keys(b.h.keys)) {
		calls := b.h.keys[key]
		slices.SortFunc(calls, func(x, y *call) int { return int(x.sent - y.sent) })
		gate <- struct{}{}
		wg.Go(func() {
			defer func() { <-gate }()
			for _, c := range calls {
				c.frozen = c.frozen || b.h.stoodStill(c.sent, c.got)
			}
			spans := spansOf(calls, bySending)
			mu.Lock()
			checked++
			certain += len(spans)
			for _, sp := range spans {
				if s.onBare(sp) {
					bare++
				}
			}
			mu.Unlock()
			if x, y, found := twoHolders(spansOf(calls, byArrival)); found {
				b.h.violation("TWO HOLDERS of %s, who count from the arrival of their OK:\n  %v\n  %v\n%s", key,
					x.by, y.by, b.story(key, x.start-5*time.Second, y.start+time.Second))
			}
			if x, y, found := twoHolders(spans); found {
				b.h.violation("TWO HOLDERS of %s from %.3f to %.3f:\n  %v\n  %v\n%s", key, y.start.Seconds(),
					min(x.end, y.end).Seconds(), x.by, y.by, b.story(key, y.start-5*time.Second, y.start+time.Second))
			}
			for _, c := range denials(calls, spans) {
				b.h.violation("DENIED while somebody held %s for certain: %v", key, c)
			}
			if r := linearizable(calls, false); r != porcupine.Ok {
				b.h.violation("porcupine: %s is not one lock (%v)\n%s", key, r, b.story(key, 0, time.Hour))
			} else if r := linearizable(calls, true); r != porcupine.Ok {
				b.h.violation("porcupine: %s was refused though nobody held it (%v)\n%s", key, r, b.story(key, 0, time.Hour))
			}
		})
	}
	wg.Wait()
	b.tb.Logf("%d histories; calls: %v", checked, b.h.counts)
	b.tb.Logf("%d times a client was a certain holder, %d of them on a bare majority of which one master was lost", certain, bare)
	b.bare = bare
	for i, v := range b.h.violations {
		if i == 12 {
			b.tb.Errorf("... and %d violations more", len(b.h.violations)-i)
			break
		}
		b.tb.Errorf("SEED=%d: %s", b.seed, v)
	}
}

// story is all that is known about a key in a time.
func (b *bench) story(key string, from, to time.Duration) string {
	var out []string
	for _, c := range b.h.keys[key] {
		if c.got >= from && c.sent <= to {
			out = append(out, c.String())
		}
	}
	if len(b.h.keys[key]) > 0 {
		calls := b.h.keys[key]
		out = append(out, b.h.near(max(from, calls[0].sent), min(to, calls[len(calls)-1].got))...)
	}
	out = append(out, b.traceOf(key)...)
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// wantCounts keeps the bench from passing by doing nothing.
func (b *bench) wantCounts(s *schedule) {
	b.tb.Logf("faults: %v", s.ran)
	minutes := b.length.Minutes()
	if got, want := b.h.counts["acquire yes"], int(minutes*300/b.maxTTL.Seconds()); got < want {
		b.tb.Errorf("%d locks were taken, want %d", got, want)
	}
	if want := int(2 * minutes); b.bare < want {
		b.tb.Errorf("%d locks lost a master of their bare majority, want %d", b.bare, want)
	}
	for _, k := range append(kinds(), whole()...) {
		want := int(minutes) / 3
		switch {
		case k.name == "ambush":
			want = max(2, int(4*minutes))
		case k.name == "freeze redlockd":
			want = max(3, int(6*minutes))
		case k.name == "majority restart", b.masters[4].ahead == "" && strings.HasPrefix(k.name, "clock"):
			continue
		}
		if s.ran[k.name] < want {
			b.tb.Errorf("fault %q: %d times, want %d", k.name, s.ran[k.name], want)
		}
	}
}

// wantBounded is that redlockd keeps neither memory nor goroutines.
func (b *bench) wantBounded(memory []int64) {
	b.tb.Logf("MiB of redlockd 0 over time: %v", memory)
	limit := int64(256)
	if rig.Race {
		limit = 1024
	}
	for n, r := range b.redlockds {
		if got := r.RSS() >> 20; got > limit {
			b.tb.Errorf("redlockd %d has %d MiB, want at most %d", n, got, limit)
		}
		// Its own, for five masters and a few databases; no client is left.
		if got := r.Goroutines(); got > 120 {
			b.tb.Errorf("redlockd %d has %d goroutines without clients, want at most 120", n, got)
		} else {
			b.tb.Logf("redlockd %d: %d goroutines at the end", n, got)
		}
	}
}
