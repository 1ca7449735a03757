package clock

import (
	"math"
	"slices"
	"time"
)

const (
	// LookEvery is how often a master is looked at, LookPause how long it is left
	// alone at least between two looks.
	LookEvery = time.Second
	LookPause = 10 * time.Millisecond
)

// Step is how far a clock may be off by what is no step: the resolution
// of its reading and the like (M5).
const Step = 2.0 // milliseconds

// offsets remember how a master's clock stood against ours, each as an
// interval between sending and arrival, thinned to one a second. Not safe for
// concurrent use.
type offsets struct {
	drift   float64
	entries []offset
	// lowest and highest bound what the next one may be, see within.
	lowest, highest float64
}

// offset is that a master's clock was ahead of ours by low to high
// milliseconds at some time between sent and received, by our clock.
type offset struct {
	low, high      float64
	sent, received time.Duration
}

// newOffset makes an offset of a reading in microseconds.
func newOffset(micros int64, sent, received time.Duration) offset {
	ms := float64(micros) / 1000
	return offset{low: ms - millis(received), high: ms - millis(sent), sent: sent, received: received}
}

// within reports whether an offset lies within what all remembered ones allow: no
// further from any than the time between the two x drift, and clockStep. With
// sums that hold the time of each, only the extremes need to be compared.
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

// jumped is by how much, for an offset that is not within.
func (o *offsets) jumped(n offset) Jump {
	age := millis(n.received)*o.drift + Step
	return Jump{least: n.low - age - o.highest, most: n.high + age - o.lowest}
}

// Same reports whether two clocks may have jumped by the same time.
func (j Jump) Same(other Jump) bool { return j.least <= other.most && other.least <= j.most }

// dense is how long one in a second is kept; of those before, one in a
// thinned part of the time that all are kept.
const (
	dense   = 10 * time.Minute
	thinned = 500
)

// add remembers an offset, one in a second, and forgets those older than keep. Of
// old ones it keeps few: what they allow for is wide, and nearly the same.
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

// extremes computes the bounds anew.
func (o *offsets) extremes() {
	o.lowest, o.highest = math.Inf(-1), math.Inf(1)
	for _, e := range o.entries {
		at := millis(e.sent) * o.drift
		o.highest = min(o.highest, e.high-at)
		o.lowest = max(o.lowest, e.low+at)
	}
}

// clone returns offsets that are kept by themselves.
func (o *offsets) clone() offsets {
	c := *o
	c.entries = slices.Clone(o.entries)
	return c
}

// rebase forgets all but one offset: a new baseline begins.
func (o *offsets) rebase(n offset) {
	o.entries = append(o.entries[:0], n)
	o.extremes()
}

// Watched reports whether a clock that was last looked at so long ago was looked at
// all the time, as far as the padding of holds goes: its timeout for a step that
// nobody sees is half for the drift that the baseline allows for, and half for the
// round trips (M5). Who looks once a second has not been away.
func Watched(ago time.Duration, drift float64, timeout time.Duration) bool {
	return ago <= 2*LookEvery || float64(ago)*drift <= float64(timeout/2)
}
