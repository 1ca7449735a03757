package proxy

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// S5: limits on idle time. All of it in virtual time: a busy machine is late
// for any other.
func TestIdleTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := pipeWith(t, func(c *Config) { c.IdleTimeout = time.Minute })
		for _, rest := range []time.Duration{50 * time.Second, 2 * time.Second} { // long enough to move the timer, and not
			time.Sleep(rest)
			c.send("PING\r\n")
		}
		c.wantEnd(t, time.Minute)
		if got := c.received(); got != "+PONG\r\n+PONG\r\n" {
			t.Errorf("got %q", got)
		}
	})
}

// A session that is owed a reply is not idle.
func TestIdleTimeoutWaitsForReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, c := pipeWith(t, func(c *Config) { c.IdleTimeout = time.Minute })
		srv.q.hold("0/k")
		c.send("READ k\r\n")
		time.Sleep(5*time.Minute + 30*time.Second)
		if c.ended() {
			t.Fatal("the session has ended")
		}
		srv.q.release("0/k")
		synctest.Wait()
		if got := c.received(); got != "$-1\r\n" {
			t.Errorf("got %q", got)
		}
		c.wantEnd(t, 30*time.Second) // it was last seen owed a reply half a minute ago
	})
}

// Who does not log in ends with the time for that, however busy it is.
func TestLoginTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := pipeWith(t, func(c *Config) {
			c.Passwords, c.LoginTimeout, c.IdleTimeout = []string{"pw"}, 10*time.Second, time.Second
		})
		for range 9 {
			time.Sleep(time.Second)
			c.send("PING\r\n")
		}
		c.wantEnd(t, time.Second)
		if got := c.received(); got != strings.Repeat("-NOAUTH Authentication required.\r\n", 9) {
			t.Errorf("got %q", got)
		}
	})
}

// Every chunk of a busy stream may end within a command.
func TestTornCommandsAreNotIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := pipeWith(t, func(c *Config) { c.IdleTimeout = time.Minute })
		c.send("*1\r\n$4\r\nPI")
		for range 60 {
			time.Sleep(3 * time.Second)
			c.send("NG\r\n*1\r\n$4\r\nPI")
		}
		if c.ended() {
			t.Error("the session has ended")
		}
		if got := c.received(); got != strings.Repeat("+PONG\r\n", 60) {
			t.Errorf("got %q", got)
		}
	})
}

// A command that comes a byte at a time must end within the idle time.
func TestSlowSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := pipeWith(t, func(c *Config) { c.IdleTimeout = time.Minute })
		c.send("PING\r\n")
		time.Sleep(30 * time.Second)
		c.send("*1\r\n$1000\r\n")
		for range 59 {
			time.Sleep(time.Second)
			c.send("x")
		}
		c.wantEnd(t, time.Second)
	})
}

// A reader that never reads ends with the write timeout, and what was granted
// to it meanwhile is undone.
func TestS5ReaderThatNeverReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, c := unreadPipe(t, func(c *Config) { c.WriteTimeout = time.Minute })
		for i := range 3 {
			c.send(frame("ECHO", strings.Repeat("x", 1<<19)) + fmt.Sprintf("LOCK k%d t\r\n", i))
		}
		time.Sleep(time.Minute - time.Nanosecond)
		synctest.Wait()
		if got := srv.q.holder("0/k0"); got != "t" || len(srv.q.undone) > 0 {
			t.Fatalf("held by %q, %d undone before the client's time is over", got, len(srv.q.undone))
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		for i := range 3 {
			if got := srv.q.holder(fmt.Sprintf("0/k%d", i)); got != "" {
				t.Errorf("k%d is still held", i)
			}
		}
		if n := srv.Clients(); n != 0 || len(srv.q.undone) == 0 {
			t.Errorf("%d sessions, %d undone", n, len(srv.q.undone))
		}
	})
}

// wantEnd requires that the server closes the session when that time has
// passed from now, and not before.
func (c *piped) wantEnd(t *testing.T, after time.Duration) {
	t.Helper()
	time.Sleep(after - time.Nanosecond)
	if c.ended() {
		t.Errorf("the session has ended before its time")
	}
	time.Sleep(time.Nanosecond)
	if !c.ended() {
		t.Errorf("the session goes on")
	}
}
