package integration

import "testing"

// TestC4SubscribersElsewhere: who subscribed through another redlockd is in no count, so
// none is told. A lock that is a subscription (portalocker's) would have two holders.
func TestC4SubscribersElsewhere(t *testing.T) {
	t.Parallel()
	a, b := twoRedlockd(t)
	a.want(t, "*3\r\n$9\r\nsubscribe\r\n$2\r\nch\r\n:1\r\n", "SUBSCRIBE", "ch")
	for _, w := range []*Wire{b, DialWire(t, a.conn.RemoteAddr().String())} {
		w.want(t, "-ERR unknown command 'PUBSUB', with args beginning with: 'NUMSUB' 'ch' , "+
			"redlockd serves locks only; it cannot count the subscribers at another redlockd\r\n", "PUBSUB", "NUMSUB", "ch")
	}
	b.want(t, ":0\r\n", "PUBLISH", "ch", "m")
}

// TestReleaseWakesWhoPops: a release that leaves one item in a list, as walrus's does, wakes
// a client that pops from it, and within a second one at another redlockd.
func TestReleaseWakesWhoPops(t *testing.T) {
	t.Parallel()
	a, b := twoRedlockd(t)
	beside := DialWire(t, a.conn.RemoteAddr().String())
	for _, waiter := range []*Wire{beside, b} {
		a.want(t, "+OK\r\n", "SET", "lock:k", "t", "NX", "PX", "10000")
		waiter.Send(command("BLPOP", "lock.event:k", "5"))
		a.want(t, ":0\r\n", "EVAL", freeAndTrim, "2", "lock:k", "lock.event:k", "another")
		a.want(t, ":1\r\n", "EVAL", freeAndTrim, "2", "lock:k", "lock.event:k", "t")
		if got, want := string(waiter.Frame()), "*2\r\n$12\r\nlock.event:k\r\n$1\r\n1\r\n"; got != want {
			t.Errorf("woken by %q, want %q", got, want)
		}
	}
}

// twoRedlockd returns a connection to each of two redlockd over the same masters.
func twoRedlockd(t *testing.T) (a, b *Wire) {
	t.Helper()
	masters := StartMasters(t, 3)
	cfg := overFive(masters)
	Bootstrap(t, cfg)
	first, second := JoinRedlockd(t, cfg), JoinRedlockd(t, cfg) // they wait for their masters together
	first.WaitVoting(masters...)
	second.WaitVoting(masters...)
	return DialWire(t, first.Addr), DialWire(t, second.Addr)
}
