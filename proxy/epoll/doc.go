// Package epoll waits for many idle sockets without a goroutine for each, on Linux
// (epoll_linux.go; epoll_other.go where there is none). It knows a socket by a number.
package epoll
