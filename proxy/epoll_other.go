//go:build !linux

package proxy

// canPark is false here: every session keeps its goroutine.
const canPark = false

type epoll struct{}

// watch is never called here.
func (*epoll) watch(*session) bool { return false }

func (*epoll) close() {}
