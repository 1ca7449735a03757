package clock

import "time"

const (
	// LookEvery is how often a master is looked at, LookPause the least time between two
	// looks.
	LookEvery = time.Second
	LookPause = 10 * time.Millisecond
)

// Step is the most by which a clock may be off without counting as stepped, for the
// resolution of its reading and the like (M5).
const Step = 2.0 // milliseconds

// Jump is by how many milliseconds a clock has jumped, at least and at most.
type Jump struct{ least, most float64 }

// Same reports whether two clocks may have jumped by the same time.
func (j Jump) Same(other Jump) bool { return j.least <= other.most && other.least <= j.most }

// Watched reports whether a clock last looked at so long ago counts as watched all the
// time. Of the padding of holds, one timeout is for a step that no redlockd sees: half of
// it covers the drift that the baseline allows, half the round trips (M5). A master that
// is looked at once a second always counts.
func Watched(ago time.Duration, drift float64, timeout time.Duration) bool {
	return ago <= 2*LookEvery || float64(ago)*drift <= float64(timeout/2)
}
