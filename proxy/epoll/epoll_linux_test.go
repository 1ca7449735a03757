package epoll

import (
	"net"
	"syscall"
	"testing"
	"time"
)

// A socket is told of once each time that somebody asks, also for what had come before.
func TestEachWatchIsAnsweredOnce(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	theirs, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	ours, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	socket, err := ours.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	const number = 7<<32 | 1<<31 | 5 // both halves of it count
	woken := make(chan int64, 16)
	e := New(func(id int64) { woken <- id })
	defer e.Close()
	for round := range 3 {
		if !e.Watch(socket, number, round > 0) {
			t.Fatal("the system refuses")
		}
		if _, err := theirs.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		select {
		case id := <-woken:
			if id != number {
				t.Errorf("woken for %d, want %d", id, int64(number))
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("round %d: not woken", round)
		}
	}
	if len(woken) > 0 {
		t.Errorf("woken %d times more than asked for", len(woken))
	}
}
