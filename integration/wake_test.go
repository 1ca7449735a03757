package integration

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// releaseAndTell frees a lock and tells of it, as the scripts of libraries do.
const releaseAndTell = `if redis.call('get', KEYS[1]) == ARGV[1] then
  redis.call('del', KEYS[1]) redis.call('publish', ARGV[2], 'free') return 1 end return 0`

// S7: a release wakes who waits at another redlockd, by a message or by a list, with all
// masters, with two of five dead, and with a third redlockd frozen.
func TestS7WakesElsewhere(t *testing.T) {
	t.Parallel()
	masters := StartMasters(t, 5)
	cfg := overFive(masters)
	Bootstrap(t, cfg)
	var all []*Redlockd
	for range 3 {
		all = append(all, JoinRedlockd(t, cfg))
	}
	for _, r := range all {
		r.WaitVoting(masters...)
	}
	steps := []struct {
		name   string
		before func()
	}{
		{"all masters", func() {}},
		{"two of five dead", func() { masters[1].Kill(); masters[3].Kill() }},
		{"another redlockd frozen", func() {
			DialWire(t, all[2].Addr).want(t, subscribed("subscribe", "ch"), "SUBSCRIBE", "ch")
			all[2].Freeze()
		}},
		{"it has thawed", func() { all[2].Thaw() }},
	}
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			step.before()
			wakes(t, masters, all[0].Addr, all[1].Addr)
		})
	}
}

// wakes requires that a release at one redlockd wakes who waits at another.
func wakes(t *testing.T, masters []*Master, here, there string) {
	t.Helper()
	owner, channel, pattern, list := DialWire(t, here), DialWire(t, there), DialWire(t, there), DialWire(t, there)
	channel.want(t, subscribed("subscribe", "ch"), "SUBSCRIBE", "ch")
	pattern.want(t, subscribed("psubscribe", "c*"), "PSUBSCRIBE", "c*")
	owner.want(t, "+OK\r\n", "SET", "lock:k", "t", "NX", "PX", "60000")
	owner.want(t, ":1\r\n", "EVAL", releaseAndTell, "1", "lock:k", "t", "ch")
	if got, want := string(channel.Frame()), "*3\r\n$7\r\nmessage\r\n$2\r\nch\r\n$4\r\nfree\r\n"; got != want {
		t.Errorf("heard %q, want %q", got, want)
	}
	if got, want := string(pattern.Frame()), "*4\r\n$8\r\npmessage\r\n$2\r\nc*\r\n$2\r\nch\r\n$4\r\nfree\r\n"; got != want {
		t.Errorf("heard %q, want %q", got, want)
	}
	// The list's lock has another name than libraries give it, so no look at it finds that
	// it is free.
	owner.want(t, "+OK\r\n", "SET", "its lock", "t", "NX", "PX", "60000")
	list.Send(command("BLPOP", "a list", "30"))
	for _, m := range masters {
		eventually(t, "the masters know of it", func() (bool, string) {
			got, err := m.Client.PubSubNumSub(t.Context(), "redlockd:0:a list").Result()
			return err != nil && !m.Running() || got["redlockd:0:a list"] == 1, fmt.Sprint(got, err)
		})
	}
	owner.want(t, ":1\r\n", "EVAL", freeAndTrim, "2", "its lock", "a list", "t")
	if got, want := string(list.Frame()), "*2\r\n$6\r\na list\r\n$1\r\n1\r\n"; got != want {
		t.Errorf("popped %q, want %q", got, want)
	}
	// Nothing comes twice.
	owner.want(t, ":0\r\n", "PUBLISH", "ch", "last")
	if got := string(channel.Frame()); !strings.HasSuffix(got, "$4\r\nlast\r\n") {
		t.Errorf("heard %q, want the last message", got)
	}
}

func subscribed(command, name string) string {
	return fmt.Sprintf("*3\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n:1\r\n", len(command), command, len(name), name)
}

