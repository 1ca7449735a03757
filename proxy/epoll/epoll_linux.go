package epoll

import (
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Available reports whether this system has epoll.
const Available = true

// Epoll reports when a socket has something to read or its peer has hung up. Each Watch
// reports once (EPOLLONESHOT), so that a socket that is not watched costs nothing. It
// keeps no reference to a socket: the kernel removes one that is closed. Safe for
// concurrent use.
type Epoll struct {
	wake func(id int64)

	mu   sync.Mutex
	file *os.File // nil before the first socket
	fd   int
}

// New returns an Epoll that calls wake with the number of each socket that has something
// to read. wake must not block.
func New(wake func(id int64)) *Epoll { return &Epoll{wake: wake} }

// Watch has wake called once, when a socket has something to read; what has arrived
// already counts. id is the socket's number; again must be true if the socket was watched
// before. It returns false if the system refuses; the socket must be read from then.
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
		Fd:     int32(id), Pad: int32(id >> 32), // the number, since a descriptor is used again
	}
	var refused error
	err := socket.Control(func(fd uintptr) { refused = unix.EpollCtl(e.fd, op, int(fd), &ask) })
	return err == nil && refused == nil
}

// open creates the epoll and starts wait, once.
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
	// Go's own poller waits for the epoll, as for any non-blocking descriptor, so the
	// waiting takes no thread.
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

// wait calls wake for the sockets that have something, until the epoll is closed.
func (e *Epoll) wait(raw syscall.RawConn) {
	events, n := make([]unix.EpollEvent, 128), 0
	look := func(fd uintptr) bool {
		n, _ = unix.EpollWait(int(fd), events, 0)
		return n != 0 // 0 waits on; -1, interrupted, ends this round
	}
	for raw.Read(look) == nil {
		for _, event := range events[:max(n, 0)] {
			e.wake(int64(uint32(event.Fd)) | int64(event.Pad)<<32)
		}
	}
}

// Close ends the waiting. Watch must not be called any more.
func (e *Epoll) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.file != nil {
		_ = e.file.Close()
	}
}
