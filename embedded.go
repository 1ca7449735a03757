package main

import (
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/redlockd/redlockd/quorum"
)

const (
	// embeddedMasters is how many masters -dev runs.
	embeddedMasters = 5
	// embeddedTick is how far an embedded master's clock may be behind: short compared
	// with every TTL in use.
	embeddedTick = 2 * time.Millisecond
)

// embedded is the masters of -dev, in memory, in this process.
type embedded struct {
	servers []*miniredis.Miniredis
	ending  chan struct{} // closed by stop
	ended   chan struct{} // closed when clocks are no longer set
}

// startEmbedded starts n masters on free ports of this host.
//
// An absolute expiry (PXAT) must be set from within a script: a plain SET reads the clock
// before it takes the master's lock, so a tick in between would lengthen the expiry.
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

// drive sets the masters' clocks. They could run by themselves, but then also during a
// script, where PTTL and TIME must match to the millisecond. They would also follow a
// step of the host's clock, which the time since start does not.
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

// list returns the masters for the quorum's configuration.
func (e *embedded) list() []quorum.Master {
	var masters []quorum.Master
	for i, server := range e.servers {
		masters = append(masters, quorum.Master{
			Name: fmt.Sprintf("m%d", i+1), Address: server.Addr(), Embedded: true,
		})
	}
	return masters
}

// stop ends the masters and frees what they store.
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
