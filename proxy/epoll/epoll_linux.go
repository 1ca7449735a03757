package epoll

import (
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Available reports whether there is an epoll here.
const Available = true

// Epoll tells when there is something to read from a socket, or its peer has hung
// up. A socket is asked about once each time (EPOLLONESHOT), so
// that one that nobody waits for costs nothing. It holds no socket: one that
// is closed leaves by itself. Safe for concurrent use.
type Epoll struct {
	wake func(id int64)

	mu   sync.Mutex
	file *os.File // nil before the first socket
	fd   int
}

// New returns one that calls wake with the number of each socket that has something.
// wake must not wait.
func New(wake func(id int64)) *Epoll { return &Epoll{wake: wake} }

// Watch asks once for a socket; what has come already counts. again says that it was
// watched before, id is its number. It is false where the system refuses, then the
// socket must be read from.
func (e *Epoll) Watch(socket syscall.RawConn, id int64, again bool) bool {
	if !e.open() {
		return false
	}
	op := unix.EPOLL_CTL_ADD
	if again {
		op = unix.EPOLL_CTL_MOD
	}
	ask := unix.EpollEvent{
		Events: unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLONESHOT,
		Fd:     int32(id), Pad: int32(id >> 32), // the number, since others get the descriptor
	}
	var refused error
	err := socket.Control(func(fd uintptr) { refused = unix.EpollCtl(e.fd, op, int(fd), &ask) })
	return err == nil && refused == nil
}

// open starts what waits, once.
func (e *Epoll) open() bool {
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
	go e.wait(raw)
	return true
}

// wait wakes those whose sockets have something, until the epoll is closed.
func (e *Epoll) wait(raw syscall.RawConn) {
	events, n := make([]unix.EpollEvent, 128), 0
	look := func(fd uintptr) bool {
		n, _ = unix.EpollWait(int(fd), events, 0)
		return n != 0 // interrupted, it looks again
	}
	for raw.Read(look) == nil {
		for _, event := range events[:max(n, 0)] {
			e.wake(int64(uint32(event.Fd)) | int64(event.Pad)<<32)
		}
	}
}

// Close ends the waiting. Nothing may be watched any more.
func (e *Epoll) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.file != nil {
		_ = e.file.Close()
	}
}
