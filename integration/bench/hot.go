package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	commandRate = "commands/s on the masters"
	handOver    = "hand-over ms"
	handOver99  = "hand-over p99 ms"
	handOvers   = "hand-overs/s"
	polls       = "polls/s"
)

var hotColumns = []string{commandRate, handOver, handOver99, handOvers, polls, failures}

// pace is how long a client waits after it was refused, or gave the lock back.
type pace struct {
	name string
	wait func() time.Duration
}

var paces = []pace{
	{"at once", func() time.Duration { return 0 }},
	// redsync's own.
	{"after 50-250 ms", func() time.Duration { return time.Duration(50+rand.IntN(200)) * time.Millisecond }},
}

var pollers = []int{2, 64, 512}

// holdTime is how long a holder keeps the lock.
const holdTime = 2 * time.Millisecond

// runHot is workload b.
func runHot(b *bench) error {
	c, err := b.rig.cluster(b.ctx, clusterOptions{})
	if err != nil {
		return err
	}
	for _, p := range paces {
		for _, n := range pollers {
			// One more than poll: the holder.
			fleets := []fleet{goRedis(through, c.redlockd.addr, n+1), overRedsync(redsyncFive, c.addrs, n+1)}
			err := b.compareHot(c, fmt.Sprintf("%d poll %s", n, p.name), fleets, p)
			for _, f := range fleets {
				f.close()
			}
			if err != nil {
				return err
			}
		}
	}
	b.hotAims()
	return nil
}

func (b *bench) compareHot(c *cluster, condition string, fleets []fleet, p pace) error {
	for _, f := range fleets { // makes the connections
		if _, err := fight(f, b.length/5, p); err != nil {
			return err
		}
	}
	for range b.rounds {
		for _, f := range fleets {
			if err := b.ctx.Err(); err != nil {
				return err
			}
			before, err := b.commands(c)
			if err != nil {
				return err
			}
			start := time.Now()
			figures, err := fight(f, b.length, p)
			if err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
			after, err := b.commands(c)
			if err != nil {
				return err
			}
			figures[commandRate] = (after - before) / time.Since(start).Seconds()
			b.table.add("b", condition, f.name, figures)
		}
	}
	for _, f := range fleets {
		b.tell("b", condition, f.name)
	}
	return nil
}

// commands is how many all the masters have carried out.
func (b *bench) commands(c *cluster) (all float64, err error) {
	for _, m := range c.masters {
		n, err := m.commands(b.ctx)
		if err != nil {
			return 0, err
		}
		all += n
	}
	return all, nil
}

// contest is one key that many want, and what is seen of it.
type contest struct {
	key      string
	start    time.Time
	holders  atomic.Int32
	released atomic.Int64 // when the last release was sent, since start; 0 is none
	polls    atomic.Int64
	failed   atomic.Int64

	mu    sync.Mutex
	hands []time.Duration
	err   error
}

// fight lets all clients want one key until the time is over. Two holders at
// a time are an error.
func fight(f fleet, length time.Duration, p pace) (figures, error) {
	runtime.GC()
	c := &contest{key: newKey(0), start: time.Now()}
	var wg sync.WaitGroup
	for _, one := range f.clients {
		wg.Go(func() { c.want(one, length, p) })
	}
	wg.Wait()
	took := time.Since(c.start).Seconds()
	out := figures{handOvers: float64(len(c.hands)) / took, polls: float64(c.polls.Load()) / took,
		failures: float64(c.failed.Load())}
	// A round without any took longer than it lasted.
	out[handOver], out[handOver99] = millis(length), millis(length)
	if len(c.hands) > 0 {
		out[handOver], out[handOver99] = millis(percentile(c.hands, 0.5)), millis(percentile(c.hands, 0.99))
	}
	return out, c.err
}

func (c *contest) want(one client, length time.Duration, p pace) {
	for time.Since(c.start) < length {
		c.polls.Add(1)
		switch err := one.take(c.key); {
		case err == nil:
			c.hold(one)
		case !errors.Is(err, errHeld):
			c.failed.Add(1)
		}
		if d := p.wait(); d > 0 {
			time.Sleep(d) // a client polls
		}
	}
}

// hold keeps the lock a little and gives it back.
func (c *contest) hold(one client) {
	now := time.Since(c.start)
	if sent := c.released.Swap(0); sent != 0 {
		c.mu.Lock()
		c.hands = append(c.hands, now-time.Duration(sent))
		c.mu.Unlock()
	}
	if c.holders.Add(1) > 1 {
		c.mu.Lock()
		c.err = errors.New("two clients held one lock")
		c.mu.Unlock()
	}
	time.Sleep(holdTime) // what the lock is for
	c.holders.Add(-1)
	c.released.Store(int64(time.Since(c.start)))
	if one.free(c.key) != nil {
		c.failed.Add(1)
	}
}

func (b *bench) hotAims() {
	at := func(n int, p pace, who, what string) *figure {
		return b.figure("b", fmt.Sprintf("%d poll %s", n, p.name), who, what)
	}
	b.atMost("3", 2, ratio(at(512, paces[0], through, commandRate), at(2, paces[0], through, commandRate)),
		"commands/s on the masters, 512 pollers to 2")
	for _, p := range paces {
		for _, n := range pollers {
			if n == 2 && p.name != paces[0].name {
				continue // chance decides when the one of two that sleep wakes up
			}
			b.atMost("3", 1, ratio(at(n, p, through, handOver), at(n, p, redsyncFive, handOver)),
				fmt.Sprintf("hand-over, %d pollers %s, redlockd to redsync", n, p.name))
		}
	}
}
