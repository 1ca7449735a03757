package integration

import (
	"bufio"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// TestRollingRestart is S6: two redlockd are restarted, one after the other
// and again, under clients that go to the other one when their connection is
// closed. What was sent before the stop is answered, every answer is the one
// that a redlockd that goes on gives, no lock is lost, and none has two
// holders.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	const clients, shared = 8, 3
	some := int64(30 * clients)
	if testing.Short() {
		some /= 3
	}
	masters := StartMasters(t, 5)
	cfg := overFive(masters)
	// A busy machine is no majority's loss, which is not what this is about.
	cfg.Timeout, cfg.RetryBudget = 4*time.Second, 4*time.Second
	Bootstrap(t, cfg)
	s := &rolling{t: t, inside: make([]atomic.Int32, shared)}
	for i := range s.servers {
		cfg.Address = rig.FreeAddress(t)
		s.servers[i] = &rolled{Redlockd: JoinRedlockd(t, cfg)}
		s.servers[i].WaitVoting(masters...)
	}
	var wg sync.WaitGroup
	for i := range clients {
		c := &roller{rolling: s, name: "client" + strconv.Itoa(i), at: i % 2}
		wg.Go(func() { c.work(shared) })
	}
	defer wg.Wait()
	defer s.over.Store(true)
	for round := range 2 {
		s.await(some)
		r := s.servers[round%2]
		r.told.Store(time.Now().UnixNano())
		r.Stop()
		s.await(10 * clients) // all of them are at the other one, which serves
		r.told.Store(0)
		r.Restart()
		r.WaitVoting(masters...)
	}
	s.await(some)
	t.Logf("%d cycles; a connection was closed %d times, with %d commands sent after the stop", s.cycles.Load(), s.closed.Load(), s.late.Load())
}

// rolling is the two servers and what their clients share.
type rolling struct {
	t       *testing.T
	servers [2]*rolled
	inside  []atomic.Int32 // holders of each shared lock
	over    atomic.Bool
	cycles  atomic.Int64
	closed  atomic.Int64
	late    atomic.Int64 // commands without a reply
}

// rolled is one that is stopped and comes back.
type rolled struct {
	*Redlockd
	told atomic.Int64 // when it was told to stop, in Unix nanoseconds; 0 while it serves
}

// await waits for so many cycles more, which shows that locks are served.
func (s *rolling) await(more int64) {
	s.t.Helper()
	want := s.cycles.Load() + more
	eventually(s.t, "the clients go on", func() (bool, string) {
		n := s.cycles.Load()
		return n >= want || s.t.Failed(), fmt.Sprintf("%d of %d cycles", n, want)
	})
}

// roller is a client with two addresses.
type roller struct {
	*rolling
	name string
	at   int // which of the servers
	conn net.Conn
	r    *bufio.Reader
}

// work keeps one lock of its own all the time, and takes shared ones.
func (c *roller) work(shared int) {
	own := "rolling:own:" + c.name
	c.ask("+OK\r\n", "SET", own, c.name, "NX", "PX", "60000")
	for n := 0; !c.over.Load() && !c.t.Failed(); n++ {
		i := n % shared
		key, token := fmt.Sprintf("rolling:shared:%d", i), fmt.Sprintf("%s:%d", c.name, n)
		replies := c.send([]string{"SET", key, token, "NX", "PX", "60000"})
		if len(replies) == 1 && replies[0] == "+OK\r\n" {
			if holders := c.inside[i].Add(1); holders != 1 {
				c.t.Errorf("%s has %d holders", key, holders)
			}
			c.keeps(own)
			c.inside[i].Add(-1)
			c.release(key, token)
		} else if len(replies) == 1 && replies[0] != "$-1\r\n" {
			c.t.Errorf("SET: %q", replies)
		}
		c.keeps(own)
		c.cycles.Add(1)
	}
	c.ask(":1\r\n", "EVAL", releaseScript, "1", own, c.name)
	if c.conn != nil {
		c.conn.Close()
	}
}

// keeps requires that the client's own lock is there, by several commands in
// one write.
func (c *roller) keeps(own string) {
	want := []string{":1\r\n", fmt.Sprintf("$%d\r\n%s\r\n", len(c.name), c.name), "$-1\r\n", ":1\r\n"}
	replies := c.send(
		[]string{"EVAL", extendScript, "1", own, c.name, "60000"},
		[]string{"GET", own},
		[]string{"SET", own, "another", "NX", "PX", "60000"},
		[]string{"EXISTS", own})
	for i, got := range replies {
		if got != want[i] {
			c.t.Errorf("%s, command %d: %q, want %q", own, i, got, want[i])
		}
	}
}

// release gives the lock back. When it was not told whether it has, it asks
// the other redlockd, and the lock is free in any case.
func (c *roller) release(key, token string) {
	replies := c.send([]string{"EVAL", releaseScript, "1", key, token})
	if len(replies) == 1 && replies[0] != ":1\r\n" {
		c.t.Errorf("release: %q", replies)
	}
	for len(replies) == 0 && !c.t.Failed() {
		replies = c.send([]string{"EVAL", releaseScript, "1", key, token})
	}
}

// ask repeats one command until it is answered.
func (c *roller) ask(want string, args ...string) {
	for !c.t.Failed() {
		if replies := c.send(args); len(replies) == 1 {
			if replies[0] != want {
				c.t.Errorf("%s: %q, want %q", args[0], replies[0], want)
			}
			return
		}
	}
}

// send sends the commands in one write and returns their replies: fewer, when
// the connection was closed, which only a stop may do, and only to commands
// that were sent after it.
func (c *roller) send(commands ...[]string) (replies []string) {
	if c.conn == nil && !c.connect() {
		return nil
	}
	var text []byte
	for _, args := range commands {
		text = append(text, command(args...)...)
	}
	_ = c.conn.SetDeadline(time.Now().Add(patience))
	_, err := c.conn.Write(text)
	sent := time.Now()
	for len(replies) < len(commands) && err == nil {
		var frame []byte
		if frame, err = readFrame(c.r); err == nil {
			replies = append(replies, string(frame))
		} else if len(frame) > 0 {
			c.t.Errorf("half a reply: %q, %v", frame, err)
		}
	}
	if err == nil {
		return replies
	}
	told := c.servers[c.at].told.Load()
	if told == 0 || sent.UnixNano() < told {
		c.t.Errorf("%s: %d of %d replies, then %v; sent %v before the stop", c.name, len(replies), len(commands), err, time.Duration(told-sent.UnixNano()))
	}
	c.closed.Add(1)
	c.late.Add(int64(len(commands) - len(replies)))
	c.conn.Close()
	c.conn, c.at = nil, 1-c.at
	return replies
}

func (c *roller) connect() bool {
	conn, err := net.Dial("tcp", c.servers[c.at].Addr)
	if err != nil {
		c.t.Errorf("%s: the other redlockd does not serve: %v", c.name, err)
		return false
	}
	c.conn, c.r = conn, bufio.NewReader(conn)
	return true
}
