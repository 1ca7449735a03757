package cluster

import (
	"testing"
	"testing/synctest"

	"github.com/redis/rueidis"
)

// closing is a client of which only Close may be called.
type closing struct {
	rueidis.Client
	closed bool
}

func (c *closing) Close() { c.closed = true }

// TestConnectionIsClosedBehindItsCall checks that rueidis's client is not closed while a call
// is under way: a Close that meets the beginning of a DoMulti waits for ever (rueidis 1.0.79,
// pipe.go), and each such connection would leak its goroutines.
func TestConnectionIsClosedBehindItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, c := &closing{}, newConnection(Master{})
		c.dialect.Client = client
		c.waitTurn()
		c.close()
		synctest.Wait()
		if client.closed {
			t.Error("closed beside a call")
		}
		c.passTurn()
		synctest.Wait()
		if !client.closed {
			t.Error("not closed behind the call")
		}
	})
}
