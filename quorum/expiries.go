package quorum

import (
	"slices"

	"github.com/redlockd/redlockd/quorum/outbox"
)

// expiries are those of one lock, in each master's own milliseconds and by the
// order of one list of masters (M8); 0 where it was given none.
type expiries struct {
	few  [fewMasters]int64
	more []int64
}

// expiriesOf collects what an attempt has given to each master by its tasks.
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

func (e *expiries) contain(expiry int64) bool {
	return slices.Contains(e.few[:], expiry) || slices.Contains(e.more, expiry)
}

// ofStep returns the expiry of one step of a transact; 0 if it was not sent.
func ofStep(k int) func(*outbox.Task) int64 {
	return func(t *outbox.Task) int64 {
		if k >= len(t.Expiries) {
			return 0
		}
		return t.Expiries[k]
	}
}
