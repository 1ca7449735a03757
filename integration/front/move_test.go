package front

import (
	"os"
	"strings"
	"testing"
)

// TestMove: the files that are shipped lead new connections to the next
// redlockd, and back.
func TestMove(t *testing.T) {
	needsFront(t)
	c := startCluster(t)
	for _, m := range []means{haproxy, envoy} {
		t.Run(m.name, func(t *testing.T) {
			c.t = t
			addr := m.start(t, c)
			waitLeadsTo(t, addr, c.redlockds[0])
			c.redlockds[0].Kill()
			waitLeadsTo(t, addr, c.redlockds[1])
			c.redlockds[0].Restart()
			c.waitReady()
			waitLeadsTo(t, addr, c.redlockds[0])
		})
	}
}

// TestStackExchangeHolds: a lock that is extended while its redlockd fails is
// not given to another before its holder is told that it is lost, and then 20
// tasks have it in turn. DistributedLock tells so after one extend that failed.
func TestStackExchangeHolds(t *testing.T) {
	needsFront(t)
	program := os.Getenv("FRONT_DOTNET")
	if program == "" {
		t.Skip("FRONT_DOTNET names no program (doc.go)")
	}
	c := startCluster(t)
	addr := haproxy.start(t, c)
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			c.t = t
			waitLeadsTo(t, addr, c.redlockds[0])
			client := dotnet("medallion", program, "medallion", recipe).start(t, addr, "")
			client.waitOK(2) // the third call extends a lock
			f.begin(c, 0)
			<-client.ended
			f.end(c, 0)
			c.waitReady()
			for _, call := range client.all() {
				t.Logf("%s => %s%s", call.kind, call.result, call.err)
				if strings.Contains(call.result, "lost=False second=True") || strings.Contains(call.result, "inside=") && !strings.Contains(call.result, "inside=1 ") {
					t.Errorf("a lock was held twice")
				}
			}
		})
	}
}
