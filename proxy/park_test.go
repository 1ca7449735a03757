package proxy

import (
	"context"
	"errors"
	flags "flag"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/proxy/epoll"
	"github.com/redlockd/redlockd/proxy/users"
)

// parkSoon lets every test of the package park its sessions whenever it can:
//
//	go test ./proxy -args -park 0s
var parkSoon = flags.Duration("park", parkAfter, "how long an idle session keeps its goroutine")

const noParking = "nothing is parked on " + runtime.GOOS

// startParking is start with sessions that are parked at once.
func startParking(t *testing.T, change func(*Config)) *running {
	t.Helper()
	if !epoll.Available {
		t.Skip(noParking)
	}
	return startParkingAfter(t, 0, newFakeQuorum(), fakeInterpreter{}, change)
}

// parked waits until so many sessions have no goroutine.
func (r *running) parked(t *testing.T, want int) {
	t.Helper()
	until(t, "sessions to be parked", func() bool {
		n := 0
		for _, ses := range r.clients() {
			ses.stopMu.Lock()
			if ses.parked {
				n++
			}
			ses.stopMu.Unlock()
		}
		return n == want
	})
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain for " + what)
		}
	}
}

// S1: a parked session goes on where it stood.
func TestParkedSessionGoesOn(t *testing.T) {
	srv := startParking(t, nil)
	c := srv.dial(t)
	for _, e := range []struct{ send, want string }{
		{"PING\r\n", "+PONG\r\n"},
		{strings.Repeat("LOCK k a\r\nFREE k\r\n", 300), strings.Repeat("+OK\r\n:1\r\n", 300)},
		{frame("ECHO", strings.Repeat("x", 100<<10)), "$102400\r\n" + strings.Repeat("x", 100<<10) + "\r\n"},
		{"SELECT 3\r\n", "+OK\r\n"},
		{"WATCH m\r\n", "+OK\r\n"},
		{"MULTI\r\n", "+OK\r\n"},
		{"LOCK m a\r\n", "+QUEUED\r\n"},
		{"EXEC\r\n", "*-1\r\n"}, // the fake's: what it watches must be there
		{"LOCK n a\r\n", "+OK\r\n"},
		{"BLPOP nothing 0.01\r\n", "*-1\r\n"},
		{"SUBSCRIBE c\r\n", "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n"},
	} {
		srv.parked(t, 1)
		c.send(e.send)
		c.want(e.want)
	}
	if got := srv.q.holder("3/n"); got != "a" {
		t.Errorf("held by %q in the database that was selected before", got)
	}
	for range 3 {
		srv.parked(t, 1)
		srv.hub.Publish(false, "c", "m")
		c.want("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n")
	}
	for _, b := range []byte("*1\r\n$4\r\nPING\r\n") {
		time.Sleep(2 * time.Millisecond) // so that it could be parked in between
		c.send(string(b))
	}
	c.want("*2\r\n$4\r\npong\r\n$0\r\n\r\n")
}

// S6: parked sessions end too, and what was sent to them before is answered.
func TestS6ShutdownOfParked(t *testing.T) {
	srv := startParking(t, nil)
	conns := make([]*raw, 20)
	for i := range conns {
		conns[i] = srv.dial(t)
		conns[i].ask("PING", "+PONG\r\n")
	}
	srv.parked(t, len(conns))
	for _, c := range conns[:10] {
		c.send("LOCK k a\r\nFREE k\r\n")
	}
	done := make(chan error, 1)
	go func() { done <- srv.Shutdown(context.Background()) }()
	for i, c := range conns {
		if i < 10 {
			if got, err := io.ReadAll(c.r); err != nil || !strings.HasSuffix(string(got), "\r\n:1\r\n") && !strings.HasSuffix(string(got), "\r\n:0\r\n") {
				t.Errorf("a session that was asked before the stop is answered %q, %v", got, err)
			}
			continue
		}
		c.wantEOF()
	}
	if err := wait(t, "Shutdown", done); err != nil {
		t.Error(err)
	}
}

