package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/redlockd/redlockd/proxy/replies"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// S1: "Commands that a client has pipelined are worked on side by side and
// answered in order".
func TestS1RepliesInOrder(t *testing.T) {
	srv := start(t, nil)
	srv.q.hold("0/slow")
	c := srv.dial(t)
	c.send("LOCK slow a\r\nPING\r\nLOCK fast b\r\nECHO x\r\n")
	wait(t, "the slow lock", srv.q.asked)
	if got := wait(t, "the fast lock", srv.q.asked); got != "0/fast" {
		t.Fatalf("asked %s, want 0/fast to be asked while 0/slow waits", got)
	}
	other := srv.dial(t)
	other.ask("LOCK third c", "+OK\r\n")
	srv.q.release("0/slow")
	c.want("+OK\r\n+PONG\r\n+OK\r\n$1\r\nx\r\n")
}

// S1: "same key, same order".
func TestS1OneKeyInOrder(t *testing.T) {
	srv := start(t, nil)
	srv.dial(t).ask("LOCK k a\r\nFREE k\r\nLOCK k b\r\nREAD k", "+OK\r\n:1\r\n+OK\r\n$1\r\nb\r\n")
}

// S1: a full pipeline stops reading, and goes on when there is room.
func TestPipelineIsBounded(t *testing.T) {
	srv := start(t, func(c *Config) { c.MaxPipeline = 4 })
	srv.q.hold("0/k")
	c := srv.dial(t)
	c.send(strings.Repeat("READ k\r\n", 10))
	for range 4 {
		wait(t, "a read", srv.q.asked)
	}
	// The fifth is asked only when there is room, and there is none: a second
	// session's command, sent now, comes first.
	srv.dial(t).ask("READ other", "$-1\r\n")
	if got := wait(t, "the other read", srv.q.asked); got != "0/other" {
		t.Errorf("asked %s beyond the bound", got)
	}
	srv.q.release("0/k")
	c.want(strings.Repeat("$-1\r\n", 10))
}

func TestPipelineIsBoundedInBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, c := pipe(t)
		srv.q.hold("0/k")
		c.send("READ k\r\n" + strings.Repeat(frame("ECHO", strings.Repeat("x", 1<<18)), 40) + "PING\r\n")
		synctest.Wait()
		if _, n := srv.clients()[0].pipe.Size(); n > replies.MaxQueuedBytes {
			t.Errorf("%d bytes wait, want at most %d", n, replies.MaxQueuedBytes)
		}
		srv.q.release("0/k")
		synctest.Wait()
		want := "$-1\r\n" + strings.Repeat("$262144\r\n"+strings.Repeat("x", 1<<18)+"\r\n", 40) + "+PONG\r\n"
		if got := c.received(); got != want {
			t.Errorf("got %d bytes, want %d", len(got), len(want))
		}
	})
}

// V2: "looked at right before the write; else it is rolled back and answered
// NOQUORUM".
func TestV2ConfirmFails(t *testing.T) {
	srv := start(t, nil)
	srv.q.late = errors.New("NOQUORUM won too late")
	srv.dial(t).ask("LOCK k a\r\nPING", "-NOQUORUM won too late\r\n+PONG\r\n")
}

// V2: a grant that cannot be written in its time is undone.
func TestV2WriteDeadline(t *testing.T) {
	srv := start(t, nil)
	srv.q.limit = time.Nanosecond
	c := srv.dial(t)
	c.send("LOCK k a\r\n")
	if got := wait(t, "the undoing", srv.q.undone); got != "0/k" {
		t.Errorf("undone %s", got)
	}
	c.wantEOF()
}

// P5: "a lock whose client has gone before its OK could be sent is released
// at once": closed, reset, and shut down for writing.
func TestP5ClientGone(t *testing.T) {
	leave := map[string]func(*net.TCPConn) error{
		"closed": (*net.TCPConn).Close,
		"reset": func(c *net.TCPConn) error {
			if err := c.SetLinger(0); err != nil {
				return err
			}
			return c.Close()
		},
		"half closed": (*net.TCPConn).CloseWrite,
	}
	for name, leave := range leave {
		t.Run(name, func(t *testing.T) {
			srv := start(t, nil)
			srv.q.hold("0/k")
			c := srv.dial(t)
			c.send("LOCK k a\r\n")
			wait(t, "the operation", srv.q.asked)
			if err := leave(c.Conn.(*net.TCPConn)); err != nil {
				t.Fatal(err)
			}
			client := srv.q.clients[0]
			for end := time.Now().Add(patience); !client.Gone(); time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("the client is never gone")
				}
			}
			srv.q.release("0/k")
			if got := wait(t, "the undoing", srv.q.undone); got != "0/k" {
				t.Errorf("undone %s", got)
			}
			if token := srv.q.holder("0/k"); token != "" {
				t.Errorf("still held by %q", token)
			}
			if name == "half closed" {
				c.want("-" + replies.ErrClientGone.Text + "\r\n")
			}
		})
	}
}

// Everything but a grant is answered after EOF, as printf | nc needs.
func TestHalfClosedIsAnswered(t *testing.T) {
	srv := start(t, nil)
	srv.q.hold("0/k")
	c := srv.dial(t)
	c.send("PING\r\nREAD k\r\nECHO x\r\n")
	wait(t, "the read", srv.q.asked)
	if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	c.want("+PONG\r\n")
	srv.q.release("0/k")
	c.want("$-1\r\n$1\r\nx\r\n")
	c.wantEOF()
}

