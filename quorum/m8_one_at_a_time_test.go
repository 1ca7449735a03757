package quorum

import (
	"bytes"
	"net"
	"sync"
	"testing"
	"time"
)

// TestM8TwoAtOnceDoNotSplit checks that of two changes asked for at once, while each
// instance reaches another master first, one is made, and they do not split the marks
// between them (M8).
func TestM8TwoAtOnceDoNotSplit(t *testing.T) {
	inBubbleWith(t, 2, short, func(c *testCluster) {
		c.stop(c.q)
		a, b := c.cfg.Masters[0], c.cfg.Masters[1]
		f, g := c.join("f"), c.join("g")
		one, two := c.redlockdOf([]Master{a, later(b)}), c.redlockdOf([]Master{later(a), b})
		time.Sleep(5 * time.Second)
		c.change(one, []Master{a, {Name: f.Name, Address: f.Name + ":1", Dial: f.dial}})
		c.change(two, []Master{b, {Name: g.Name, Address: g.Name + ":1", Dial: g.dial}})
		time.Sleep(20 * time.Second)
		if first, second := one.Status().Generation, two.Status().Generation; first+second != 3 {
			t.Errorf("generations %d and %d, want one of the two changes made", first, second)
		}
	})
}

// later returns a master that is far away.
func later(m Master) Master {
	dial := m.Dial
	m.Dial = func() (net.Conn, error) {
		c, err := dial()
		if err != nil {
			return nil, err
		}
		far := &farConn{Conn: c, out: make(chan []byte, 1024)}
		go far.run()
		return far, nil
	}
	return m
}

// farConn delays what is written. Write returns at once, since rueidis spins until its
// last write has ended, and virtual time would stand still.
type farConn struct {
	net.Conn
	out    chan []byte
	mu     sync.Mutex
	closed bool
}

func (c *farConn) run() {
	for b := range c.out {
		time.Sleep(10 * time.Millisecond)
		_, _ = c.Conn.Write(b) // a closed connection shows at Read
	}
	_ = c.Conn.Close()
}

func (c *farConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, net.ErrClosed
	}
	c.out <- bytes.Clone(b)
	return len(b), nil
}

func (c *farConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.closed = true
		close(c.out)
	}
	return c.Conn.SetReadDeadline(time.Unix(1, 0))
}

// TestM8TwoStepsAreTold checks that a change that is asked for while another one is
// being announced, and that starts from the previous list, is not made, and a log line
// reports it once (M8).
func TestM8TwoStepsAreTold(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		c.stop(c.q)
		var lines logged
		q := c.redlockdTelling(lines.logger())
		time.Sleep(3 * time.Second)
		c.slow(5*time.Millisecond, 0, 1, 2, 3, 4)
		f, g := c.join("f"), c.join("g")
		c.change(q, c.listed("e", f))
		time.Sleep(30 * time.Millisecond) // the change is being announced
		c.change(q, c.listed("d", g))
		c.reaches(q, 2, "final")
		time.Sleep(10 * time.Second)
		if n := lines.countOf("change of the list of masters is waiting", "more than one master is added, removed or replaced: change one at a time"); n != 1 {
			t.Errorf("logged %d times, want once:\n%s", n, lines.text.String())
		}
		if s := q.Status(); s.Generation != 2 {
			t.Errorf("generation %d, want 2", s.Generation)
		}
	})
}

// TestM8NextChangeWaits checks that a change that is asked for while the previous one
// is announced waits for it, and does not keep it from being closed (M8).
func TestM8NextChangeWaits(t *testing.T) {
	inBubbleWith(t, 3, short, func(c *testCluster) {
		c.cfg.Masters = c.listed("c", c.join("f"))
		c.change(c.q, c.cfg.Masters)
		c.reaches(c.q, 2, "announced")
		for _, f := range c.masters {
			f.kill() // the next writes to the marks must wait
		}
		c.change(c.q, c.listed("b", c.join("g")))
		time.Sleep(c.cfg.Handover + 3*time.Second)
		for _, f := range c.masters {
			f.mend()
		}
		c.reaches(c.q, 3, "final")
	})
}
