//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// listenUnix opens a Unix socket to which those may connect that mode allows. It takes the place
// of a socket that a process has left behind that was killed, and of nothing else. Closing it
// removes it.
func listenUnix(path string, mode os.FileMode) (net.Listener, error) {
	if err := removeStale(path); err != nil {
		return nil, err
	}
	// The system makes the socket with no more rights than its descriptor has, on Linux: there is
	// no moment in which others can connect. Elsewhere the umask is all until Chmod.
	limit := net.ListenConfig{Control: func(_, _ string, fd syscall.RawConn) error {
		return fd.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), uint32(mode)) })
	}}
	ln, err := limit.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, mode); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return ln, nil
}

// removeStale removes a socket to which nobody listens. It is an error if somebody does, or if
// the file is no socket.
func removeStale(path string) error {
	file, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case file.Mode().Type() != os.ModeSocket:
		return fmt.Errorf("%s is there and is no socket", path)
	}
	conn, err := net.Dial("unix", path)
	switch {
	case err == nil:
		return errors.Join(fmt.Errorf("%s is in use", path), conn.Close())
	case !errors.Is(err, syscall.ECONNREFUSED):
		return err
	}
	return os.Remove(path)
}
