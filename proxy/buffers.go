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

// sever ends what is below TLS, which else would try for 5 s to tell its end to
// a client that does not read.
func (s *session) sever() {
	if c, ok := s.conn.(layered); ok {
		_ = c.NetConn().Close() // kill closes the rest
	}
}
