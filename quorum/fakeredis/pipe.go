package fakeredis

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

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
	*Wire
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

// push puts data on its way. The caller must hold the lock.
func (p *pipe) push(f *flow, d *Direction, data []byte) {
	delay := d.Delay
	if d.Jitter > 0 {
		delay += time.Duration(p.rng.Int64N(int64(d.Jitter)))
	}
	f.last = max(f.last, p.Now()+delay)
	f.queue = append(f.queue, segment{f.last, data})
	p.pump(f)
}

// pump hands over what has arrived. The caller must hold the lock.
func (p *pipe) pump(f *flow) {
	d := &p.There
	if f == &p.in {
		d = &p.Back
	}
	for len(f.queue) > 0 && d.Stalled == 0 {
		head := f.queue[0]
		if wait := head.due - p.Now(); wait > 0 {
			if !f.armed {
				f.armed = true
				time.AfterFunc(wait, func() {
					deepen()
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
	if p.There.Jitter > 0 && p.rng.IntN(16) == 0 {
		at := p.rng.IntN(len(data))
		if at > 0 {
			p.push(&p.out, &p.There, data[:at])
		}
		data = data[at:]
	}
	p.push(&p.out, &p.There, data)
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
	p.push(&p.out, &p.There, nil)
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

// deepen makes the stack of a goroutine that has just begun large enough for a script, in
// place of copying it several times on the way there: a tenth of a storm's time.
//
//go:noinline
func deepen() byte {
	var room [6 << 10]byte
	return room[len(os.Args)%len(room)]
}
