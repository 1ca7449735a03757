package pubsub

import (
	"bufio"
	"context"
	"errors"
	"net"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/mark"
)

const (
	minBackoff = 20 * time.Millisecond
	maxBackoff = time.Second
	// refusedBackoff is how long a master that lacks a right is left alone.
	refusedBackoff = 5 * time.Second
	greetTimeout   = 5 * time.Second
	writeTimeout   = 5 * time.Second
	// lastWrite is how long Close waits for a master to take what is left.
	lastWrite = 100 * time.Millisecond
	// connectionName is the connection's name in CLIENT LIST.
	connectionName = "redlockd-messages"
	readBuffer     = 16 << 10
)

// run has one connection after the other.
func (p *peer) run() {
	for wait := minBackoff; p.ctx.Err() == nil; wait = min(2*wait, maxBackoff) {
		began := p.bus.now()
		switch err := p.once(); {
		case errors.Is(err, errRefused):
			wait = refusedBackoff
		case p.bus.now()-began > maxBackoff:
			wait = minBackoff
		}
		select {
		case <-time.After(wait):
		case <-p.ctx.Done():
		}
	}
}

// once dials, and serves the connection until it ends.
func (p *peer) once() error {
	p.bus.mu.Lock()
	m := p.master
	p.bus.mu.Unlock()
	conn, err := m.Connect(p.ctx)
	if err != nil {
		return err
	}
	r := bufio.NewReaderSize(conn, readBuffer)
	runID, err := greet(p.ctx, conn, r, &m)
	if err != nil {
		_ = conn.Close()
		return err
	}
	p.open(conn, runID)
	written := make(chan struct{})
	p.bus.wg.Go(func() {
		defer close(written)
		p.write(conn)
	})
	err = p.read(conn, r)
	p.bus.mu.Lock()
	if p.conn == conn {
		p.hangUp()
	}
	p.noPlain = errors.Is(err, errPlain)
	p.bus.mu.Unlock()
	<-written
	return err
}

// greet logs in and returns the server's run_id.
func greet(ctx context.Context, conn net.Conn, r *bufio.Reader, m *cluster.Master) (runID string, err error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	_ = conn.SetDeadline(time.Now().Add(greetTimeout)) // an error shows at once
	hello := []string{"HELLO", "3"}
	if user := m.Username; m.Password != "" || user != "" {
		if user == "" {
			user = "default"
		}
		hello = append(hello, "AUTH", user, m.Password)
	}
	out := appendCommand(nil, append(hello, "SETNAME", connectionName)...)
	if _, err := conn.Write(appendCommand(out, "INFO", "server")); err != nil {
		return "", err
	}
	var info value
	for range 2 {
		if info, err = readValue(r, 0); err == nil && info.sign == '-' {
			err = errors.New(info.text)
		}
		if err != nil {
			return "", err
		}
	}
	return mark.ReadInfo(info.text).RunID, conn.SetDeadline(time.Time{})
}

// open takes a connection into use: all names are subscribed to anew.
func (p *peer) open(conn net.Conn, runID string) {
	p.bus.mu.Lock()
	defer p.bus.mu.Unlock()
	messages := p.out
	if p.bus.now()-p.since > stale {
		messages = nil
	}
	p.conn, p.runID, p.out, p.probed = conn, runID, nil, 0
	if p.bus.names.asked > 0 {
		p.ask(name{text: crowded}, true)
	}
	for n, e := range p.bus.names.all {
		if !e.unasked {
			p.ask(n, true)
		}
	}
	p.out = append(p.out, messages...)
}

// write writes what waits until the connection is over.
func (p *peer) write(conn net.Conn) {
	var b []byte
	for {
		p.bus.mu.Lock()
		for len(p.out) == 0 && p.conn == conn && p.ctx.Err() == nil {
			p.ready.Wait()
		}
		over, within := p.conn != conn || len(p.out) == 0, writeTimeout
		if p.ctx.Err() != nil {
			within = lastWrite
		}
		if !over {
			b, p.out = p.out, b[:0]
		}
		p.bus.mu.Unlock()
		if !over {
			_ = conn.SetWriteDeadline(time.Now().Add(within)) // an error shows at Write
			_, err := conn.Write(b)
			over = err != nil
		}
		if over {
			_ = conn.Close()
			return
		}
		if cap(b) > maxPayload {
			b = nil
		}
	}
}

// read takes what the master sends until the connection is over.
func (p *peer) read(conn net.Conn, r *bufio.Reader) error {
	for {
		v, err := readValue(r, 0)
		switch {
		case err != nil:
			return err
		case v.sign == '-':
			return p.refuse(v.text)
		case v.sign == ':' && v.text != "0": // a PUBLISH had subscribers
			if !p.bus.crowds.Load() {
				p.bus.lastHeard.Store(int64(p.bus.now()))
			}
		case v.sign == '>' && len(v.items) >= 3 && !v.cut:
			p.pushed(conn, v.items)
		}
	}
}

// pushed takes a message, or the confirmation of a name.
func (p *peer) pushed(conn net.Conn, items []value) {
	switch what := items[0].text; what {
	case "message":
		p.bus.receive(items[1].text, "", items[2].text)
	case "pmessage":
		if len(items) > 3 {
			p.bus.receive(items[2].text, items[1].text, items[3].text)
		}
	case "subscribe", "psubscribe", "unsubscribe":
		p.confirmed(conn, what, items[1].text)
	}
}
