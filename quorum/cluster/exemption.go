package cluster

import (
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
)

// exemption finds out whether a master that is back with its data has lost none (M4). It
// compares the mark's beat with those in the other masters' marks, looked at long enough
// after the master came back. A later beat anywhere means a quarantine. The beat that
// this redlockd saw last is no evidence, even if it saw it right before the connection
// was lost: others may have used the master for longer.
func (mon *monitor) exemption(c *connection, s mark.Observation) mark.Exemption {
	if s.Mark == nil || s.Mark.RunID == s.Server.RunID || !s.Server.Durable {
		return mark.NotExempt
	}
	// The longest time that another instance needs to record a beat that it has seen, in
	// another mark or in that of the master itself.
	wait := 2*clock.LookEvery + 4*mon.db.agreed.Greatest().Timeout + 10*clock.LookPause
	mon.mu.Lock()
	since := mon.view.Standing.First
	mon.mu.Unlock()
	until := since + wait
	asked := until - clock.LookEvery
	own, _ := mon.db.agreed.Of(mon.hash)
	switch {
	case own.Epoch == 0 || own.Server != s.Mark.ID || s.Mark.Beat < own.Beat || !mon.syncsAlways(c):
		return mark.NotExempt
	case since == 0, mon.now() < until, !mon.othersLookedAt(asked, false):
		return mark.ExemptAsked
	case mon.othersLookedAt(asked, true):
		return mark.IsExempt
	default:
		return mark.ExemptAlone
	}
}

// othersLookedAt reports whether so many of the other masters were looked at since then that
// every majority with this one includes one of them. With remembering, only those that have
// lost nothing count.
func (mon *monitor) othersLookedAt(since time.Duration, remembering bool) bool {
	return mon.db.change.heldByMarks(mon.hash, func(other *Link) bool {
		st := &other.view.Standing
		return st.Last != 0 && st.Last >= since && (st.Remembers || !remembering)
	})
}
