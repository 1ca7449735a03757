package faults

import (
	"net"
	"syscall"
	"time"
	"unsafe"
)

// stamped reads from a connection and keeps when the system received what was
// read last. Over the loopback that is when it was sent, however late this
// process is in reading it.
type stamped struct {
	raw syscall.RawConn
	at  time.Time
}

// newStamped returns nil where the system gives no times.
func newStamped(conn net.Conn) *stamped {
	tcp, is := conn.(*net.TCPConn)
	if !is {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	var set error
	err = raw.Control(func(fd uintptr) {
		set = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_TIMESTAMPNS, 1)
	})
	if err != nil || set != nil {
		return nil
	}
	return &stamped{raw: raw}
}

func (s *stamped) Read(p []byte) (n int, err error) {
	oob := make([]byte, 64)
	var oobn int
	var got error
	err = s.raw.Read(func(fd uintptr) bool {
		n, oobn, _, _, got = syscall.Recvmsg(int(fd), p, oob, 0)
		return got != syscall.EAGAIN && got != syscall.EINTR
	})
	switch {
	case err != nil:
		return 0, err
	case got != nil:
		return 0, got
	case n == 0:
		return 0, net.ErrClosed
	}
	if at, found := stampIn(oob[:oobn]); found {
		s.at = at
	}
	return n, nil
}

func stampIn(oob []byte) (time.Time, bool) {
	messages, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return time.Time{}, false
	}
	for _, m := range messages {
		if m.Header.Type == syscall.SO_TIMESTAMPNS && len(m.Data) >= int(unsafe.Sizeof(syscall.Timespec{})) {
			t := *(*syscall.Timespec)(unsafe.Pointer(&m.Data[0]))
			return time.Unix(t.Unix()), true
		}
	}
	return time.Time{}, false
}
