// Package epoll waits for many idle sockets without a goroutine for each, on Linux
// (epoll_linux.go; epoll_other.go is for other systems). It identifies a socket by a
// number.
package epoll
