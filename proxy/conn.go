package proxy

import (
	"context"
	"net"
	"time"
)

// layered is a connection over another one, as TLS is.
type layered interface{ NetConn() net.Conn }

// bufferless keeps the system's socket buffers of a client small, in both directions:
// they are no part of max_memory, and would grow to megabytes by themselves.
func bufferless(conn net.Conn) {
	if c, ok := conn.(layered); ok {
		conn = c.NetConn()
	}
	if c, ok := conn.(socket); ok {
		_ = c.SetWriteBuffer(sendBuffer) // if that fails, the system's own size does
		_ = c.SetReadBuffer(receiveBuffer)
	}
}

// socket is a plain connection, over TCP or a Unix socket.
type socket interface {
	SetWriteBuffer(bytes int) error
	SetReadBuffer(bytes int) error
}

// buffered reports whether the system has a buffer for what is written first: there is no TLS,
// whose first write is a handshake.
func buffered(conn net.Conn) bool {
	_, ok := conn.(socket)
	return ok
}

// addressText returns an address as CLIENT LIST shows it: that of a Unix socket is its path, with
// port 0, at both ends, as in Redis.
func addressText(conn net.Conn, at net.Addr) string {
	if path, ok := overUnix(conn); ok {
		return path + ":0"
	}
	return at.String()
}

// overUnix returns the path of the Unix socket over which a client has connected, if it has.
func overUnix(conn net.Conn) (path string, ok bool) {
	at, ok := conn.LocalAddr().(*net.UnixAddr)
	if !ok {
		return "", false
	}
	return at.Name, true
}

// secured is a connection that begins with a TLS handshake.
type secured interface {
	HandshakeContext(context.Context) error
}

// handshake does the TLS handshake, if there is one, in a bounded time.
func handshake(conn net.Conn, within time.Duration) error {
	c, ok := conn.(secured)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return c.HandshakeContext(ctx)
}
