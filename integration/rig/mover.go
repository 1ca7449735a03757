package rig

import (
	"io"
	"net"
	"sync"
)

// Mover is an address that can move to another server while connections of
// before live on, as a virtual IP, a DNS name or a Service does. Safe for
// concurrent use.
type Mover struct {
	Addr string

	mu sync.Mutex
	to string
}

// NewMover forwards to an address until the test ends.
func NewMover(tb TB, to string) *Mover {
	tb.Helper()
	return NewMoverAt(tb, "127.0.0.1", to)
}

// NewMoverAt is NewMover on an address of this host.
func NewMoverAt(tb TB, ip, to string) *Mover {
	tb.Helper()
	ln, err := net.Listen("tcp", net.JoinHostPort(ip, "0"))
	if err != nil {
		tb.Fatalf("%v", err)
	}
	m := &Mover{Addr: ln.Addr().String(), to: to}
	tb.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go m.forward(conn)
		}
	}()
	return m
}

// Move lets new connections go to another address.
func (m *Mover) Move(to string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.to = to
}

func (m *Mover) forward(conn net.Conn) {
	defer conn.Close()
	m.mu.Lock()
	to := m.to
	m.mu.Unlock()
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, conn)
		_ = server.Close() // ends the copy back
	}()
	_, _ = io.Copy(conn, server)
}
