package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
)

// unready follows a server in a bubble that is ready or not as the test says.
type unready struct {
	*Server
	log   strings.Builder
	ready atomic.Bool
	looks atomic.Int64
}

// stepper starts a server that steps aside after 2 s. Nothing waits: synctest tells when nothing
// more will happen.
func stepper(t *testing.T, after time.Duration) *unready {
	t.Helper()
	u := &unready{}
	cfg := DefaultConfig()
	cfg.StepAside = after
	q := newFakeQuorum()
	u.Server = newServer(cfg, fakeInterpreter{}, q, "", hclog.New(&hclog.LoggerOptions{Output: &u.log}))
	u.writers.Promises = q
	ctx, cancel := context.WithCancel(context.Background())
	go u.StepAside(ctx, func() bool {
		u.looks.Add(1)
		return u.ready.Load()
	})
	t.Cleanup(func() {
		cancel()
		_ = u.Shutdown(context.Background())
	})
	return u
}

// admits reports whether the server keeps a client that connects now.
func (u *unready) admits(t *testing.T) bool {
	t.Helper()
	before := u.Clients()
	(&running{Server: u.Server}).join(t, func(c net.Conn) net.Conn { return c })
	synctest.Wait()
	return u.Clients() > before
}

// is sets whether locks can be taken, and lets time pass.
func (u *unready) is(ready bool, passes time.Duration) {
	u.ready.Store(ready)
	time.Sleep(passes)
	synctest.Wait()
}

// TestStepsAside: sessions end when a majority that was there is missing for step_aside, not before,
// and clients are taken again as soon as it is back.
func TestStepsAside(t *testing.T) {
	const after = 2 * time.Second
	long := time.Hour
	tests := []struct {
		name  string
		after time.Duration
		do    func(*unready)
		aside bool
	}{
		{"it has never been ready", after, func(u *unready) { u.is(false, long) }, false},
		{"it was ready, a little less long ago", after, func(u *unready) { u.is(true, time.Second); u.is(false, after-readyEvery) }, false},
		{"it was ready, so long ago", after, func(u *unready) { u.is(true, time.Second); u.is(false, after+2*readyEvery) }, true},
		{"it is ready now and then", after, func(u *unready) {
			for range 10 {
				u.is(false, after-readyEvery)
				u.is(true, 2*readyEvery)
			}
		}, false},
		{"it is ready again", after, func(u *unready) { u.is(true, time.Second); u.is(false, long); u.is(true, 2*readyEvery) }, false},
		{"it was ready again, and is not", after, func(u *unready) {
			for range 2 {
				u.is(true, time.Second)
				u.is(false, after+2*readyEvery)
			}
		}, true},
		{"it may not step aside", 0, func(u *unready) { u.is(true, time.Second); u.is(false, long) }, false},
		{"a reload says that it may not any more", after, func(u *unready) {
			u.is(true, time.Second)
			u.is(false, long)
			u.Reload(DefaultConfig())
			u.is(false, 2*readyEvery)
		}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := stepper(t, test.after)
				if !u.admits(t) {
					t.Error("no client is admitted at the start")
				}
				test.do(u)
				if u.admits(t) == test.aside {
					t.Errorf("a client is admitted: %v", !test.aside)
				}
				if test.aside != (u.Clients() == 0) {
					t.Errorf("%d sessions are left", u.Clients())
				}
				if told := strings.Count(u.log.String(), "stepping aside"); test.aside && told == 0 {
					t.Errorf("the log says\n%s", u.log.String())
				}
			})
		})
	}
}

// TestStepsAsideWithoutLoss: what clients have sent before is answered, also to one that blocks.
func TestStepsAsideWithoutLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := stepper(t, 2*time.Second)
		r := &running{Server: u.Server}
		join := func(send string) *piped {
			c := r.join(t, func(c net.Conn) net.Conn { return c })
			go c.read()
			c.send(send)
			return c
		}
		blocks := join("BLPOP list 0\r\nPING\r\n")
		u.is(true, time.Second)
		u.is(false, 2*time.Second)
		asks := join("LOCK a t\r\n")
		u.is(false, time.Second)
		for name, c := range map[string]struct {
			*piped
			want string
		}{"asks": {asks, "+OK\r\n"}, "blocks": {blocks, "*-1\r\n+PONG\r\n"}} {
			c.mu.Lock()
			if c.in.String() != c.want || !c.end {
				t.Errorf("%s is answered %q, and its connection has ended: %v", name, c.in.String(), c.end)
			}
			c.mu.Unlock()
		}
	})
}

// TestStepsAsideRefusesConnections: the listener is closed, so that a client's system refuses, and
// opened again at the same address, also if that takes several tries. A stop meanwhile ends Serve.
func TestStepsAsideRefusesConnections(t *testing.T) {
	u := stepper(t, leastStepAside)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr, tries, served := ln.Addr().String(), 0, make(chan error, 1)
	go func() {
		served <- u.Serve(ln, func() (net.Listener, error) {
			if tries++; tries%2 == 1 {
				return nil, errors.New("somebody else has it")
			}
			return net.Listen("tcp", addr)
		})
	}()
	refused := func() bool {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return true
		}
		defer c.Close()
		_, _ = io.WriteString(c, "PING\r\n")
		_, err = io.ReadFull(c, make([]byte, 7))
		return err != nil
	}
	for range 2 {
		u.ready.Store(true)
		looks := u.looks.Load()
		until(t, "it to be seen that it is ready", func() bool { return u.looks.Load() > looks+1 })
		until(t, "clients to be served", func() bool { return !refused() })
		u.ready.Store(false)
		until(t, "connections to be refused", func() bool {
			_, err := net.Dial("tcp", addr)
			return err != nil
		})
	}
	if err := u.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if err := wait(t, "Serve", served); err != nil {
		t.Error(err)
	}
}
