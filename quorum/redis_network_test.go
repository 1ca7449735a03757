package quorum

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"time"
)

// world is a network and its servers, all behind one lock, so that their events happen one
// after the other.
type world struct {
	sync.Mutex
	began time.Time
}

// now returns the time since the world began, which no redlockd or server uses as its
// clock.
func (w *world) now() time.Duration { return time.Since(w.began) }

// direction is one direction of a wire. The caller must hold the world's lock.
type direction struct {
	delay, jitter time.Duration
	stalled       int // the number of faults that stall it
}

// wire is the network between one redlockd, in one of its lives, and one server.
type wire struct {
	*world
	server *redisServer
	rng    *rand.Rand
	there  direction
	back   direction
	// refused is the number of faults that refuse new connections; dead reports whether
	// the redlockd has ended, while the bytes that it has sent still arrive.
	refused int
	dead    bool
	pipes   map[*pipe]bool
}

// segment is bytes that travel together; an empty one is the end of the connection.
type segment struct {
	due  time.Duration
	data []byte
}

// flow is the segments under way in one direction, in their order.
type flow struct {
	queue []segment
	last  time.Duration
	armed bool
}

// pipe is a connection of a redlockd to a server.
type pipe struct {
	*wire
	readable *sync.Cond
	out, in  flow
	// inbox is what the redlockd has not read; over reports whether nothing follows.
	inbox    []byte
	over     bool
	closed   bool // by the redlockd
	deadline time.Time
	timer    *time.Timer
	session
}

var errUnreachable = errors.New("no route to host")

// dial opens a connection. If the way is stalled, it fails after as long as redlockd
// waits.
func (w *wire) dial() (net.Conn, error) {
	w.Lock()
	defer w.Unlock()
	if w.there.stalled+w.back.stalled > 0 {
		w.Unlock()
		time.Sleep(time.Second) // then redlockd gives up
		w.Lock()
		return nil, os.ErrDeadlineExceeded
	}
	if w.dead || w.refused > 0 || w.server.down {
		return nil, errUnreachable
	}
	p := &pipe{wire: w}
	p.readable = sync.NewCond(w.world)
	w.pipes[p] = true
	w.server.accept(p)
	return p, nil
}

// push puts data on its way. The caller must hold the lock.
func (p *pipe) push(f *flow, d *direction, data []byte) {
	delay := d.delay
	if d.jitter > 0 {
		delay += time.Duration(p.rng.Int64N(int64(d.jitter)))
	}
	f.last = max(f.last, p.now()+delay)
	f.queue = append(f.queue, segment{f.last, data})
	p.pump(f)
}

// pump hands over what has arrived. The caller must hold the lock.
func (p *pipe) pump(f *flow) {
	d := &p.there
	if f == &p.in {
		d = &p.back
	}
	for len(f.queue) > 0 && d.stalled == 0 {
		head := f.queue[0]
		if wait := head.due - p.now(); wait > 0 {
			if !f.armed {
				f.armed = true
				time.AfterFunc(wait, func() {
					p.Lock()
					defer p.Unlock()
					f.armed = false
					p.pump(f)
				})
			}
			return
		}
		f.queue = f.queue[1:]
		if f == &p.in {
			p.receive(head.data)
		} else {
			p.server.receive(p, head.data)
		}
	}
}

// receive gives the redlockd what has arrived. The caller must hold the lock.
func (p *pipe) receive(data []byte) {
	p.inbox = append(p.inbox, data...)
	p.over = p.over || len(data) == 0
	p.readable.Broadcast()
}

// reset ends the connection for both sides, and drops all that is under way. The caller
// must hold the lock.
func (p *pipe) reset() {
	p.out.queue, p.in.queue, p.unread = nil, nil, nil
	p.receive(nil)
	p.server.forget(p)
	delete(p.pipes, p)
}

// change calls what on a wire, and hands over what is not stalled any more.
func (w *wire) change(what func()) {
	w.Lock()
	defer w.Unlock()
	what()
	for p := range w.pipes {
		p.pump(&p.out)
		p.pump(&p.in)
	}
}

func (p *pipe) Read(b []byte) (int, error) {
	p.Lock()
	defer p.Unlock()
	for {
		switch {
		case p.closed:
			return 0, net.ErrClosed
		case len(p.inbox) > 0:
			n := copy(b, p.inbox)
			if p.inbox = p.inbox[n:]; len(p.inbox) == 0 {
				p.inbox = nil
			}
			return n, nil
		case p.over:
			return 0, io.EOF
		case !p.deadline.IsZero() && !time.Now().Before(p.deadline):
			return 0, os.ErrDeadlineExceeded
		}
		p.readable.Wait()
	}
}

// Write never waits, as with the kernel's buffers. Sometimes the data arrives in two
// parts.
func (p *pipe) Write(b []byte) (int, error) {
	p.Lock()
	defer p.Unlock()
	if p.closed {
		return 0, net.ErrClosed
	}
	if p.over || p.dead {
		return len(b), nil
	}
	data := append([]byte(nil), b...)
	if p.there.jitter > 0 && p.rng.IntN(16) == 0 {
		at := p.rng.IntN(len(data))
		if at > 0 {
			p.push(&p.out, &p.there, data[:at])
		}
		data = data[at:]
	}
	p.push(&p.out, &p.there, data)
	return len(b), nil
}

// Close ends the connection for the redlockd. What it has sent still arrives.
func (p *pipe) Close() error {
	p.Lock()
	defer p.Unlock()
	p.close()
	return nil
}

// close is Close. The caller must hold the lock.
func (p *pipe) close() {
	if p.closed {
		return
	}
	p.closed = true
	p.readable.Broadcast()
	if p.timer != nil {
		p.timer.Stop()
	}
	p.push(&p.out, &p.there, nil)
}

func (p *pipe) SetDeadline(t time.Time) error {
	p.Lock()
	defer p.Unlock()
	p.deadline = t
	switch {
	case t.IsZero() || p.closed:
	case p.timer == nil:
		p.timer = time.AfterFunc(time.Until(t), p.expire)
	case !time.Now().Before(t):
		p.readable.Broadcast()
	}
	return nil
}

// expire wakes the reader if the deadline, which may have been moved, is over.
func (p *pipe) expire() {
	p.Lock()
	defer p.Unlock()
	switch wait := time.Until(p.deadline); {
	case p.deadline.IsZero() || p.closed:
		p.timer = nil
	case wait > 0:
		p.timer.Reset(wait)
	default:
		p.timer = nil
		p.readable.Broadcast()
	}
}

func (p *pipe) SetReadDeadline(t time.Time) error { return p.SetDeadline(t) }
func (p *pipe) SetWriteDeadline(time.Time) error  { return nil }
func (p *pipe) LocalAddr() net.Addr               { return &net.TCPAddr{} }
func (p *pipe) RemoteAddr() net.Addr              { return &net.TCPAddr{} }