// S5: the times for a login and for being idle end parked sessions.
func TestS5TimeoutsOfParked(t *testing.T) {
	const limit = time.Second
	idle := func(c *Config) { c.IdleTimeout = limit }
	login := func(c *Config) { c.LoginTimeout, c.Passwords = limit, []string{"pw"} }
	for name, e := range map[string]struct {
		change       func(*Config)
		greet, reply string
	}{
		"idle":          {idle, "PING\r\n", "+PONG\r\n"},
		"idle, at once": {idle, "", ""},
		"login":         {login, "PING\r\n", "-NOAUTH Authentication required.\r\n"},
		"silent login":  {login, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := startParking(t, e.change)
			begin := time.Now()
			c := srv.dial(t)
			c.send(e.greet)
			c.want(e.reply)
			srv.parked(t, 1)
			c.wantEOF()
			if d := time.Since(begin); d < limit {
				t.Errorf("it has ended after %v, want not before %v", d, limit)
			}
			until(t, "the session to be forgotten", func() bool { return srv.Clients() == 0 })
		})
	}
}

// S5: a subscriber that is parked is not idle, nor is who goes on now and then.
func TestS5ParkedIsNotIdle(t *testing.T) {
	const limit = time.Second
	srv := startParking(t, func(c *Config) { c.IdleTimeout = limit })
	sub, busy := srv.dial(t), srv.dial(t)
	sub.ask("SUBSCRIBE c", "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n")
	for end := time.Now().Add(limit * 3 / 2); time.Now().Before(end); time.Sleep(limit / 20) {
		busy.ask("PING", "+PONG\r\n")
	}
	busy.ask("PUBLISH c m", ":1\r\n")
	sub.want("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n")
}

// P5: a client that goes is seen at once, and nothing of it stays.
func TestP5ParkedClientLeaves(t *testing.T) {
	leave := map[string]func(*net.TCPConn) error{
		"closed":      (*net.TCPConn).Close,
		"half closed": (*net.TCPConn).CloseWrite,
		"reset": func(c *net.TCPConn) error {
			_ = c.SetLinger(0)
			return c.Close()
		},
		"with a last word": func(c *net.TCPConn) error {
			_, err := io.WriteString(c, "PING\r\n")
			return errors.Join(err, c.Close())
		},
	}
	for name, leave := range leave {
		t.Run(name, func(t *testing.T) {
			srv := startParking(t, nil)
			c := srv.dial(t)
			c.ask("WATCH k", "+OK\r\n")
			c.ask("SUBSCRIBE c", "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n")
			srv.parked(t, 1)
			if err := leave(c.Conn.(*net.TCPConn)); err != nil {
				t.Fatal(err)
			}
			until(t, "the session to be forgotten", func() bool { return srv.Clients() == 0 })
			srv.dial(t).ask("PUBLISH c m", ":0\r\n")
		})
	}
}

// S6: a session whose user is no more ends also where it is parked.
func TestS6UserOfParkedIsNoMore(t *testing.T) {
	if !epoll.Available {
		t.Skip(noParking)
	}
	q := newFakeQuorum()
	srv := startParkingAfter(t, 0, q, commands.New(commands.DefaultConfig(), q.Now), func(c *Config) { c.Users = []users.User{orders()} })
	c := srv.dial(t)
	c.ask("AUTH orders pw", "+OK\r\n")
	srv.parked(t, 1)
	cfg := *srv.cfg()
	cfg.Users, cfg.Passwords = nil, []string{"root"}
	srv.Reload(cfg)
	c.wantEOF()
	until(t, "the session to be forgotten", func() bool { return srv.Clients() == 0 })
}

// Whatever comes together with parking, no command is without its reply and no
// session stays behind.
func TestParkingRaces(t *testing.T) {
	srv := startParking(t, nil)
	var over atomic.Bool
	var clients, wakers sync.WaitGroup
	wakers.Go(func() { // what an alarm does that is late, and an event
		for ; !over.Load(); time.Sleep(50 * time.Microsecond) {
			for _, ses := range srv.clients() {
				ses.unpark()
			}
		}
	})
	wakers.Go(func() { // what eviction and reloads do
		for ; !over.Load(); time.Sleep(20 * time.Millisecond) {
			for _, ses := range srv.clients() {
				ses.clientInfo.mu.Lock()
				victim := ses.clientInfo.name == "victim"
				ses.clientInfo.mu.Unlock()
				if victim && rand.IntN(3) == 0 {
					ses.Kill()
				}
			}
		}
	})
	end := time.Now().Add(2 * time.Second)
	for i := range 16 {
		clients.Go(func() {
			for time.Now().Before(end) {
				victim := i%4 == 0
				if err := srv.converse(t, victim, rand.IntN(200)); err != nil && !victim {
					t.Error(err)
					return
				}
			}
		})
	}
	clients.Wait()
	over.Store(true)
	wakers.Wait()
	until(t, "the sessions to be forgotten", func() bool { return srv.Clients() == 0 })
}

