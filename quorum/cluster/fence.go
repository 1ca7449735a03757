package cluster

import (
	"math"
	"strings"
)

// fence ends the earlier connections to the same server, so that none of their commands
// is carried out after this one's (M3). It returns those that are not known to have
// ended.
func (mon *monitor) fence(c *connection, earlier []*connection) []*connection {
	if mon.Embedded {
		return nil
	}
	var alive []*connection
	for _, e := range earlier {
		// A connection to another server, which answered at this address for a while, may
		// still matter when that server is back.
		if e.runID != c.runID || mon.kill(c, e.id) != nil {
			alive = append(alive, e)
		}
	}
	// No connection has this number: the answer shows whether redlockd has the right to
	// kill.
	err := mon.kill(c, math.MaxInt64)
	if err != nil {
		mon.log.Warn("cannot end earlier connections, releases carry a deadline instead", "error", err)
	}
	mon.mu.Lock()
	mon.fenceless = err != nil
	mon.mu.Unlock()
	return alive[max(0, len(alive)-maxEarlier):]
}

// maxEarlier bounds the number of connections that are kept to be fenced.
const maxEarlier = 16

// kill ends a connection; one that has ended already is no error.
func (mon *monitor) kill(c *connection, id int64) error {
	err := c.ask(c.dialect.Client.B().ClientKill().Id(id).Build())[0].Error()
	if err != nil && strings.Contains(err.Error(), "No such client") {
		return nil
	}
	return err
}
