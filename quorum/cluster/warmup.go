package cluster

import (
	"strconv"
	"strings"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
)

// meet looks, once the clock was looked at anew, for others who could have seen
// a step that our own baseline does not show, and notes until when they must have
// told.
func (mon *monitor) meet(c *connection, s mark.Observation) error {
	if !mon.clock.Asks() {
		return nil
	}
	others, err := mon.hasOthers(c, s)
	if err != nil {
		return err
	}
	// Who is connected to another master may be about to reach this one too.
	elsewhere := mon.db.List().count(func(l *Link) bool { return l.clock.HasOthers() }) > 0
	within := time.Duration(0)
	if others || elsewhere {
		within = clock.WarmUpTime(mon.db.agreed.Greatest().Timeout)
	}
	mon.mu.Lock()
	defer mon.mu.Unlock()
	mon.clock.Meet(others, s.Sent, within)
	return nil
}

// manyClients is how many connections a master has for which they are not
// listed, which would keep it busy: one of so many counts as another redlockd.
const manyClients = 1000

// hasOthers reports whether another redlockd is connected to the master, as far as
// can be told: without the right to list them, or to give them a name, any
// connection may be one.
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

// warmingUp is how much longer others may take to tell, by a look at the mark; 0
// where they had to have told before it. Those who do not use a database tell in
// the mark of database 0.
func (mon *monitor) warmingUp(s mark.Observation) time.Duration {
	mon.mu.Lock()
	defer mon.mu.Unlock()
	return mon.clock.WarmingUp(s.Sent, clock.WarmUpTime(mon.db.agreed.Greatest().Timeout), mon.zero == nil || s.Zero != nil && s.Zero.Real)
}
