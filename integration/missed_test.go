package integration

import (
	"testing"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// TestMissedChangeIsRepaired is V8: a change of token that one master misses
// reaches it when it is back, so that the lock is extended, read and released
// while another one is away.
func TestMissedChangeIsRepaired(t *testing.T) {
	t.Parallel()
	for name, change := range map[string][][]string{
		"SET IFEQ":    {{"SET", "k", "new", "IFEQ", "old", "PX", "60000"}},
		"transaction": {{"WATCH", "k"}, {"GET", "k"}, {"MULTI"}, {"SET", "k", "new", "PX", "60000"}, {"EXEC"}},
	} {
		t.Run(name, func(t *testing.T) {
			masters := StartMasters(t, 3)
			r := StartRedlockd(t, overFive(masters), masters)
			w := DialWire(t, r.Addr)
			w.want(t, "+OK\r\n", "SET", "k", "old", "NX", "PX", "60000")
			if without := rig.WaitHeld(masters, "k", "old", patience); len(without) > 0 {
				t.Fatalf("the lock is not on %v", without) // two of three answer for it
			}
			masters[2].Freeze()
			for _, c := range change {
				if got := w.Ask(c...); got[0] == '-' {
					t.Fatalf("%v: %q", c, got)
				}
			}
			time.Sleep(500 * time.Millisecond) // beyond the deadline of what it was sent
			masters[2].Thaw()
			eventually(t, "the master that was frozen has the new token", func() (bool, string) {
				return masters[2].Holds("k", "new"), ""
			})
			r.WaitVoting(masters...)
			masters[0].Freeze()
			w.want(t, "$3\r\nnew\r\n", "GET", "k")
			w.want(t, ":1\r\n", "PEXPIRE", "k", "50000")
			w.want(t, ":1\r\n", "DEL", "k")
			masters[0].Thaw()
		})
	}
}

func (w *Wire) want(t *testing.T, reply string, command ...string) {
	t.Helper()
	if got := w.Ask(command...); got != reply {
		t.Errorf("%v: %q, want %q", command, got, reply)
	}
}
