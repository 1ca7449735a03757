package notify

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/commands"
)

// pop pops from a list without waiting.
func (g *Signals) pop(name string, now time.Time) string {
	p, _ := g.PopNow(NewWaiter(7, 0, [][]byte{[]byte(name)}, false), now)
	return p.Item
}

// wantBytes requires that the bytes of all lists are counted and within their bound.
func (g *Signals) wantBytes(t *testing.T) {
	t.Helper()
	size := 0
	for _, at := range g.lists.Keys() {
		l, _ := g.lists.Peek(at)
		size += l.size(at)
	}
	if g.bytes != size || size > maxSignalBytes {
		t.Errorf("%d bytes are counted, the lists take %d, at most %d may be", g.bytes, size, maxSignalBytes)
	}
}

// S5: who fills many lists, or long ones, does not keep the signals of others from being
// kept: the oldest go.
func TestS5SignalsAreBounded(t *testing.T) {
	long := strings.Repeat("x", 4<<10)
	for name, c := range map[string]struct {
		prefix, item string
		lists        int
	}{
		"many":       {"", "1", 2 * maxSignals},
		"long names": {long, "1", 3000},
		"long items": {"", long, 3000},
	} {
		t.Run(name, func(t *testing.T) {
			g, now := NewSignals(), time.Now()
			fill := func(name, item string) {
				g.Fill(commands.Notice{Signal: name, Items: []string{item}, TTL: time.Hour, Lock: "k"}, now)
			}
			fill("oldest", "2")
			for i := range c.lists {
				fill(c.prefix+fmt.Sprint(i), c.item)
			}
			fill("newest", "3")
			g.wantBytes(t)
			if n := g.lists.Len(); n > maxSignals {
				t.Errorf("%d lists are kept", n)
			}
			if got := g.pop("newest", now); got != "3" {
				t.Errorf("the newest list holds %q, want 3", got)
			}
			if got := g.pop("oldest", now); got != "" {
				t.Errorf("the oldest list still holds %q", got)
			}
			for i := range c.lists {
				g.pop(c.prefix+fmt.Sprint(i), now)
				g.Drop(Signal{0, c.prefix + fmt.Sprint(i)})
			}
			g.wantBytes(t)
		})
	}
}

// S5: who waits is woken, whatever can be kept.
func TestS5WaitersAreWokenBeforeSignalsAreBounded(t *testing.T) {
	g, now := NewSignals(), time.Now()
	w := NewWaiter(7, 0, [][]byte{[]byte("s")}, false)
	g.Wait(w, now)
	g.Fill(commands.Notice{Signal: "s", Items: []string{"1", strings.Repeat("x", 2*maxSignalBytes)}, TTL: time.Hour}, now)
	if p, ok := g.Cancel(w); !ok || p.Item != "1" {
		t.Errorf("the waiter got %q, want 1", p.Item)
	}
	g.wantBytes(t)
}

// A list ends with its TTL, after maxSignalTTL at the latest, and what was popped for a
// client that has gone is put back for a second at least. The lock stays known.
func TestSignalsEnd(t *testing.T) {
	g, now := NewSignals(), time.Now()
	g.Fill(commands.Notice{Signal: "a", Items: []string{"1", "2"}, TTL: time.Hour, Lock: "k"}, now)
	g.Fill(commands.Notice{Signal: "b", Items: []string{"1"}, TTL: time.Second}, now)
	if got := g.pop("b", now.Add(time.Second)); got != "" {
		t.Errorf("the signal %q outlived its TTL", got)
	}
	if got := g.pop("a", now.Add(maxSignalTTL-1)); got != "1" {
		t.Errorf("got %q before the end, want 1", got)
	}
	over := now.Add(maxSignalTTL)
	if items, left := g.Peek(Signal{0, "a"}, over); items != 0 || left != 0 {
		t.Errorf("%d items outlived the longest time by %v", items, left)
	}
	g.GiveBack(Popped{Signal{0, "a"}, "1"}, over)
	if items, left := g.Peek(Signal{0, "a"}, over); items != 1 || left != time.Second {
		t.Errorf("%d items are back for %v, want 1 for 1s", items, left)
	}
	g.Fill(commands.Notice{Signal: "a"}, over)
	if lock, ok := g.Lock(Signal{0, "a"}); !ok || lock != "k" {
		t.Errorf("the lock of an empty list is %q, want k", lock)
	}
	if _, known := g.lists.Peek(Signal{0, "b"}); known {
		t.Error("a list without items and lock is kept")
	}
	g.wantBytes(t)
}