// S6: "stop accepting, finish what is under way, answer it, close".
func TestS6Shutdown(t *testing.T) {
	srv := start(t, nil)
	srv.q.hold("0/k")
	busy, idle := srv.dial(t), srv.dial(t)
	idle.ask("PING", "+PONG\r\n")
	busy.send("LOCK k a\r\nPING\r\n")
	wait(t, "the operation", srv.q.asked)
	done := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		done <- srv.Shutdown(ctx)
	}()
	idle.wantEOF()
	if c, err := net.Dial("tcp", srv.addr); err == nil {
		c.Close()
		t.Error("still accepting")
	}
	srv.q.release("0/k")
	busy.want("+OK\r\n+PONG\r\n")
	busy.wantEOF()
	if err := wait(t, "Shutdown", done); err != nil {
		t.Error(err)
	}
	if srv.q.holder("0/k") != "a" {
		t.Error("the lock of an answered client was undone")
	}
}

// S6: a command that was sent before the stop, and not read by then, is
// answered. The client may read its reply also when it has sent more.
func TestS6LastCall(t *testing.T) {
	srv := start(t, nil)
	srv.lastCall = patience
	c := srv.dial(t)
	c.ask("PING", "+PONG\r\n")
	done := make(chan error, 1)
	go func() { done <- srv.Shutdown(t.Context()) }()
	wait(t, "the stop", srv.stopped)
	c.ask("LOCK k a", "+OK\r\n")
	c.ask("PING", "+PONG\r\n") // another chunk
	if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	c.wantEOF()
	if err := wait(t, "Shutdown", done); err != nil {
		t.Error(err)
	}
	if srv.q.holder("0/k") != "a" {
		t.Error("the lock of an answered client was undone")
	}
}

// S6: what comes behind the last call is not carried out, and takes no reply
// away that is on its way.
func TestS6Linger(t *testing.T) {
	srv := start(t, nil)
	srv.lastCall, srv.lingering = -time.Second, patience
	srv.q.hold("0/k")
	c := srv.dial(t)
	c.send("LOCK k a\r\n")
	wait(t, "the operation", srv.q.asked)
	session := srv.clients()[0]
	done := make(chan error, 1)
	go func() { done <- srv.Shutdown(t.Context()) }()
	for stopping := false; !stopping; time.Sleep(time.Millisecond) {
		session.stopMu.Lock()
		stopping = session.stopping
		session.stopMu.Unlock()
	}
	c.send("LOCK other a\r\n")
	srv.q.release("0/k")
	c.want("+OK\r\n")
	if _, err := c.r.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("the connection ends with %v", err)
	}
	c.Close()
	if err := wait(t, "Shutdown", done); err != nil {
		t.Error(err)
	}
	if got := srv.q.holder("0/other"); got != "" {
		t.Errorf("%q has a lock that it was not told of", got)
	}
}

// S6: "within drain".
func TestS6ShutdownIsBounded(t *testing.T) {
	srv := start(t, nil)
	srv.q.hold("0/k")
	c := srv.dial(t)
	c.send("LOCK k a\r\n")
	wait(t, "the operation", srv.q.asked)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := srv.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown: %v", err)
	}
	c.wantEOF()
	srv.q.release("0/k")
	if got := wait(t, "the undoing", srv.q.undone); got != "0/k" {
		t.Errorf("undone %s", got)
	}
}

// S5: "No input ends the process or another session".
func TestS5PanicEndsOneSession(t *testing.T) {
	for _, command := range []string{"BOOM", "SHAPEBOOM"} {
		srv := start(t, nil)
		srv.q.hold("0/k")
		other := srv.dial(t)
		other.ask("PING", "+PONG\r\n")
		c := srv.dial(t)
		c.send("LOCK k a\r\n")
		wait(t, "the operation", srv.q.asked)
		if command == "SHAPEBOOM" {
			srv.q.release("0/k")
			c.want("+OK\r\n")
		}
		c.send(command + "\r\n")
		c.wantEOF()
		other.ask("PING", "+PONG\r\n")
		if command == "BOOM" {
			srv.q.release("0/k")
			wait(t, "the undoing", srv.q.undone)
		}
	}
}

func TestMaxClients(t *testing.T) {
	srv := start(t, func(c *Config) { c.MaxClients = 1 })
	first := srv.dial(t)
	first.ask("PING", "+PONG\r\n")
	second := srv.dial(t)
	second.want("-ERR max number of clients reached\r\n")
	second.wantEOF()
	first.ask("PING", "+PONG\r\n")
}

func frame(args ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	return b.String()
}

// P5: also when the reading goroutine, held up by a full pipeline, has not
// seen the end yet.
func TestP5ClientGoneUnread(t *testing.T) {
	srv := start(t, func(c *Config) { c.MaxPipeline = 1 })
	srv.q.hold("0/k")
	c := srv.dial(t)
	c.send("LOCK k a\r\nPING\r\n")
	wait(t, "the operation", srv.q.asked)
	c.Close()
	srv.q.release("0/k")
	if got := wait(t, "the undoing", srv.q.undone); got != "0/k" {
		t.Errorf("undone %s", got)
	}
}
