//go:build unix

package replies

import (
	"net"
	"syscall"
)

// socketOf returns the socket with which the connection is written without blocking, nil
// if it is no plain socket (TLS).
func socketOf(conn net.Conn) syscall.RawConn {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return nil // closed, which shows at the next read or write
	}
	return raw
}

// socketCalls are the system calls that write a batch, as functions that are made once
// instead of for every write.
type socketCalls struct {
	peek  func(fd uintptr)
	write func(fd uintptr) bool
	// up is the result of peek: whether the client is connected. n and err are those of
	// write.
	up  bool
	n   int
	err error
}

func (w *batch) init() {
	w.calls.peek = func(fd uintptr) {
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		w.calls.up = n > 0 || err == syscall.EAGAIN || err == syscall.EINTR
	}
	w.calls.write = func(fd uintptr) bool {
		w.calls.n, w.calls.err = syscall.Write(int(fd), w.bytes)
		return w.calls.err != syscall.EINTR
	}
}

// hungUp reports whether the client has closed or reset the connection. It is asked right
// before a grant is answered, because the reading goroutine may not have noticed yet
// (P5). A close behind unread commands, or below TLS, shows only in reading.
func (p *Pipeline) hungUp(w *batch) bool {
	if p.socket == nil {
		return false
	}
	if err := p.socket.Control(w.calls.peek); err != nil || !w.calls.up {
		p.gone.Store(true)
		return true
	}
	return false
}

// writeNow writes as much of the batch as the socket takes at once.
func (p *Pipeline) writeNow(w *batch) (int, error) {
	if err := p.socket.Write(w.calls.write); err != nil {
		return 0, err // closed
	}
	if w.calls.err == syscall.EAGAIN {
		return 0, nil
	}
	return max(0, w.calls.n), w.calls.err
}
