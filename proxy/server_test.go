package proxy

import (
	"context"
	"errors"
	"net"
	"runtime"
	"testing"

	"github.com/hashicorp/go-hclog"
)

// brokenListener refuses a few times, then gives one connection.
type brokenListener struct {
	net.Listener
	refusals int
}

func (l *brokenListener) Accept() (net.Conn, error) {
	if l.refusals > 0 {
		l.refusals--
		return nil, errors.New("too many open files")
	}
	return l.Listener.Accept()
}

func TestAcceptErrorsEndNothing(t *testing.T) {
	q := newFakeQuorum()
	srv := newServer(DefaultConfig(), fakeInterpreter{}, q, "", hclog.NewNullLogger())
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(&brokenListener{ln, 3}, nil) }()
	(&running{srv, q, ln.Addr().String()}).dial(t).ask("PING", "+PONG\r\n")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := srv.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if err := wait(t, "Serve", served); err != nil {
		t.Error(err)
	}
}

func TestServeAfterShutdown(t *testing.T) {
	srv := newServer(DefaultConfig(), fakeInterpreter{}, newFakeQuorum(), "", hclog.NewNullLogger())
	if err := srv.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Serve(ln, nil); err != nil {
		t.Error(err)
	}
	if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener is open: %v", err)
	}
}

// An idle session is small: ten thousand of them are a normal day.
func TestIdleSessionIsSmall(t *testing.T) {
	srv := start(t, nil)
	const n = 200
	conns := make([]*raw, n)
	memory := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	before := memory()
	for i := range conns {
		conns[i] = &raw{t: t}
		c, err := net.Dial("tcp", srv.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		conns[i].Conn = c
		conns[i].send("PING\r\nLOCK k" + string(rune('a'+i)) + " t\r\n")
		reply := make([]byte, len("+PONG\r\n+OK\r\n"))
		for got := 0; got < len(reply); {
			m, err := c.Read(reply[got:])
			if err != nil {
				t.Fatal(err)
			}
			got += m
		}
	}
	each := (int64(memory()) - int64(before)) / n
	t.Logf("%d bytes a session, its client included", each)
	if each > 20<<10 {
		t.Errorf("%d bytes a session, want less than 20 KiB", each)
	}
}
