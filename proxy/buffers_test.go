package proxy

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/proxy/replies"
)

// S5: what the system holds of replies that a client does not read is bounded,
// although it would take megabytes by itself: a session has written no more
// when its time to read them is over.
func TestSendBufferIsBounded(t *testing.T) {
	change := func(c *Config) { c.WriteTimeout = 200 * time.Millisecond }
	for name, begin := range map[string]func() (*running, *raw){
		"plain": func() (*running, *raw) { srv := start(t, change); return srv, srv.dial(t) },
		"TLS":   func() (*running, *raw) { srv := startTLS(t, change); return srv, srv.dial(t).over(t) },
	} {
		t.Run(name, func(t *testing.T) {
			srv, c := begin()
			socket := c.Conn
			if s, ok := socket.(interface{ NetConn() net.Conn }); ok {
				socket = s.NetConn()
			}
			if err := socket.(*net.TCPConn).SetReadBuffer(8 << 10); err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(c, strings.Repeat(frame("ECHO", strings.Repeat("x", 16<<10)), 1024)) // until it is closed
			for deadline := time.Now().Add(patience); srv.Clients() > 0; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("a client that does not read is not closed")
				}
			}
			// Linux keeps twice what it is asked for, for its own bookkeeping.
			if n := srv.stats.Written.Load(); n < sendBuffer/2 || n > 3*sendBuffer {
				t.Errorf("%d bytes were taken from redlockd and read by nobody, want about %d", n, 2*sendBuffer)
			}
		})
	}
}

// S5: what the system holds of commands that redlockd does not read, because
// the session has enough of them waiting, is bounded too, also where it has
// grown used to much.
func TestReceiveBufferIsBounded(t *testing.T) {
	srv := start(t, nil)
	srv.q.hold("0/k")
	c := srv.dial(t)
	c.send("CLIENT REPLY OFF\r\n" + strings.Repeat(frame("ECHO", strings.Repeat("x", 512<<10)), 100) + "CLIENT REPLY ON\r\n")
	c.want("+OK\r\n")
	// What the client's own system holds counts as taken.
	if err := c.Conn.(*net.TCPConn).SetWriteBuffer(64 << 10); err != nil {
		t.Fatal(err)
	}
	c.send("READ k\r\n")
	wait(t, "the read", srv.q.asked)
	if err := c.SetWriteDeadline(time.Now().Add(500 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	n, err := io.WriteString(c, strings.Repeat(frame("ECHO", strings.Repeat("x", 16<<10)), 1024))
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("sent %d bytes, %v", n, err)
	}
	if beyond := n - replies.MaxQueuedBytes; beyond > 6*receiveBuffer {
		t.Errorf("%d bytes are taken from the client beyond what may wait, want about %d", beyond, 2*receiveBuffer)
	}
}
