package status

import (
	"cmp"
	"slices"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

// Outlook is when locks can be taken again, as far as that is known.
type Outlook struct {
	// Wait is how long none can be taken, at least; 0 if Missing must come back first.
	Wait int64 `json:"wait"`
	// Master is the one that votes then, the last that is needed; empty if it is this redlockd
	// that waits.
	Master string `json:"master"`
	// Missing are masters of which More have to come back: nothing says when they will.
	Missing []string `json:"missing"`
	More    int      `json:"more"`
	// Hint is what ends the wait sooner, if anything does.
	Hint string `json:"hint"`
}

// outlook is nil while locks can be taken. A wait is the shortest one: those in quarantine may
// have to wait for others, too, as their reasons say.
func outlook(s quorum.Status) *Outlook {
	if s.Ready {
		return nil
	}
	out := &Outlook{Hint: s.Hint, Missing: []string{}}
	var waiting []quorum.MasterStatus
	more := s.Quorum
	for _, m := range s.Masters {
		switch {
		case m.State == quorum.Voting:
			more--
		case m.Wait > 0:
			waiting = append(waiting, m)
		case m.Required:
			// The others cannot do without it.
			out.Missing, out.More = append(out.Missing, m.Name), 1
		}
	}
	if out.More > 0 {
		return out
	}
	if more > len(waiting) {
		return missing(out, s.Masters, more-len(waiting))
	}
	wait := s.Silence
	slices.SortStableFunc(waiting, func(a, b quorum.MasterStatus) int { return cmp.Compare(a.Wait, b.Wait) })
	for i, m := range waiting {
		if (i < more || m.Required) && m.Wait > wait {
			wait, out.Master = m.Wait, m.Name
		}
	}
	out.Wait = max(wait, time.Millisecond).Milliseconds()
	return out
}

// missing adds the masters that nobody can tell of when they vote.
func missing(out *Outlook, masters []quorum.MasterStatus, more int) *Outlook {
	out.More = more
	for _, m := range masters {
		if m.State != quorum.Voting && m.Wait <= 0 {
			out.Missing = append(out.Missing, m.Name)
		}
	}
	return out
}
