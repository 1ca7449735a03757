package integration

import "testing"

// TestC4SubscribersElsewhere: who subscribed through another redlockd is in no count, so
// none is told. A lock that is a subscription (portalocker's) would have two holders.
func TestC4SubscribersElsewhere(t *testing.T) {
	a, b := twoRedlockd(t)
	a.want(t, "*3\r\n$9\r\nsubscribe\r\n$2\r\nch\r\n:1\r\n", "SUBSCRIBE", "ch")
	for _, w := range []*Wire{b, DialWire(t, a.conn.RemoteAddr().String())} {
		w.want(t, "-ERR unknown command 'PUBSUB', with args beginning with: 'NUMSUB' 'ch' , "+
			"redlockd serves locks only; it cannot count the subscribers at another redlockd\r\n", "PUBSUB", "NUMSUB", "ch")
	}
	b.want(t, ":0\r\n", "PUBLISH", "ch", "m")
}

// twoRedlockd returns a connection to each of two redlockd over the same masters.
func twoRedlockd(t *testing.T) (a, b *Wire) {
	t.Helper()
	masters := StartMasters(t, 3)
	cfg := overFive(masters)
	first := StartRedlockd(t, cfg, masters)
	second := JoinRedlockd(t, cfg)
	second.WaitVoting(masters...)
	return DialWire(t, first.Addr), DialWire(t, second.Addr)
}
