package hostile

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// crowd are the honest clients, each with a connection and locks of its own.
type crowd struct {
	t    *testing.T
	addr string
	stop chan struct{}
	wg   sync.WaitGroup
	// hostile is whether the others are there.
	hostile atomic.Bool
	refused [2]atomic.Int64 // NOQUORUM, without and with hostile clients

	mu     sync.Mutex
	waited [2][]time.Duration // without and with hostile clients
	logins []time.Duration    // with
}

// gather connects n of them and lets them begin.
func gather(t *testing.T, addr string, n int) *crowd {
	c := &crowd{t: t, addr: addr, stop: make(chan struct{})}
	every := time.Duration(n) * time.Second / time.Duration(*rate)
	for i := range n {
		conn, err := c.connect()
		if err != nil {
			t.Fatalf("honest client %d: %v", i, err)
		}
		first := every * time.Duration(i) / time.Duration(n)
		c.wg.Go(func() { c.work(conn, i, first, every) })
	}
	return c
}

// connect logs in.
func (c *crowd) connect() (*honest, error) {
	conn, err := net.DialTimeout("tcp", c.addr, rig.Patience)
	if err != nil {
		return nil, err
	}
	h := &honest{conn, bufio.NewReaderSize(conn, 256)}
	return h, h.ask("+OK", "AUTH", "honest", "of the honest")
}

// work takes and releases a lock every so often until stop.
func (c *crowd) work(h *honest, i int, first, every time.Duration) {
	defer h.Close()
	next := time.NewTimer(first)
	for turn := 0; ; turn++ {
		select {
		case <-c.stop:
			return
		case <-next.C:
		}
		next.Reset(every)
		key, token := fmt.Sprintf("honest:%d", i), fmt.Sprintf("%d:%d", i, turn)
		phase, begin := c.hostile.Load(), time.Now()
		err := h.ask("+OK", "SET", key, token, "NX", "PX", "60000")
		c.note(phase, time.Since(begin), err)
		if err == nil {
			err = h.ask(":1", "EVAL", rig.ReleaseScript, "1", key, token)
		}
		if err != nil && !noQuorum(err) {
			c.t.Errorf("honest client %d: %v", i, err)
			return
		}
	}
}

// noQuorum reports whether nobody could tell in time, which a machine that has too
// little for all of its processes brings about without hostile clients too.
func noQuorum(err error) bool { return strings.Contains(err.Error(), "NOQUORUM") }

func (c *crowd) note(phase bool, d time.Duration, err error) {
	i := 0
	if phase {
		i = 1
	}
	if err != nil && noQuorum(err) {
		c.refused[i].Add(1)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waited[i] = append(c.waited[i], d)
}

// arrive logs in anew, now and then, while the hostile ones are there.
func (c *crowd) arrive(ctx context.Context) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		begin := time.Now()
		h, err := c.connect()
		if err != nil {
			c.t.Errorf("a newcomer: %v", err)
			return
		}
		h.Close()
		c.mu.Lock()
		c.logins = append(c.logins, time.Since(begin))
		c.mu.Unlock()
	}
}

func (c *crowd) leave() {
	close(c.stop)
	c.wg.Wait()
}

// percentile99 sorts what it is given.
func percentile99(waited []time.Duration) time.Duration {
	if len(waited) == 0 {
		return 0
	}
	slices.Sort(waited)
	return waited[len(waited)*99/100]
}

// honest is one connection.
type honest struct {
	net.Conn
	r *bufio.Reader
}

// ask sends a command and wants this line.
func (h *honest) ask(want string, words ...string) error {
	if err := h.SetDeadline(time.Now().Add(rig.Patience)); err != nil {
		return err
	}
	if _, err := h.Write(command(words...)); err != nil {
		return err
	}
	got, err := h.r.ReadString('\n')
	if got = strings.TrimRight(got, "\r\n"); err == nil && got != want {
		err = fmt.Errorf("%s: got %q, want %q", words[0], got, want)
	}
	return err
}

func command(words ...string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	return []byte(b.String())
}