// S7: a lock goes from hand to hand among the clients of three redlockd, one at each, which try
// again only when they hear a message, HANDOVERS times. None is lost, and the median one takes
// two round trips: one for the message, one for the lock.
func TestS7Handovers(t *testing.T) {
	t.Parallel()
	total := 150
	if text := os.Getenv("HANDOVERS"); text != "" {
		total, _ = strconv.Atoi(text)
	}
	masters := StartMasters(t, 5)
	cfg := overFive(masters)
	cfg.Timeout = 300 * time.Millisecond // a busy machine is not what is tested
	for i := range cfg.Masters {
		link := NewLink(t, cfg.Masters[i])
		link.Slow(handoverDelay)
		cfg.Masters[i] = link.Addr
	}
	Bootstrap(t, cfg)
	h := &handovers{t: t, left: int64(total) + 1, released: map[int]time.Time{}}
	var all []*Redlockd
	for range 3 {
		all = append(all, JoinRedlockd(t, cfg))
	}
	var wg sync.WaitGroup
	for _, r := range all {
		r.WaitVoting(masters...)
	}
	trip := h.roundTrip(DialWire(t, all[0].Addr))
	for i, r := range all {
		sub, client := DialWire(t, r.Addr), DialWire(t, r.Addr)
		sub.want(t, subscribed("subscribe", "handover"), "SUBSCRIBE", "handover")
		wg.Go(func() { h.work(client, sub, fmt.Sprint("client ", i)) })
	}
	wg.Wait()
	var took []time.Duration
	for i := 1; i < len(h.taken); i++ {
		took = append(took, h.taken[i].Sub(h.released[i-1]))
	}
	slices.Sort(took)
	if len(took) < total {
		t.Fatalf("only %d of %d handovers", len(took), total)
	}
	p50, p99 := took[len(took)/2], took[len(took)*99/100]
	t.Logf("%d handovers: p50 %v, p99 %v, a round trip %v, %d undecided, %d waits for a message that did not come",
		len(took), p50, p99, trip, h.undecided.Load(), h.lost.Load())
	if h.lost.Load() > 0 {
		t.Errorf("%d messages were lost", h.lost.Load())
	}
	// One more for what the processes take beside the network, on a busy machine.
	if most := 3 * trip; p50 > most {
		t.Errorf("the median handover took %v, want two round trips of %v, at most %v", p50, trip, most)
	}
}

// handoverDelay is how far away the masters are, so that round trips can be told from
// processor time.
const handoverDelay = 10 * time.Millisecond

// handovers are those of one lock.
type handovers struct {
	t    *testing.T
	left int64
	// undecided counts tries that no majority could decide, lost those that were refused, and
	// heard no message then.
	undecided, lost atomic.Int64
	inside          atomic.Int32

	mu sync.Mutex
	// taken and released are when each holder had the lock, and its release was answered.
	taken    []time.Time
	released map[int]time.Time
}

// roundTrip returns the median time of an acquire that nobody is in the way of.
func (h *handovers) roundTrip(w *Wire) time.Duration {
	var took []time.Duration
	for i := range 21 {
		began := time.Now()
		w.want(h.t, "+OK\r\n", "SET", fmt.Sprint("alone", i), "t", "NX", "PX", "60000")
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// work takes and releases the lock until nothing is left to do. It tries again only when it
// hears a message of another's release.
func (h *handovers) work(w, sub *Wire, token string) {
	for atomic.LoadInt64(&h.left) > 0 {
		switch got := w.Ask("SET", "handover", token, "NX", "PX", "60000"); {
		case strings.HasPrefix(got, "-NOQUORUM"): // nobody may have it, and so nobody releases it
			h.undecided.Add(1)
			continue
		case got == "+OK\r\n":
			h.hold(w, token)
			sub.Frame() // its own message
		}
		if atomic.LoadInt64(&h.left) > 0 && !sub.hears() {
			h.lost.Add(1)
		}
	}
}

// hold is what the holder does: it keeps the lock for a moment, so that all others wait.
func (h *handovers) hold(w *Wire, token string) {
	if n := h.inside.Add(1); n != 1 {
		h.t.Errorf("%d holders at one time", n)
	}
	h.mu.Lock()
	turn := len(h.taken)
	h.taken = append(h.taken, time.Now())
	h.mu.Unlock()
	w.Ask("GET", "handover")
	atomic.AddInt64(&h.left, -1)
	h.inside.Add(-1)
	if got := w.Ask("EVAL", releaseAndTell, "1", "handover", token, "handover"); got != ":1\r\n" {
		h.t.Errorf("the release is answered %q", got)
	}
	h.mu.Lock()
	h.released[turn] = time.Now()
	h.mu.Unlock()
}

// hears waits for a frame, and reports whether it came.
func (w *Wire) hears() bool {
	_ = w.conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	_, err := readFrame(w.r)
	return err == nil
}
