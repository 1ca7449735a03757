package status

import (
	"context"
	"net"
	"net/http"
	"testing"
)

// pipes is a listener whose connections are pipes, for a bubble of virtual
// time: a stream is watched for as long as it takes, on any machine.
type pipes struct {
	conns chan net.Conn
	over  chan struct{}
}

// serve runs the page on a server until the test ends. The page is stopped
// first, since the server waits for its streams.
func serve(t *testing.T, p *Page, server *http.Server) pipes {
	t.Helper()
	ln := pipes{make(chan net.Conn), make(chan struct{})}
	server.Handler = p
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(ln) }()
	t.Cleanup(func() {
		p.Stop()
		_ = server.Close()
		<-served
	})
	return ln
}

func (ln pipes) Accept() (net.Conn, error) {
	select {
	case c := <-ln.conns:
		return c, nil
	case <-ln.over:
		return nil, net.ErrClosed
	}
}

// Close is called once, by the server.
func (ln pipes) Close() error { close(ln.over); return nil }

func (ln pipes) Addr() net.Addr { return &net.TCPAddr{} }

// dial is a connection that takes in only what is read from it.
func (ln pipes) dial(t *testing.T) net.Conn {
	ours, theirs := net.Pipe()
	ln.conns <- theirs
	t.Cleanup(func() { ours.Close() })
	return ours
}

// look opens a stream of events.
func (ln pipes) look(t *testing.T) *stream {
	t.Helper()
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return ln.dial(t), nil }}
	t.Cleanup(transport.CloseIdleConnections)
	return look(t, &http.Client{Transport: transport}, "http://redlockd")
}
