package quorum

import (
	"slices"

	"github.com/redlockd/redlockd/quorum/outbox"
)

// expiries are the expiries of one lock's copies, in each master's own milliseconds and
// in the order of one list of masters (M8); 0 where none was given.
type expiries struct {
	few  [fewMasters]int64
	more []int64
}

// expiriesOf collects the expiries that an attempt gave the masters by its tasks.
func expiriesOf(tasks []outbox.Task, each func(*outbox.Task) int64) expiries {
	var e expiries
	for i := range tasks {
		if i < fewMasters {
			e.few[i] = each(&tasks[i])
		} else {
			e.more = append(e.more, each(&tasks[i]))
		}
	}
	return e
}

func (e *expiries) at(i int) int64 {
	if i < fewMasters {
		return e.few[i]
	}
	return e.more[i-fewMasters]
}

func (e *expiries) set(i int, expiry int64) {
	if i < fewMasters {
		e.few[i] = expiry
	} else {
		e.more[i-fewMasters] = expiry
	}
}

func (e *expiries) contain(expiry int64) bool {
	return slices.Contains(e.few[:], expiry) || slices.Contains(e.more, expiry)
}

// ofStep returns a function that returns the expiry of step k of a transact; 0 if the
// task was not made.
func ofStep(k int) func(*outbox.Task) int64 {
	return func(t *outbox.Task) int64 {
		if k >= len(t.Expiries) {
			return 0
		}
		return t.Expiries[k]
	}
}
