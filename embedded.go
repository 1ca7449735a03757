package main

import (
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/redlockd/redlockd/quorum"
)

const (
	// embeddedMasters is how many -dev runs.
	embeddedMasters = 5
	// embeddedTick is how far an embedded master's clock may be behind: short
	// against every TTL in use.
	embeddedTick = 2 * time.Millisecond
)

// embedded is the masters of -dev: in memory, in this process.
type embedded struct {
	servers []*miniredis.Miniredis
	ending  chan struct{} // closed by stop
	ended   chan struct{} // closed when no clock is set any more
}

// startEmbedded starts n masters on free ports of this host.
//
// An absolute expiry (PXAT) must be given to them from within a script: a
// plain SET looks at the clock before it takes the master's lock, so a tick
// in between would lengthen it.
func startEmbedded(n int) (*embedded, error) {
	e := &embedded{ending: make(chan struct{}), ended: make(chan struct{})}
	start := time.Now()
	for range n {
		server := miniredis.NewMiniRedis()
		server.SetTime(start.Truncate(time.Millisecond))
		server.ClockTTL(true)
		if err := server.Start(); err != nil {
			e.close()
			return nil, err
		}
		e.servers = append(e.servers, server)
	}
	go e.drive(start)
	return e, nil
}

// drive moves the masters' clocks. They would run by themselves, but then
// also within a script, where PTTL and TIME must fit to the millisecond; and
// they would follow a step of the host's clock, which the time since start
// does not.
func (e *embedded) drive(start time.Time) {
	defer close(e.ended)
	ticker := time.NewTicker(embeddedTick)
	defer ticker.Stop()
	for {
		select {
		case <-e.ending:
			return
		case <-ticker.C:
		}
		now := start.Add(time.Since(start)).Truncate(time.Millisecond)
		for _, server := range e.servers {
			server.SetTime(now)
		}
	}
}

// list is the masters for the quorum's configuration.
func (e *embedded) list() []quorum.Master {
	var masters []quorum.Master
	for i, server := range e.servers {
		masters = append(masters, quorum.Master{
			Name: fmt.Sprintf("m%d", i+1), Address: server.Addr(), Embedded: true,
		})
	}
	return masters
}

// stop ends the masters and all they hold.
func (e *embedded) stop() {
	close(e.ending)
	<-e.ended
	e.close()
}

func (e *embedded) close() {
	for _, server := range e.servers {
		server.Close()
	}
}
