package integration

import (
	"context"
	"fmt"
	"strings"
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
