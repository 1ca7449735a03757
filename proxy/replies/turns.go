package replies

import (
	"net"
	"runtime/debug"
	"time"
)

// maxBatch bounds the replies of one write, maxBatchBytes about what they
// take, so that nobody's turn to write keeps the others waiting for long;
// one reply goes out in any case.
const (
	maxBatch      = 128
	maxBatchBytes = 64 << 10
)

// A pipeline writes by turns (writers.go): it takes what is ready at its head, writes
// it, and ends what that kept to be undone.

// turn writes one batch as far as that can be done without waiting, and lets
// the others have their turns. Where the client does not take it at once the
// batch goes to a goroutine that waits, and turn returns false.
func (p *Pipeline) turn(w *batch) (keeps bool) {
	defer p.recovered(w)
	keeps = true
	p.take(w)
	n, deadline, err := p.try(w)
	switch {
	case err != nil:
		p.failed(w, n, err)
	case n < len(w.bytes):
		go p.writeOn(w, n, deadline)
		return false
	case p.wrote(w):
		p.writers.put(p)
	}
	return keeps
}

// writeOn is the end of a turn that has to wait.
func (p *Pipeline) writeOn(w *batch, n int, deadline time.Time) {
	n, err := p.writeRest(w, n, deadline)
	switch {
	case err != nil:
		p.failed(w, n, err)
	case p.wrote(w):
		p.writers.put(p)
	}
	w.release()
}

// writeAlone is the writing goroutine of a connection that is no plain socket;
// it lives as long as the first slot is ready.
func (p *Pipeline) writeAlone() {
	w := takeBatch()
	defer w.release()
	defer p.recovered(w)
	for more := true; more; {
		p.take(w)
		deadline, _ := p.encode(w)
		if n, err := p.writeRest(w, 0, deadline); err != nil {
			p.failed(w, n, err)
			return
		}
		more = p.wrote(w)
	}
}

// recovered ends a session whose reply could not be made.
func (p *Pipeline) recovered(w *batch) {
	if r := recover(); r != nil {
		p.owner.Log().Error("panic while writing a reply", "panic", r, "stack", string(debug.Stack()))
		w.undo(p.writers.Promises, 0)
		p.owner.Kill()
		p.stopped()
	}
}

// failed undoes what was granted by a reply that was not written to its end; a
// reply that has left in full is not, since the client may have read it.
func (p *Pipeline) failed(w *batch, n int, err error) {
	p.owner.Log().Debug("reply not written", "error", err)
	w.undo(p.writers.Promises, n)
	p.sever()
	p.owner.Kill()
	p.stopped()
}

// take moves the ready slots at the head into the batch, up to one that must be
// renewed first. There may be none.
func (p *Pipeline) take(w *batch) {
	p.renew(p.moveTo(w))
}

func (p *Pipeline) moveTo(w *batch) []renewal {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.clear()
	w.began = time.Now()
	for size := 0; p.head != nil && p.head.waiting == 0 && len(w.slots) < maxBatch && size < maxBatchBytes; {
		if late := p.lateLocked(w); late != nil {
			return late
		}
		sl := p.head
		size += sl.Size
		p.head = sl.next
		if p.head == nil {
			p.tail = nil
		}
		sl.next = nil
		w.slots = append(w.slots, sl)
	}
	return nil
}

// wrote ends a batch that was written, and is whether more is ready; otherwise
// the writing is over.
func (p *Pipeline) wrote(w *batch) bool {
	for _, sl := range w.slots {
		sl.delivered(p.writers.Promises, w)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, sl := range w.slots {
		if sl.message {
			p.messages -= sl.Size
			continue
		}
		p.count--
		p.bytes -= sl.Size
	}
	p.chargeLocked()
	p.writing = p.head != nil && p.head.waiting == 0
	p.changed.Broadcast()
	return p.writing
}

func (p *Pipeline) stopped() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writing = false
	p.changed.Broadcast()
}

// sever ends what is below TLS, which else would try for 5 s to tell its end to
// a client that does not read.
func (p *Pipeline) sever() {
	if c, ok := p.conn.(interface{ NetConn() net.Conn }); ok {
		_ = c.NetConn().Close() // kill closes the rest
	}
}
