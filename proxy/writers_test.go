package proxy

import (
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"
)

// narrow makes a session whose client does not read and that little fits into.
func (r *running) narrow(t *testing.T) *raw {
	t.Helper()
	c := r.dial(t)
	if err := c.Conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	c.ask("PING", "+PONG\r\n")
	for _, ses := range r.clients() {
		if err := ses.conn.(*net.TCPConn).SetWriteBuffer(4 << 10); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// unread is a narrow session with more than fits into it, which it returns too.
func (r *running) unread(t *testing.T) (*raw, string) {
	t.Helper()
	c := r.narrow(t)
	text := strings.Repeat("x", 64<<10)
	c.send(frame("ECHO", text))
	if _, err := c.r.Peek(1); err != nil { // the reply has begun
		t.Fatal(err)
	}
	return c, "$65536\r\n" + text + "\r\n"
}

// S1: clients that do not read keep nobody else's replies back, and get all of
// theirs in order when they read.
func TestS1SlowReadersHoldNobodyUp(t *testing.T) {
	srv := start(t, nil)
	want := map[*raw]string{}
	for range runtime.GOMAXPROCS(0) + 1 { // more than there are writers
		c, reply := srv.unread(t)
		c.send("PING\r\nECHO x\r\n")
		want[c] = reply + "+PONG\r\n$1\r\nx\r\n"
	}
	srv.dial(t).ask("LOCK k a", "+OK\r\n")
	srv.dial(t).ask("PING", "+PONG\r\n")
	for c, replies := range want {
		got := make([]byte, len(replies))
		if _, err := io.ReadFull(c.r, got); err != nil || string(got) != replies {
			t.Errorf("a slow reader got other replies (%v)", err)
		}
	}
}

// V2, P5: a grant that waits behind what the client does not read is undone
// when its time is over. It is asked for before that time begins, since a busy
// machine could read the command only after it.
func TestV2GrantBehindUnreadReplies(t *testing.T) {
	srv := start(t, func(c *Config) { c.WriteTimeout = 50 * time.Millisecond })
	srv.q.hold("0/first")
	srv.q.hold("0/k")
	c := srv.narrow(t)
	c.send("READ first\r\n" + frame("ECHO", strings.Repeat("x", 64<<10)) + "LOCK k a\r\n")
	for range 2 {
		wait(t, "the operations", srv.q.asked)
	}
	srv.q.release("0/first")
	if _, err := c.r.Peek(1); err != nil { // the replies have begun
		t.Fatal(err)
	}
	srv.q.release("0/k")
	if got := wait(t, "the undoing", srv.q.undone); got != "0/k" || srv.q.holder("0/k") != "" {
		t.Errorf("undone %s, held by %q", got, srv.q.holder("0/k"))
	}
}
