package cluster

import (
	"strconv"
	"strings"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
)

// meet looks for other instances, once the clock was looked at again: they may have seen a
// step that our baseline does not show. It notes since when they are waited for.
func (mon *monitor) meet(c *connection, s mark.Observation) error {
	if !mon.clock.Asks() {
		return nil
	}
	others, err := mon.hasOthers(c, s)
	if err != nil {
		return err
	}
	// A redlockd connected to another master may be about to reach this one too.
	elsewhere := mon.db.List().count(func(l *Link) bool { return l.clock.HasOthers() }) > 0
	mon.clock.Meet(others, others || elsewhere, s.Sent)
	return nil
}

// manyClients is how many connections a master may have before they are not listed, which
// would keep it busy: with more, one of them is taken for another instance.
const manyClients = 1000

// hasOthers reports whether another instance is connected to the master. Without the
// right to list connections or to name them, any other connection may be one.
func (mon *monitor) hasOthers(c *connection, s mark.Observation) (bool, error) {
	if s.Server.Clients > manyClients {
		return true, nil
	}
	r := mon.asks(c, c.dialect.Client.B().ClientList().Build())[0]
	if err := r.Error(); broken(err) {
		return false, err
	}
	list, err := r.ToString()
	if err != nil {
		return s.Server.Clients > 1, nil
	}
	named, strangers, others := false, false, false
	for line := range strings.Lines(list) {
		name := strings.Contains(line, " name="+clientName+" ")
		if strings.HasPrefix(line, "id="+strconv.FormatInt(c.id, 10)+" ") {
			named = name
			continue
		}
		strangers, others = true, others || name
	}
	return others || strangers && !named, nil
}

// warmingUp returns how much longer other instances may take to record a step in the mark
// that s shows; 0 if they must have done so before s.
func (mon *monitor) warmingUp(s mark.Observation) time.Duration {
	return mon.clock.WarmingUp(s.Sent, clock.WarmUpTime(mon.db.agreed.Greatest().Timeout))
}

// couldNotWrite notes that the mark that s shows could not be written. Where others are
// waited for, which may have seen a step, it has a doubt recorded as soon as it can be: they
// may be gone by then (M5).
func (mon *monitor) couldNotWrite(s mark.Observation) {
	if mon.clock.Unwritable() && s.Mark != nil {
		mon.doubt(s.Mark.Greatest)
	}
}
