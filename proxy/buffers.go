package proxy

import "net"

// layered is a connection over another one, as TLS is.
type layered interface{ NetConn() net.Conn }

// bufferless keeps what the system holds for a client small, of what the client
// does not read and of what is not read from it: that is no part of max_memory,
// and grows to megabytes by itself.
func bufferless(conn net.Conn) {
	if c, ok := conn.(layered); ok {
		conn = c.NetConn()
	}
	if c, ok := conn.(*net.TCPConn); ok {
		_ = c.SetWriteBuffer(sendBuffer) // as much as the system likes, then
		_ = c.SetReadBuffer(receiveBuffer)
	}
}
