package integration

import "testing"

// TestWatchSeesAnotherRedlockd: a watched key that was deleted through another redlockd
// makes EXEC the null array, also where it has no command that asks a master (S4).
func TestWatchSeesAnotherRedlockd(t *testing.T) {
	masters := StartMasters(t, 3)
	cfg := overFive(masters)
	first := StartRedlockd(t, cfg, masters)
	second := JoinRedlockd(t, cfg)
	second.WaitVoting(masters...)
	a, b := DialWire(t, first.Addr), DialWire(t, second.Addr)
	for _, queued := range [][]string{{}, {"PING"}, {"GET", "k"}} {
		a.want(t, "+OK\r\n", "SET", "k", "t", "NX", "PX", "10000")
		a.want(t, "+OK\r\n", "WATCH", "k")
		b.want(t, ":1\r\n", "DEL", "k")
		a.want(t, "+OK\r\n", "MULTI")
		if len(queued) > 0 {
			a.want(t, "+QUEUED\r\n", queued...)
		}
		a.want(t, "*-1\r\n", "EXEC")
	}
}
