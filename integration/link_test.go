package integration

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Link is the network between redlockd and one master: a TCP forwarder that
// can be slow, and can be cut. Bytes keep their order.
type Link struct {
	Addr string

	to      string
	ln      net.Listener
	latency atomic.Int64 // each way, nanoseconds

	mu    sync.Mutex
	cut   bool
	pairs map[net.Conn]net.Conn
	wg    sync.WaitGroup
}

// NewLink forwards to the address to until the test ends.
func NewLink(tb testing.TB, to string) *Link {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	l := &Link{Addr: ln.Addr().String(), to: to, ln: ln, pairs: map[net.Conn]net.Conn{}}
	l.wg.Go(l.accept)
	tb.Cleanup(func() {
		ln.Close()
		l.Cut()
		l.wg.Wait()
	})
	return l
}

// Slow makes every byte sent from now on arrive this much later, each way.
func (l *Link) Slow(latency time.Duration) { l.latency.Store(int64(latency)) }

// Cut closes all connections and those that are tried, until Mend.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	l.closeAll()
}

// Mend ends Cut.
func (l *Link) Mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = false
}

// Drop closes all connections; new ones are let through.
func (l *Link) Drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closeAll()
}

func (l *Link) closeAll() {
	for a, b := range l.pairs {
		a.Close()
		b.Close()
	}
}

func (l *Link) accept() {
	for {
		c, err := l.ln.Accept()
		if err != nil {
			return
		}
		l.wg.Go(func() { l.serve(c) })
	}
}

func (l *Link) serve(c net.Conn) {
	defer c.Close()
	s, err := net.Dial("tcp", l.to)
	if err != nil {
		return
	}
	defer s.Close()
	l.mu.Lock()
	if l.cut {
		l.mu.Unlock()
		return
	}
	l.pairs[c] = s
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.pairs, c)
		l.mu.Unlock()
	}()

	var both sync.WaitGroup
	both.Go(func() { l.pump(s, c) })
	both.Go(func() { l.pump(c, s) })
	both.Wait()
}

// pump carries bytes until either side is closed, and then closes both.
func (l *Link) pump(dst, src net.Conn) {
	type parcel struct {
		data []byte
		at   time.Time
	}
	way := make(chan parcel, 1024)
	var writer sync.WaitGroup
	writer.Go(func() {
		for p := range way {
			time.Sleep(time.Until(p.at)) // this is the latency itself
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
