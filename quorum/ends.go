package quorum

import (
	"github.com/redlockd/redlockd/quorum/tail"
	"github.com/redlockd/redlockd/quorum/vote"
)

// ends are the ends that an attempt gave a lock's copies, in each master's own milliseconds and
// in the order of one list of masters (M8); 0 where it gave none.
type ends struct {
	few  [fewMasters]int64
	more []int64
}

// endsOf collects the ends that an attempt gave the copies of step k, or of the only key.
func (a *attempt) endsOf(k int) ends {
	var e ends
	if n := len(a.tasks) - fewMasters; n > 0 {
		e.more = make([]int64, n)
	}
	for i := range a.tasks {
		switch t := &a.tasks[i]; {
		case a.op.Kind != transact:
			e.set(i, t.Tail.End)
		case k < len(t.Copies):
			e.set(i, t.Copies[k].Tail.End)
		}
	}
	return e
}

func (e *ends) at(i int) int64 {
	if i < fewMasters {
		return e.few[i]
	}
	return e.more[i-fewMasters]
}

func (e *ends) set(i int, end int64) {
	if i < fewMasters {
		e.few[i] = end
	} else {
		e.more[i-fewMasters] = end
	}
}

// gave reports whether an attempt gave master i a copy with this tail. Where it found a later
// end it left that, and the copy was told to last longer.
func (e *ends) gave(i int, attempt tail.ID, its *tail.Tail) bool {
	return attempt != 0 && its.Attempt == attempt && its.End <= e.at(i)
}

// tailOf returns the tail that a master's copy had, of step k or of the only key.
func tailOf(b *vote.Ballot, k int) tail.Tail {
	switch {
	case b.Were == nil:
		return b.Tail
	case k < len(*b.Were):
		return (*b.Were)[k]
	default:
		return tail.Tail{}
	}
}
