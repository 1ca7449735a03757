package replies

import "github.com/redlockd/redlockd/quorum"

// A grant that has waited too long behind the replies before it is renewed when its turn
// comes (V2); its slot waits for the renewal as it waited for its outcomes. All grants
// that could be written together are renewed side by side, so that a pipeline behind a
// slow reply waits for one more round trip, not for one each.

// renewal is an outcome of a slot that must be renewed.
type renewal struct {
	slot    *Slot
	outcome *quorum.Outcome
}

// lateLocked returns the outcomes that must be renewed, of all slots at the head that are
// ready; from now on these slots wait for their renewals. It returns nil if the first
// slot has no such outcome.
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

// renew starts the renewals. Each fills its slot when it is done.
func (p *Pipeline) renew(all []renewal) {
	for _, r := range all {
		p.writers.Promises.Renew(r.outcome, p, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			r.slot.waiting--
			p.kickLocked()
		})
	}
}
