package faults

import (
	"slices"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// longRun is a run in which a redlockd must not grow.
const longRun = 5 * time.Minute

// growth is what the redlockd that nobody kills uses as time goes by.
type growth struct {
	// idle are the goroutines of each redlockd before there were clients.
	idle       []int
	memory     []int // MiB
	goroutines []int
}

func (g *growth) begin(rs []*redlockd) {
	for _, r := range rs {
		g.idle = append(g.idle, r.Goroutines())
	}
}

// watchGrowth looks until the bench ends.
func (b *bench) watchGrowth() {
	if b.watched < 0 {
		return
	}
	pace := max(time.Second, b.length/40)
	for last := b.h.now(); !b.ended(); time.Sleep(50 * time.Millisecond) {
		if b.h.now()-last < pace {
			continue
		}
		last = b.h.now()
		r := b.redlockds[b.watched]
		b.growth.memory = append(b.growth.memory, int(r.RSS()>>20))
		b.growth.goroutines = append(b.growth.goroutines, r.Goroutines())
	}
}

// wantNoGrowth is that redlockd keeps neither memory nor goroutines.
func (b *bench) wantNoGrowth() {
	g := &b.growth
	limit := int64(256)
	if rig.Race {
		limit = 1024
	}
	for n, r := range b.redlockds {
		if got := r.RSS() >> 20; got > limit {
			b.tb.Errorf("redlockd %d has %d MiB, want at most %d", n, got, limit)
		}
		const more = 10 // databases met meanwhile, and the one that counts
		got := 0
		for end := time.Now().Add(rig.Patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			if got = r.Goroutines(); got <= g.idle[n]+more {
				break
			}
		}
		if got > g.idle[n]+more {
			b.tb.Errorf("redlockd %d has %d goroutines when its clients have left, %d before they came", n, got, g.idle[n])
		}
	}
	if len(g.memory) < 8 {
		return
	}
	b.tb.Logf("MiB of redlockd %d over time: %v", b.watched, g.memory)
	b.tb.Logf("its goroutines over time, %d before: %v", g.idle[b.watched], g.goroutines)
	// A warm process stays as it is: the last quarter against the second.
	quarter := len(g.memory) / 4
	before, after := median(g.memory[quarter:2*quarter]), median(g.memory[len(g.memory)-quarter:])
	if after > before*13/10+8 {
		b.tb.Errorf("redlockd %d has %d MiB at the end, %d early on", b.watched, after, before)
	}
	before, after = median(g.goroutines[quarter:2*quarter]), median(g.goroutines[len(g.goroutines)-quarter:])
	if after > before*13/10+20 {
		b.tb.Errorf("redlockd %d has %d goroutines at the end, %d early on", b.watched, after, before)
	}
}

func median(list []int) int {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}
