package integration

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHashOfACutReply is P5 for a lock in a hash: whoever takes it anew after its connection broke
// has it once, and not twice. On one Redis the first turn would stay.
func TestHashOfACutReply(t *testing.T) {
	t.Parallel()
	masters := StartMasters(t, 5)
	cfg := overFive(masters)
	cfg.Timeout = 5 * time.Second // long enough to leave within it
	r := StartRedlockd(t, cfg, masters)
	for _, m := range masters[:3] {
		m.Freeze()
	}
	w := DialWire(t, r.Addr)
	w.Send(command("EVAL", takeHash, "1", "cut", "a:1", "60000"))
	for _, m := range masters[3:] {
		eventually(t, "a living master has the lock", func() (bool, string) {
			text, err := m.Client.Get(context.Background(), "cut").Result()
			return strings.Contains(text, "a:1"), fmt.Sprint(text, err)
		})
	}
	w.Close() // while three votes are awaited
	for _, m := range masters[:3] {
		m.Thaw()
	}
	again := DialWire(t, r.Addr)
	eventually(t, "the lock is taken", func() (bool, string) {
		got := again.Ask("EVAL", takeHash, "1", "cut", "a:1", "60000")
		if !strings.HasPrefix(got, "-NOQUORUM") && got != ":1\r\n" {
			t.Fatalf("taken again: %q, want 1", got)
		}
		return got == ":1\r\n", got
	})
	if got := again.Ask("LOCKS", "WHO", "cut"); !strings.Contains(got, "owner\r\n$3\r\na:1\r\n$5\r\ncount\r\n$1\r\n1\r\n") || strings.Contains(got, "\x00") {
		t.Errorf("LOCKS WHO: %q", got)
	}
	if got := again.Ask("EVAL", freeHash, "1", "cut", "a:1", "60000"); got != ":0\r\n" {
		t.Errorf("given back: %q", got)
	}
}

// TestHashesBySeveralRedlockd is C8: three redlockd, of which each believes what it saw last, count one
// lock up and down, and none is mistaken; with two of five masters dead too.
func TestHashesBySeveralRedlockd(t *testing.T) {
	t.Parallel()
	masters := StartMasters(t, 5)
	cfg := overFive(masters)
	cfg.Timeout = 2 * time.Second
	wires := []*Wire{DialWire(t, StartRedlockd(t, cfg, masters).Addr)}
	for range 2 {
		wires = append(wires, DialWire(t, JoinRedlockd(t, cfg).Addr))
	}
	ask := func(n int, want string, args ...string) {
		t.Helper()
		if got := wires[n%3].Ask(args...); got != want {
			t.Fatalf("%d, %.40q: %q, want %q", n, args, got, want)
		}
	}
	for round := range 2 {
		for _, w := range wires { // a new redlockd watches the clocks first
			eventually(t, "a majority answers", func() (bool, string) {
				got := w.Ask("HLEN", "several")
				return got == ":0\r\n", got
			})
		}
		n := round
		for turn := 1; turn <= 5; turn++ {
			ask(n, fmt.Sprintf(":%d\r\n", turn), "EVAL", takeHash, "1", "several", "a:1", "60000")
			n++
			ask(n, "*1\r\n$3\r\na:1\r\n", "EVAL", takeHash, "1", "several", "b:1", "60000")
		}
		for turn := 4; turn >= 0; turn-- {
			ask(n, fmt.Sprintf(":%d\r\n", turn), "EVAL", freeHash, "1", "several", "a:1", "60000")
			n += 2
			ask(n, "$-1\r\n", "EVAL", freeHash, "1", "several", "b:1", "60000")
		}
		if round == 0 {
			masters[0].Kill()
			masters[3].Kill()
		}
	}
}

// holdHash takes a lock in a hash twice, with the script and the TTL that it is given, and waits.
const holdHash = `import redis, sys
c = redis.Redis(host=sys.argv[1], port=int(sys.argv[2]))
for turn in (1, 2):
    assert c.eval(sys.argv[3], 1, "killed", "a:1", sys.argv[4]) == turn
print("has it", flush=True)
sys.stdin.readline()
`

// TestHashOfAKilledHolder is P2 for a lock in a hash: its holder is killed and gives nothing back.
// Nobody else gets the lock or gives it back until its TTL is over; then another client, at another
// redlockd, has it once. DEL, as forceUnlock sends it, takes that from it.
func TestHashOfAKilledHolder(t *testing.T) {
	t.Parallel()
	const ttl = 3 * time.Second
	masters := StartMasters(t, 5)
	cfg := overFive(masters)
	cfg.Timeout = 200 * time.Millisecond
	r := StartRedlockd(t, cfg, masters)
	other, third := DialWire(t, JoinRedlockd(t, cfg).Addr), DialWire(t, r.Addr)
	eventually(t, "a majority answers", func() (bool, string) {
		got := other.Ask("HLEN", "killed")
		return got == ":0\r\n", got
	})
	take := func(w *Wire, who string) string { return w.Ask("EVAL", takeHash, "1", "killed", who, "60000") }
	free := func(w *Wire, who string) string { return w.Ask("EVAL", freeHash, "1", "killed", who, "60000") }

	began := time.Now()
	h := startHolderOf(t, holdHash, r.Addr, takeHash, fmt.Sprint(ttl.Milliseconds()))
	h.signal(syscall.SIGKILL)
	_ = h.cmd.Wait() // it was killed
	if got := third.Ask("HGETALL", "killed"); got != "*2\r\n$3\r\na:1\r\n$1\r\n2\r\n" {
		t.Fatalf("when its holder was killed the hash is %q", got)
	}
	if got := free(other, "b:1"); got != "$-1\r\n" {
		t.Errorf("another one gives it back: %q", got)
	}
	eventually(t, "another one takes it", func() (bool, string) {
		got := take(other, "b:1")
		refused := got == "*1\r\n$3\r\na:1\r\n" || strings.HasPrefix(got, "-NOQUORUM") // while the copies end
		if !refused && got != ":1\r\n" {
			t.Fatalf("another one takes it: %q", got)
		}
		return got == ":1\r\n", got
	})
	if took := time.Since(began); took < ttl {
		t.Errorf("another one has it %v after it was taken for %v", took, ttl)
	}
	if got := free(third, "a:1"); got != "$-1\r\n" {
		t.Errorf("who was its holder gives it back: %q", got)
	}
	if got := third.Ask("DEL", "killed"); got != ":1\r\n" {
		t.Errorf("forced: %q", got)
	}
	if got := free(other, "b:1"); got != "$-1\r\n" {
		t.Errorf("given back after it was forced: %q", got)
	}
	if got := take(third, "c:1"); got != ":1\r\n" {
		t.Errorf("taken after it was forced: %q", got)
	}
}
