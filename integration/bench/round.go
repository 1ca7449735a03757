package main

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// The names of the columns that several workloads have.
const (
	perSecond = "cycles/s"
	p50       = "p50 ms"
	p99       = "p99 ms"
	failures  = "failed"

	cpuMasters  = "masters µs"
	cpuUser     = "redlockd user µs"
	cpuSystem   = "redlockd system µs"
	cpuRedlockd = "redlockd µs"
	cpuClient   = "client µs"
	cpuAll      = "all µs"
	cpuRelay    = "relay µs"
	cores       = "cores"

	callsMasters  = "masters' reads + writes"
	callsRedlockd = "redlockd's reads + writes"
)

// parts are the servers whose processor time a round is counted.
type parts struct {
	masters  []*process
	redlockd *process
	relay    *process
}

// outcome is what all clients of a round did together.
type outcome struct {
	times  []time.Duration // of each good cycle
	takes  []time.Duration // of each take of a good cycle
	failed int
	first  error
	length time.Duration
	spent  spent
}

// cycles lets every client lock and release a key of its own until the time is
// over.
func cycles(f fleet, clients int, length time.Duration, p parts) outcome {
	runtime.GC() // so that nobody pays for the one before
	each := make([]outcome, clients)
	var wg sync.WaitGroup
	before, start := spentBy(p), time.Now()
	for i := range clients {
		wg.Go(func() { each[i] = cycleUntil(f.clients[i], i, start.Add(length)) })
	}
	wg.Wait()
	all := outcome{length: time.Since(start), spent: spentBy(p).since(before)}
	for _, o := range each {
		all.times = append(all.times, o.times...)
		all.takes = append(all.takes, o.takes...)
		all.failed += o.failed
		if all.first == nil {
			all.first = o.first
		}
	}
	return all
}

var names atomic.Int64

func newKey(i int) string { return fmt.Sprintf("bench:%d:%d", i, names.Add(1)) }

func cycleUntil(c client, i int, end time.Time) outcome {
	o := outcome{times: make([]time.Duration, 0, 1024), takes: make([]time.Duration, 0, 1024)}
	key := newKey(i)
	for {
		start := time.Now()
		if start.After(end) {
			return o
		}
		err := c.take(key)
		taken := time.Since(start)
		if err == nil {
			err = c.free(key)
		}
		if err == nil {
			o.times = append(o.times, time.Since(start))
			o.takes = append(o.takes, taken)
			continue
		}
		o.failed++
		if o.first == nil {
			o.first = err
		}
		key = newKey(i) // the old one may be held until its TTL is over
	}
}

// figures are the columns of a round of cycles.
func (o outcome) figures() figures {
	n := float64(len(o.times))
	f := figures{perSecond: n / o.length.Seconds(), failures: float64(o.failed)}
	if n == 0 {
		return f
	}
	f[p50], f[p99] = millis(percentile(o.times, 0.5)), millis(percentile(o.times, 0.99))
	f[cpuClient] = micros(o.spent.client) / n
	if o.spent.known {
		user, system := micros(o.spent.redlockdUser)/n, micros(o.spent.redlockdSy)/n
		f[cpuMasters] = micros(o.spent.masters) / n
		if user+system > 0 {
			f[cpuUser], f[cpuSystem], f[cpuRedlockd] = user, system, user+system
		}
		for name, calls := range map[string]int64{callsMasters: o.spent.mastersCalls, callsRedlockd: o.spent.redlockdCalls} {
			if calls > 0 {
				f[name] = float64(calls) / n
			}
		}
		if o.spent.relay > 0 {
			f[cpuRelay] = micros(o.spent.relay) / n
		}
		f[cpuAll] = f[cpuMasters] + user + system + f[cpuRelay] + f[cpuClient]
		f[cores] = f[cpuAll] * n / micros(o.length)
	}
	return f
}
