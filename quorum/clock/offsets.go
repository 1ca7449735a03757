package clock

import (
	"math"
	"slices"
	"time"
)

const (
	// LookEvery is how often a master is looked at, LookPause the least time between two
	// looks.
	LookEvery = time.Second
	LookPause = 10 * time.Millisecond
)

// Step is the most by which a clock may be off without counting as stepped, for the
// resolution of its reading and the like (M5).
const Step = 2.0 // milliseconds

// offsets remember by how much a master's clock was ahead of ours. Each is an interval,
// because the reading was taken between sending and arrival. They are thinned to one a
// second. Not safe for concurrent use.
type offsets struct {
	drift   float64
	entries []offset
	// lowest and highest bound the next offset, see within.
	lowest, highest float64
}

// offset says that a master's clock was ahead of ours by low to high milliseconds at some
// time between sent and received, by our clock.
type offset struct {
	low, high      float64
	sent, received time.Duration
}

// newOffset returns the offset of a reading in microseconds.
func newOffset(micros int64, sent, received time.Duration) offset {
	ms := float64(micros) / 1000
	return offset{low: ms - millis(received), high: ms - millis(sent), sent: sent, received: received}
}

// within reports whether an offset is within what all remembered ones allow: no further
// from any of them than the time between the two x drift, and Step. The bounds include
// each one's time, so only the extremes need to be compared.
func (o *offsets) within(n offset) bool {
	if len(o.entries) == 0 {
		return true
	}
	age := millis(n.received) * o.drift
	ahead := n.low-age-Step > o.highest
	behind := n.high+age+Step < o.lowest
	return !ahead && !behind
}

// Jump is by how many milliseconds a clock has jumped, at least and at most.
type Jump struct{ least, most float64 }

// jumped returns by how much the clock jumped, for an offset that is not within.
func (o *offsets) jumped(n offset) Jump {
	age := millis(n.received)*o.drift + Step
	return Jump{least: n.low - age - o.highest, most: n.high + age - o.lowest}
}

// Same reports whether two clocks may have jumped by the same time.
func (j Jump) Same(other Jump) bool { return j.least <= other.most && other.least <= j.most }

// All offsets, one a second, are kept for dense. Of older ones one is kept for every
// keep/thinned.
const (
	dense   = 10 * time.Minute
	thinned = 500
)

// add remembers an offset, one a second, and forgets those older than keep. Of old ones
// it keeps few, since what they allow is wide and nearly the same.
func (o *offsets) add(n offset, keep time.Duration) {
	if last := len(o.entries) - 1; last >= 0 && n.sent-o.entries[last].sent < time.Second {
		return
	}
	old := 0
	for old < len(o.entries) && n.sent-o.entries[old].received > keep {
		old++
	}
	few := o.entries[:0]
	for _, e := range o.entries[old:] {
		if last := len(few) - 1; last < 0 || n.sent-e.sent <= dense || e.sent-few[last].sent >= keep/thinned {
			few = append(few, e)
		}
	}
	o.entries = append(few, n)
	o.extremes()
}

// extremes computes the bounds of all remembered offsets.
func (o *offsets) extremes() {
	o.lowest, o.highest = math.Inf(-1), math.Inf(1)
	for _, e := range o.entries {
		at := millis(e.sent) * o.drift
		o.highest = min(o.highest, e.high-at)
		o.lowest = max(o.lowest, e.low+at)
	}
}

// clone returns an independent copy.
func (o *offsets) clone() offsets {
	c := *o
	c.entries = slices.Clone(o.entries)
	return c
}

// rebase forgets all offsets but n, which begins a new baseline.
func (o *offsets) rebase(n offset) {
	o.entries = append(o.entries[:0], n)
	o.extremes()
}

// Watched reports whether a clock last looked at so long ago counts as watched all the
// time. Of the padding of holds, one timeout is for a step that no redlockd sees: half of
// it covers the drift that the baseline allows, half the round trips (M5). A master that
// is looked at once a second always counts.
func Watched(ago time.Duration, drift float64, timeout time.Duration) bool {
	return ago <= 2*LookEvery || float64(ago)*drift <= float64(timeout/2)
}
