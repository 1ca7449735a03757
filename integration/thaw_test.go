package integration

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// TestThawLeavesNothing is V6, M3 and P5: what a frozen master carries out
// after its thaw leaves no key behind, also for clients that have left, and
// also when its connection was closed in between.
func TestThawLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, variant := range []struct {
		name          string
		leave, closed bool
	}{
		{"clients wait", false, false},
		{"clients leave", true, false},
		{"connections closed in between", false, true},
		{"clients leave, connections closed in between", true, true},
	} {
		t.Run(variant.name, func(t *testing.T) {
			masters := StartMasters(t, 5)
			cfg := overFive(masters)
			links := make([]*Link, 3)
			for i := range links {
				links[i] = NewLink(t, masters[i].Addr)
				cfg.Masters[i] = links[i].Addr
			}
			r := StartRedlockd(t, cfg, masters)
			for _, m := range masters[:3] {
				m.Freeze()
			}
			// A burst that goes out before anybody knows of the freeze.
			const burst = 100
			keys := make([]string, burst)
			var wires []*Wire
			for i := range keys {
				keys[i] = fmt.Sprintf("burst:%d", i)
				wires = append(wires, DialWire(t, r.Addr))
				wires[i].Send(command("SET", keys[i], "me", "NX", "PX", "60000"))
			}
			// What reaches those that answer has been sent to the frozen too.
			waitSent(t, masters[4], keys, cfg.Timeout)
			var wg sync.WaitGroup
			for _, w := range wires {
				if variant.leave {
					w.Close()
					continue
				}
				wg.Go(func() {
					if got := string(w.Frame()); !strings.HasPrefix(got, "-NOQUORUM ") {
						t.Errorf("SET NX without a majority: %q, want NOQUORUM", got)
					}
				})
			}
			wg.Wait()
			// The two that answer have been rolled back, so redlockd knows
			// that the attempts are lost.
			waitGone(t, masters[3:], keys...)
			if variant.closed {
				for _, l := range links {
					l.Drop()
				}
			}
			for _, m := range masters[:3] {
				m.Thaw()
			}
			r.WaitVoting(masters...)
			waitGone(t, masters, keys...)
			r.wantTake(keys[0])
			r.wantLife(keys[0])
		})
	}
}

// waitSent waits until a master has been asked for all the keys, or until the
// attempts have come to their end.
func waitSent(t *testing.T, m *Master, keys []string, timeout time.Duration) {
	t.Helper()
	for end := time.Now().Add(timeout); time.Now().Before(end); {
		if n, err := m.Client.Exists(context.Background(), keys...).Result(); err != nil || n == int64(len(keys)) {
			return
		}
	}
}

// TestThawFreesNothing is V6 to V8: a frozen master has the release of an
// earlier lock in its buffers. The next holder's lock, with the same token,
// survives its thaw, also when the connection was closed in between.
func TestThawFreesNothing(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{false, true} {
		t.Run(fmt.Sprintf("connection closed %v", closed), func(t *testing.T) {
			masters := StartMasters(t, 5)
			cfg := overFive(masters)
			link := NewLink(t, masters[0].Addr)
			cfg.Masters[0] = link.Addr
			r := StartRedlockd(t, cfg, masters)
			ctx, c := context.Background(), r.Client()

			const locks = 50
			key := func(i int) string { return fmt.Sprintf("again:%d", i) }
			for i := range locks {
				r.wantTake(key(i))
			}
			masters[0].Freeze()
			var wg sync.WaitGroup
			for i := range locks {
				w := DialWire(t, r.Addr)
				wg.Go(func() {
					if got := w.Ask("EVAL", releaseScript, "1", key(i), "me"); got != ":1\r\n" {
						t.Errorf("release: %q", got)
					}
				})
			}
			wg.Wait()
			for i := range locks {
				r.wantTake(key(i))
			}
			if closed {
				link.Drop()
			}
			masters[0].Thaw()
			r.WaitVoting(masters...)
			for i := range locks {
				if n := holding(masters, key(i), "me"); n < 3 {
					t.Errorf("after the thaw %s is on %d masters", key(i), n)
				}
				if ok, err := c.SetNX(ctx, key(i), "you", time.Minute).Result(); ok || err != nil {
					t.Errorf("after the thaw %s was given twice: %v, %v", key(i), ok, err)
				}
			}
			for i := range locks {
				if n, err := c.Eval(ctx, releaseScript, []string{key(i)}, "me").Int(); n != 1 {
					t.Errorf("release of %s: %d, %v", key(i), n, err)
				}
			}
			var keys []string
			for i := range locks {
				keys = append(keys, key(i))
			}
			waitGone(t, masters, keys...)
		})
	}
}

// TestClientGoneBeforeItsOK is P5: a lock that is won for a client that has
// left is free again at once, not after its TTL.
func TestClientGoneBeforeItsOK(t *testing.T) {
	t.Parallel()
	masters := StartMasters(t, 5)
	cfg := overFive(masters)
	cfg.Timeout = 5 * time.Second // long enough to leave within it
	r := StartRedlockd(t, cfg, masters)
	for _, m := range masters[:3] {
		m.Freeze()
	}
	w := DialWire(t, r.Addr)
	w.Send(command("SET", "left", "me", "NX", "PX", "60000"))
	if without := rig.WaitHeld(masters[3:], "left", "me", patience); len(without) > 0 {
		t.Fatalf("the lock is not on %v", without)
	}
	w.Close() // while three votes are awaited
	for _, m := range masters[:3] {
		m.Thaw()
	}
	eventually(t, "another client has the lock", func() (bool, string) {
		ok, err := r.Client().SetNX(context.Background(), "left", "you", time.Minute).Result()
		return ok, fmt.Sprint(err)
	})
	r.WaitVoting(masters...)
	if n := holding(masters, "left", "you"); n < 3 {
		t.Errorf("the second client's lock is on %d masters", n)
	}
}
