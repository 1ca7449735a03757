//go:build unix

package replies

import (
	"net"
	"syscall"
)

// socketOf is what the connection is written through without waiting; nil for
// what is no plain socket (TLS).
func socketOf(conn net.Conn) syscall.RawConn {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return nil // closed, which every use of the connection tells
	}
	return raw
}

// socketCalls are the system calls of a batch's writing, as functions that
// are made once and not for every write.
type socketCalls struct {
	peek  func(fd uintptr)
	write func(fd uintptr) bool
	// up is what peek has found, n and err what write has.
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

// hungUp looks, right before a lock is told, whether the client has closed or
// reset the connection while the reading goroutine was still on its way to see
// it (P5). What TLS wraps, or unread commands hide, is seen by reading only.
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
