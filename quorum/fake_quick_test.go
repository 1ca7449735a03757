package quorum

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/scripts"
)

// quickMaster is a Redis 7 for measuring redlockd alone: it answers at once over a
// pipe, agrees to every command, and allocates nothing. It stores only its mark.
type quickMaster struct {
	name string
	mu   sync.Mutex
	mark []byte
}

func (m *quickMaster) dial() (net.Conn, error) {
	ours, theirs := net.Pipe()
	go m.serve(theirs)
	return ours, nil
}

// serve answers all commands of one read with one write.
func (m *quickMaster) serve(c net.Conn) {
	defer c.Close()
	in, out := make([]byte, 0, 1<<20), make([]byte, 0, 1<<20)
	var args [16][]byte
	for {
		n, err := c.Read(in[len(in):cap(in)])
		if err != nil {
			return
		}
		in = in[:len(in)+n]
		rest := in
		for {
			list, after := frame(rest, args[:0])
			if list == nil {
				break
			}
			out, rest = m.answer(out, list), after
		}
		in = in[:copy(in, rest)]
		if _, err := c.Write(out); err != nil {
			return
		}
		out = out[:0]
	}
}

// frame cuts one command off, or returns nil while it is incomplete.
func frame(b []byte, args [][]byte) (list [][]byte, rest []byte) {
	line := func() (int, bool) {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			return 0, false
		}
		n := 0
		for _, c := range b[1 : i-1] {
			n = n*10 + int(c-'0')
		}
		b = b[i+1:]
		return n, true
	}
	count, ok := line()
	if !ok {
		return nil, nil
	}
	for range count {
		size, ok := line()
		if !ok || len(b) < size+2 {
			return nil, nil
		}
		args, b = append(args, b[:size]), b[size+2:]
	}
	return args, b
}

func (m *quickMaster) answer(out []byte, args [][]byte) []byte {
	switch name := args[0]; {
	case bytes.Equal(name, []byte("SET")):
		return append(out, "_\r\n"...) // it was absent, and is set
	case bytes.Equal(name, []byte("GET")):
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.mark == nil {
			return append(out, "_\r\n"...)
		}
		return appendBulk(out, m.mark)
	case bytes.Equal(name, []byte("TIME")):
		now := time.Now().UnixMicro()
		var text [20]byte
		out = append(out, "*2\r\n"...)
		out = appendBulk(out, strconv.AppendInt(text[:0], now/1e6, 10))
		return appendBulk(out, strconv.AppendInt(text[:0], now%1e6, 10))
	case bytes.Equal(name, []byte("HELLO")):
		return append(out, "%1\r\n$5\r\nproto\r\n:3\r\n"...)
	case bytes.Equal(name, []byte("INFO")):
		info := "redis_version:7.0.15\r\nrun_id:run-" + m.name + "\r\nrole:master\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\naof_enabled:0\r\n"
		return appendBulk(out, []byte(info))
	case bytes.Equal(name, []byte("EVAL")) && string(args[1]) == scripts.Mark.Text:
		m.mu.Lock()
		defer m.mu.Unlock()
		m.mark = bytes.Clone(args[5]) // EVAL text 1 key before after deadline
	case len(args) > 1 && (string(args[1]) == scripts.Bundle.Text || string(args[1]) == scripts.Bundle.SHA):
		keys, _ := strconv.Atoi(string(args[2]))
		out = append(strconv.AppendInt(append(out, '*'), int64(keys), 10), "\r\n"...)
		return append(out, bytes.Repeat([]byte(":1\r\n"), keys)...) // each done
	case bytes.Equal(name, []byte("CLIENT")) && string(args[1]) == "SETNAME":
		return append(out, "+OK\r\n"...)
	}
	return append(out, ":1\r\n"...) // a release, or the connection's id
}

func appendBulk(out, text []byte) []byte {
	out = append(out, '$')
	out = strconv.AppendInt(out, int64(len(text)), 10)
	out = append(out, "\r\n"...)
	out = append(out, text...)
	return append(out, "\r\n"...)
}

// quickQuorum returns a Quorum over this number of quickMasters, ready to lock.
func quickQuorum(tb testing.TB, masters int) *Quorum {
	tb.Helper()
	cfg := cluster.DefaultConfig()
	cfg.Timeout = 10 * time.Second // so that a busy machine loses no attempt
	for i := range masters {
		m := &quickMaster{name: string(rune('a' + i))}
		cfg.Masters = append(cfg.Masters, cluster.Master{Name: m.name, Address: m.name + ":1", Dial: m.dial})
	}
	ctx, cancel := context.WithTimeout(tb.Context(), 30*time.Second)
	defer cancel()
	if err := cluster.Bootstrap(ctx, cfg, hclog.NewNullLogger()); err != nil {
		tb.Fatal(err)
	}
	q, err := New(cfg, hclog.NewNullLogger())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := q.Close(ctx); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	for q.Status().Voting < masters { // nobody has seen a step that could be waited for
		for _, l := range q.cluster.Database(0).List().Links {
			withLocked(l, func(l cluster.Locked) { l.Watch().Judged(true, false) })
		}
		if ctx.Err() != nil {
			tb.Fatalf("they do not vote: %+v", q.Status().Masters)
		}
		time.Sleep(time.Millisecond)
	}
	for { // until the marks bear the hold and the masters' clocks are known
		o := do(q, acquire("warm", "t", 10*time.Second))
		if o.Verdict == Won {
			return q
		}
		if ctx.Err() != nil {
			tb.Fatalf("never won: %v", o.Err)
		}
		time.Sleep(time.Millisecond)
	}
}

// cycler is a client that takes and releases a key of its own.
type cycler struct {
	q             *Quorum
	take, release Op
	out           chan *Outcome
	done          func(*Outcome)
}

func newCycler(q *Quorum, i int) *cycler {
	key := fmt.Sprintf("key:%d", i)
	c := &cycler{q: q, take: acquire(key, "token", 8*time.Second), release: release(key, "token"), out: make(chan *Outcome, 1)}
	c.done = func(o *Outcome) { c.out <- o }
	return c
}

func (c *cycler) cycle(tb testing.TB) {
	for _, op := range []*Op{&c.take, &c.release} {
		c.q.Do(op, nobody, c.done)
		o := <-c.out
		if o.Verdict != Won {
			tb.Errorf("verdict is %v: %v", o.Verdict, o.Err)
		}
		if _, err := o.Confirm(o.Clock()); err != nil {
			tb.Error(err)
		}
	}
}

// nobody is a client that takes no memory.
var nobody = &alive{}
