package quorum

import (
	"errors"
	"net"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// cable is the network between one master and the redlockd that are started later.
type cable struct {
	dial func() (net.Conn, error)

	mu    sync.Mutex
	down  bool
	conns []net.Conn
}

// throughCable puts a cable before a master.
func (c *testCluster) throughCable(master int) *cable {
	k := &cable{dial: c.masters[master].dial}
	c.cfg.Masters = slices.Clone(c.cfg.Masters)
	c.cfg.Masters[master].Dial = k.reach
	return k
}

// redlockdThrough starts a redlockd that reaches one master through a cable, and waits until it
// has watched the clocks; the first one reaches all masters directly.
func (c *testCluster) redlockdThrough(master int) (*Quorum, *cable) {
	direct := c.cfg.Masters
	way := c.throughCable(master)
	other := c.redlockd()
	c.cfg.Masters = direct
	time.Sleep(5 * time.Second)
	return other, way
}

// owesDel starts a redlockd that does operations on k, and then deletes it while it is cut off from
// the last of three masters, which has k still. It deletes that copy when the cable is mended.
func (c *testCluster) owesDel(before ...Op) *cable {
	other, way := c.redlockdThrough(2)
	for _, op := range before {
		c.tell(do(other, op))
	}
	synctest.Wait()
	time.Sleep(100 * time.Millisecond)
	way.cut(true)
	synctest.Wait()
	c.want(do(other, Op{Kind: Remove, Key: "k"}), Won)
	return way
}

func (k *cable) reach() (net.Conn, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.down {
		return nil, errors.New("no route to host")
	}
	conn, err := k.dial()
	if err == nil {
		k.conns = append(k.conns, conn)
	}
	return conn, err
}

// cut cuts the cable (down) or mends it.
func (k *cable) cut(down bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.down = down; !down {
		return
	}
	for _, conn := range k.conns {
		_ = conn.Close()
	}
	k.conns = nil
}

// stoppable is the clock of a redlockd that stands still for a moment: for it, the time
// that passes for the others passes at once.
type stoppable struct {
	mu      sync.Mutex
	skipped time.Duration
}

func (s *stoppable) clock() clock.Clock {
	began := clock.Monotonic()
	return func() time.Duration {
		s.mu.Lock()
		defer s.mu.Unlock()
		return began() + s.skipped
	}
}

// stoppable begins redlockd anew with such a clock, and waits until it is ready.
func (c *testCluster) stoppable() *stoppable {
	s := &stoppable{}
	c.stop(c.q)
	c.q = c.redlockdBy(s.clock())
	c.ready()
	return s
}

// pass makes d pass for the masters while the redlockd with this clock stands still.
func (c *testCluster) pass(d time.Duration, s *stoppable) {
	s.mu.Lock()
	s.skipped += d
	s.mu.Unlock()
	for _, f := range c.masters {
		f.set(func() { f.Offset += d })
	}
}

// open waits until a database is open.
func open(q *Quorum, db int) {
	done := make(chan struct{})
	q.Open(db, func() { close(done) })
	<-done
}
