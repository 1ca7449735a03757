//go:build !linux

package epoll

import "syscall"

// Available is false here: every session keeps its goroutine.
const Available = false

// Epoll is never used here.
type Epoll struct{}

// New returns an Epoll that does nothing.
func New(func(id int64)) *Epoll { return &Epoll{} }

// Watch is never called here.
func (*Epoll) Watch(syscall.RawConn, int64, bool) bool { return false }

// Close does nothing.
func (*Epoll) Close() {}
