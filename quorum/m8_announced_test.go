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

// raisesList reports whether a command writes a mark with another state of the list.
func raisesList(command []byte) bool {
	var marks []*mark.Mark
	for word := range bytes.SplitSeq(command, []byte("\r\n")) {
		if m, err := mark.Parse(string(word)); err == nil {
			marks = append(marks, m)
		}
	}
	return len(marks) == 2 && marks[0].Generation != marks[1].Generation
}

func (c *detourConn) run() {
	for b := range c.out {
		if raisesList(b) {
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

// TestM8AnnouncedByWhatIsOutOfView checks that a redlockd does not write what it only
// remembers of a change (M8). R1 remembers that a change was announced on a b c: a leaves.
// a and b restart empty and begin anew with the old list of R2, which announces that c
// leaves; what it writes to d hangs in the network. If R1 wrote its change to d, A would
// have a b and B c d.
func TestM8AnnouncedByWhatIsOutOfView(t *testing.T) {
	for phase := time.Duration(0); phase < time.Second; phase += 150 * time.Millisecond {
		inBubbleWith(t, 4, func(cfg *Config) { cfg.MaxTTL, cfg.Handover = 5*time.Second, 10*time.Minute }, func(c *testCluster) {
			slow := &detour{let: make(chan struct{})}
			defer slow.release()
			all := append([]Master(nil), c.cfg.Masters...)
			far := append([]Master(nil), all...)
			far[3].Dial = slow.dial(c.masters[3])
			old, oldWays := c.redlockdOver(far)
			one, ways := c.redlockdOver(all)
			time.Sleep(5 * time.Second)
			c.stop(c.q)
			for _, w := range oldWays {
				w.leads(noRoute)
			}
			ways["d"].leads(noRoute)
			c.change(one, over(c.listed("a"), ways))
			c.reaches(one, 2, "announced")
			for _, w := range ways {
				w.leads(noRoute)
			}
			c.loses(0, 1)
			oldWays["a"].leads(c.masters[0].dial)
			oldWays["b"].leads(c.masters[1].dial)
			oldWays["d"].leads(slow.dial(c.masters[3]))
			time.Sleep(time.Minute + phase)
			c.change(old, over(c.listed("c"), oldWays))
			for slow.count() == 0 {
				time.Sleep(10 * time.Millisecond)
			}
			ways["c"].leads(c.masters[2].dial)
			ways["d"].leads(c.masters[3].dial)
			fresh := c.redlockdOf(without(c.listed("c"), "d"))
			for range 40 {
				a, b := do(fresh, acquire("k", "A", 4*time.Second)), do(one, acquire("k", "B", 4*time.Second))
				if a.Verdict == Won && b.Verdict == Won {
					t.Fatalf("phase %v: two holders", phase)
				}
				time.Sleep(500 * time.Millisecond)
			}
		})
	}
}

// TestM8AddressOfAFileReadMeanwhile checks that the addresses of a file that is read while
// a change is being announced are not lost when its list comes into force, and that the list
// keeps the required master that it was announced with (M8).
func TestM8AddressOfAFileReadMeanwhile(t *testing.T) {
	for name, list := range map[string]func(c *testCluster, changed []cluster.Master) []cluster.Master{
		"the same list": func(_ *testCluster, changed []cluster.Master) []cluster.Master { return slices.Clone(changed) },
		"taken back":    func(c *testCluster, _ []cluster.Master) []cluster.Master { return slices.Clone(c.cfg.Masters) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubbleWith(t, 3, short, func(c *testCluster) {
				for _, f := range c.masters {
					f.away(time.Millisecond)
				}
				changed := c.listed("c", c.join("x"))
				changed[1].Required = true
				c.change(c.q, changed)
				for c.masters[0].holds(cluster.ChangeKey) == "" {
					time.Sleep(time.Millisecond)
				}
				latest := list(c, changed)
				moved := &latest[len(latest)-1]
				if name == "taken back" {
					moved = &latest[0]
				}
				moved.Address = "elsewhere:1"
				c.change(c.q, latest)
				c.reaches(c.q, 2, "announced")
				for _, m := range c.q.Status().Masters {
					if m.Name == moved.Name && m.Address != "elsewhere:1" {
						t.Errorf("master %s is at %s, want elsewhere:1", m.Name, m.Address)
					}
					if m.Required != (m.Name == "b") {
						t.Errorf("master %s is required: %v", m.Name, m.Required)
					}
				}
			})
		})
	}
}
