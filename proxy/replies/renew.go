package replies

import "github.com/redlockd/redlockd/quorum"

// A grant that has waited for too long to be told, behind the replies before it,
// is renewed when its turn comes (V2): the slot waits for that as it waited for its
// outcomes. All that could be written together are renewed side by side, so that a
// pipeline behind a slow reply waits for one more round trip and not for one each.

// renewal is one outcome of a slot that is to be renewed.
type renewal struct {
	slot    *Slot
	outcome *quorum.Outcome
}

// lateLocked are the outcomes that must be renewed of the slots that are ready before
// one that is not, none where the first slot has none; their slots wait from now on.
func (p *Pipeline) lateLocked(w *batch) []renewal {
	if len(p.head.outcomes) == 0 || p.gone.Load() || !p.head.isLate(p.writers.Promises, w) {
		return nil
	}
	var all []renewal
	for sl := p.head; sl != nil && sl.waiting == 0; sl = sl.next {
		for _, o := range sl.outcomes {
			if p.writers.Promises.MustRenew(o, w.clock(p.writers.Promises, o)) {
				sl.waiting++
				all = append(all, renewal{sl, o})
			}
		}
	}
	return all
}

func (sl *Slot) isLate(g Promises, w *batch) bool {
	for _, o := range sl.outcomes {
		if g.MustRenew(o, w.clock(g, o)) {
			return true
		}
	}
	return false
}

// renew begins the renewals.
func (p *Pipeline) renew(all []renewal) {
	for _, r := range all {
		p.writers.Promises.Renew(r.outcome, p, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.filledLocked(r.slot)
		})
	}
}
