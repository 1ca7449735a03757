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
	if c, ok := conn.(*net.TCPConn); ok {
		_ = c.SetWriteBuffer(sendBuffer) // if that fails, the system's own size does
		_ = c.SetReadBuffer(receiveBuffer)
	}
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
