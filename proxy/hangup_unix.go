//go:build unix

package proxy

import "syscall"

// hungUp looks, right before a lock is told, whether the client has closed or
// reset the connection while the reading goroutine was still on its way to see
// it (P5). What TLS wraps, or unread commands hide, is seen by reading only.
func (s *session) hungUp() bool {
	c, ok := s.conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return true // closed
	}
	up := true
	err = raw.Control(func(fd uintptr) {
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		up = n > 0 || err == syscall.EAGAIN || err == syscall.EINTR
	})
	if err != nil || !up {
		s.gone.Store(true)
		return true
	}
	return false
}
