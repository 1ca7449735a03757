package quorum

import (
	"bytes"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/mark"
)

// detour is the network to some masters, which holds up what raises the state of the list,
// with all that comes behind it on that connection, until it is let through. What was sent
// arrives also where the connection has been closed since.
type detour struct {
	mu     sync.Mutex
	let    chan struct{}
	held   int
	closed bool // to new connections
}

func (d *detour) dial(to *fakeMaster) func() (net.Conn, error) {
	return func() (net.Conn, error) {
		d.mu.Lock()
		closed := d.closed
		d.mu.Unlock()
		if closed {
			return noRoute()
		}
		conn, err := to.dial()
		if err != nil {
			return nil, err
		}
		c := &detourConn{farConn: &farConn{Conn: conn, out: make(chan []byte, 1024)}, by: d}
		go c.run()
		return c, nil
	}
}

// count is how many of those writes are held up.
func (d *detour) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.held
}

// release lets through what was held up, and new connections.
func (d *detour) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		close(d.let)
	}
	d.closed = false
}

type detourConn struct {
	*farConn
	by *detour
}

// What was written is on its way: no deadline holds for it.
func (c *detourConn) SetDeadline(t time.Time) error    { return c.SetReadDeadline(t) }
func (c *detourConn) SetWriteDeadline(time.Time) error { return nil }

func (c *detourConn) run() {
	for b := range c.out {
		if bytes.Contains(b, []byte("local n, p = tonumber(f[7])")) {
			c.by.mu.Lock()
			c.by.held++
			c.by.closed = true
			c.by.mu.Unlock()
			<-c.by.let
		}
		_, _ = c.Conn.Write(b)
	}
	_ = c.Conn.Close()
}

// M8: d bears a change that came to nothing. What R1 writes of the next one hangs in the
// network until R2, which cannot reach d, has announced another one: A on a b by the list of
// R2, B on c d by that of R1.
func TestM8AnnouncedByWhatComesLate(t *testing.T) {
	inBubbleWith(t, 4, short, func(c *testCluster) {
		first, all := cluster.ListName(c.cfg.Masters), slices.Clone(c.cfg.Masters)
		c.bears(3, mark.Generation{Number: 2, Phase: mark.Announced, Masters: cluster.ListName(c.listed("a", c.join("x"))), Before: first})
		c.stop(c.q)
		slow := &detour{let: make(chan struct{})}
		defer slow.release()
		for i := range 3 {
			c.cfg.Masters[i].Dial = slow.dial(c.masters[i])
		}
		one := c.redlockd()
		list := c.listed("a")
		two, ways := c.redlockdOver(without(all, "d"))
		time.Sleep(5 * time.Second)
		c.change(one, list)
		time.Sleep(15 * time.Second)
		if n := slow.count(); n != 3 {
			t.Fatalf("%d are held up, want 3", n)
		}
		c.cfg.Masters = all
		c.change(two, without(c.listed("d"), ""))
		c.reaches(two, 2, "announced")
		ways["c"].leads(noRoute)
		time.Sleep(100 * time.Millisecond)
		c.want(do(two, acquire("k", "A", 5*time.Second)), Won)
		taken := time.Now()
		slow.release()
		for time.Since(taken) < 4*time.Second {
			if o := do(one, acquire("k", "B", time.Second)); o.Verdict == Won {
				t.Fatalf("two holders after %v", time.Since(taken))
			}
			time.Sleep(250 * time.Millisecond)
		}
	})
}
