package integration

import "testing"

// TestWatchSeesAnotherRedlockd: a watched key that was deleted through another redlockd
// makes EXEC the null array, also where it has no command that asks a master (S4).
func TestWatchSeesAnotherRedlockd(t *testing.T) {
	t.Parallel()
	a, b := twoRedlockd(t)
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
