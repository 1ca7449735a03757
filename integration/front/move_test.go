package front

import "testing"

// TestMove: the files that are shipped lead new connections to the next
// redlockd, and back.
func TestMove(t *testing.T) {
	needsFront(t)
	c := startCluster(t)
	for _, m := range []means{haproxy, envoy} {
		t.Run(m.name, func(t *testing.T) {
			addr := m.start(t, c)
			waitLeadsTo(t, addr, c.redlockds[0])
			c.redlockds[0].Kill()
			waitLeadsTo(t, addr, c.redlockds[1])
			c.redlockds[0].Restart()
			c.waitWell()
			waitLeadsTo(t, addr, c.redlockds[0])
		})
	}
}
