package proxy

import (
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// canPark is whether there is an epoll here.
const canPark = true

// epoll tells when there is something to read from a parked session, or its
// client has hung up. A socket is asked about once each time (EPOLLONESHOT), so
// that a session that is not parked costs nothing. It holds no socket: one that
// is closed leaves by itself. Safe for concurrent use; the zero value is ready.
type epoll struct {
	mu   sync.Mutex
	file *os.File // nil before the first session
	fd   int
}

// watch asks once for the session's socket; what has come already counts. It is
// false where the system refuses, then the session must be read from. Needs
// stopMu.
func (e *epoll) watch(s *session) bool {
	if !e.open(s.srv) {
		return false
	}
	op := unix.EPOLL_CTL_ADD
	if s.enrolled {
		op = unix.EPOLL_CTL_MOD
	}
	ask := unix.EpollEvent{
		Events: unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLONESHOT,
		Fd:     int32(s.id), Pad: int32(s.id >> 32), // the number, since others get the descriptor
	}
	var refused error
	err := s.pipe.Socket().Control(func(fd uintptr) { refused = unix.EpollCtl(e.fd, op, int(fd), &ask) })
	if err != nil || refused != nil {
		return false
	}
	s.enrolled = true
	return true
}

// open starts what waits, once.
func (e *epoll) open(srv *Server) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.file != nil {
		return true
	}
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return false // too many open files; the next one tries again
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return false
	}
	// Go's own poller waits for it, as for any descriptor that does not block,
	// so the waiting takes no thread.
	file := os.NewFile(uintptr(fd), "epoll")
	raw, err := file.SyscallConn()
	if err != nil {
		_ = file.Close()
		return false
	}
	e.file, e.fd = file, fd
	go srv.wakeParked(raw)
	return true
}

// wakeParked lets those go on whose sockets have something, until the epoll is
// closed. It waits for no session.
func (s *Server) wakeParked(raw syscall.RawConn) {
	events, n := make([]unix.EpollEvent, 128), 0
	look := func(fd uintptr) bool {
		n, _ = unix.EpollWait(int(fd), events, 0)
		return n != 0 // interrupted, it looks again
	}
	for raw.Read(look) == nil {
		for _, event := range events[:max(n, 0)] {
			id := int64(uint32(event.Fd)) | int64(event.Pad)<<32
			if ses := s.roster.session(id); ses != nil {
				ses.unpark()
			}
		}
	}
}

// close ends the waiting. No session may be there any more.
func (e *epoll) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.file != nil {
		_ = e.file.Close()
	}
}