// converse is a client that asks now and then, and hangs up.
func (r *running) converse(t *testing.T, victim bool, commands int) error {
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	ask := func(send, want string) error {
		if _, err := io.WriteString(conn, send); err != nil {
			return err
		}
		got := make([]byte, len(want))
		if n, err := io.ReadFull(conn, got); err != nil || string(got) != want {
			return errors.Join(errors.New("got "+string(got[:n])+" for "+send), err)
		}
		return nil
	}
	if victim {
		if err := ask("CLIENT SETNAME victim\r\n", "+OK\r\n"); err != nil {
			return err
		}
	}
	for i := range commands {
		time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
		several := 1 + i%3
		if err := ask(strings.Repeat("PING\r\n", several), strings.Repeat("+PONG\r\n", several)); err != nil {
			return err
		}
	}
	if commands%2 == 0 {
		_, err = io.WriteString(conn, "PING\r\nPI")
	}
	return err
}

// An idle session has no goroutine.
func TestIdleSessionsHaveNoGoroutines(t *testing.T) {
	if !epoll.Available {
		t.Skip(noParking)
	}
	srv := startParkingAfter(t, 20*time.Millisecond, newFakeQuorum(), fakeInterpreter{}, nil)
	before := runtime.NumGoroutine()
	const n = 300
	conns := make([]*raw, n)
	for i := range conns {
		conns[i] = srv.dial(t)
		conns[i].ask("PING", "+PONG\r\n")
	}
	until(t, "the goroutines to end", func() bool { return runtime.NumGoroutine() < before+n/20 })
	for _, c := range conns {
		c.ask("PING", "+PONG\r\n")
	}
	until(t, "the goroutines to end again", func() bool { return runtime.NumGoroutine() < before+n/20 })
}

// With very many readers a session keeps its goroutine for a shorter time.
func TestManySessionsParkSooner(t *testing.T) {
	if !epoll.Available {
		t.Skip(noParking)
	}
	srv := startParkingAfter(t, time.Minute, newFakeQuorum(), fakeInterpreter{}, nil)
	srv.readers.Add(manyReaders)
	c := srv.dial(t)
	c.ask("PING", "+PONG\r\n")
	srv.parked(t, 1)
	until(t, "its goroutine to end", func() bool { return srv.readers.Load() == manyReaders })
	c.ask("PING", "+PONG\r\n")
}

// A session that is busy pays nothing for being parked when it is not: it
// moves its deadline now and then, not for every command.
func TestBusySessionsSetFewDeadlines(t *testing.T) {
	srv := startParkingAfter(t, time.Minute, newFakeQuorum(), fakeInterpreter{}, nil)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	counted := &countedListener{Listener: ln}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(counted, nil) }()
	c := (&running{srv.Server, srv.q, ln.Addr().String()}).dial(t)
	for range 500 {
		c.ask("PING", "+PONG\r\n")
	}
	if n := counted.deadlines.Load(); n == 0 || n > 5 {
		t.Errorf("the deadline was set %d times for 500 commands", n)
	}
	c.Close()
	if err := srv.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if err := wait(t, "Serve", served); err != nil {
		t.Error(err)
	}
}

// countedListener gives connections whose read deadlines are counted.
type countedListener struct {
	net.Listener
	deadlines atomic.Int64
}

type countedConn struct {
	*net.TCPConn
	deadlines *atomic.Int64
}

func (l *countedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return countedConn{c.(*net.TCPConn), &l.deadlines}, nil
}

func (c countedConn) SetReadDeadline(at time.Time) error {
	c.deadlines.Add(1)
	return c.TCPConn.SetReadDeadline(at)
}
