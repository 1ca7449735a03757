package faults

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// link is the network between one redlockd and one master: it can be slow,
// stalled (bytes stay on their way) and cut.
type link struct {
	addr, to string
	ln       net.Listener
	latency  atomic.Int64 // each way, nanoseconds
	stalled  atomic.Bool

	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]bool
}

func newLink(tb testing.TB, to string) *link {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	l := &link{addr: ln.Addr().String(), to: to, ln: ln, conns: map[net.Conn]bool{}}
	go l.accept()
	tb.Cleanup(func() { ln.Close(); l.setCut(true) })
	return l
}

// setCut closes all connections and refuses new ones, or ends that.
func (l *link) setCut(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = cut
	if cut {
		l.closeAll()
	}
}

func (l *link) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closeAll()
}

func (l *link) closeAll() {
	for c := range l.conns {
		c.Close()
	}
	clear(l.conns)
}

func (l *link) accept() {
	for {
		c, err := l.ln.Accept()
		if err != nil {
			return
		}
		go l.serve(c)
	}
}

func (l *link) serve(c net.Conn) {
	s, err := net.Dial("tcp", l.to)
	if err != nil {
		c.Close()
		return
	}
	l.mu.Lock()
	if l.cut {
		l.mu.Unlock()
		c.Close()
		s.Close()
		return
	}
	l.conns[c], l.conns[s] = true, true
	l.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { l.pump(s, c) })
	both.Go(func() { l.pump(c, s) })
	both.Wait()
	l.mu.Lock()
	delete(l.conns, c)
	delete(l.conns, s)
	l.mu.Unlock()
}

// pump carries bytes in order until either side is closed, and closes both.
func (l *link) pump(dst, src net.Conn) {
	type parcel struct {
		data []byte
		at   time.Time
	}
	way := make(chan parcel, 4096)
	var writer sync.WaitGroup
	writer.Go(func() {
		for p := range way {
			time.Sleep(time.Until(p.at)) // the latency itself
			for l.stalled.Load() {
				time.Sleep(5 * time.Millisecond)
			}
			if _, err := dst.Write(p.data); err != nil {
				src.Close()
			}
		}
		dst.Close()
	})
	buf := make([]byte, 64<<10)
	for {
		n, err := src.Read(buf)
		if n > 0 {
			way <- parcel{append([]byte(nil), buf[:n]...), time.Now().Add(time.Duration(l.latency.Load()))}
		}
		if err != nil {
			break
		}
	}
	close(way)
	writer.Wait()
	src.Close()
}
