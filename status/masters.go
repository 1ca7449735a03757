package status

import "github.com/redlockd/redlockd/quorum"

// masterRows compares the masters with how they were earlier.
func masterRows(masters []quorum.MasterStatus, earlier map[string]quorum.MasterStatus) []MasterRow {
	rows := make([]MasterRow, len(masters))
	counted := make([]uint64, len(masters))
	all := uint64(0)
	for i, m := range masters {
		e := earlier[m.Name]
		counted[i] = more(m.Votes.Counted, e.Votes.Counted)
		all += counted[i]
		rows[i] = MasterRow{Name: m.Name, Address: m.Address, State: string(m.State), Reason: shownUpTo(maxReason, m.Reason), Required: m.Required,
			Wait: m.Wait.Milliseconds(), Version: m.Version, Latency: Latency{-1, -1}, Share: -1, Silent: -1}
		if answers(m.State) {
			rows[i].Latency = latency(m.Batches, e.Batches)
		}
		silent := more(m.Votes.Silent, e.Votes.Silent)
		if votes := counted[i] + silent + more(m.Votes.Spare, e.Votes.Spare); votes > 0 {
			rows[i].Silent = float64(silent) / float64(votes)
		}
	}
	for i := range rows {
		if all > 0 && answers(masters[i].State) {
			rows[i].Share = float64(counted[i]) / float64(all)
		}
	}
	return rows
}

// answers reports whether a master in this state answers now.
func answers(state quorum.MasterState) bool { return state != quorum.Down && state != quorum.Frozen }

// more is by how much a counter grew; a master that was replaced begins anew.
func more(now, before uint64) uint64 { return max(now, before) - before }

func latency(newest, before quorum.Histogram) Latency {
	return Latency{P50: quantile(0.5, newest, before), P99: quantile(0.99, newest, before)}
}
