package replies

import (
	"net"
	"runtime/debug"
	"time"
)

// maxBatch bounds the replies of one write, maxBatchBytes about their bytes, so that no
// turn to write delays the other sessions for long; one reply is written in any case.
const (
	maxBatch      = 128
	maxBatchBytes = 64 << 10
)

// A pipeline writes in turns (writers.go): it takes the slots that are ready at its head, and
// writes them.

// turn writes one batch as far as that is possible without blocking. If the socket does
// not take all of it the batch goes to a goroutine that waits, and turn returns false.
func (p *Pipeline) turn(w *batch) (keeps bool) {
	defer p.recovered(w)
	keeps = true
	p.take(w)
	n, deadline, err := p.try(w)
	switch {
	case err != nil:
		p.fail(w, n, err)
	case n < len(w.bytes):
		go p.writeOn(w, n, deadline)
		return false
	case p.endBatch(w):
		p.writers.put(p)
	}
	return keeps
}

// turnNow has a turn in the caller's goroutine: where one client waits, to wake a writer takes longer
// than to write.
func (p *Pipeline) turnNow() {
	if w := takeBatch(); p.turn(w) {
		w.release()
	}
}

// writeOn ends a turn that has to wait for the client.
func (p *Pipeline) writeOn(w *batch, n int, deadline time.Time) {
	n, err := p.writeRest(w, n, deadline)
	switch {
	case err != nil:
		p.fail(w, n, err)
	case p.endBatch(w):
		p.writers.put(p)
	}
	w.release()
}

// writeAlone is the writing goroutine of a connection that is no plain socket; it ends
// when the first slot is not ready.
func (p *Pipeline) writeAlone() {
	w := takeBatch()
	defer w.release()
	defer p.recovered(w)
	for more := true; more; {
		p.take(w)
		deadline, _ := p.encode(w)
		if n, err := p.writeRest(w, 0, deadline); err != nil {
			p.fail(w, n, err)
			return
		}
		more = p.endBatch(w)
	}
}

// recovered ends the session after a panic while its reply was made or written.
func (p *Pipeline) recovered(w *batch) {
	if r := recover(); r != nil {
		p.owner.Log().Error("panic while writing a reply", "panic", r, "stack", string(debug.Stack()))
		w.undo(p.writers.Promises, 0)
		p.owner.Kill()
		p.stopWriting()
	}
}

// fail ends the session after a failed write. It undoes the grants of replies that were
// not written in full; the others stand, since the client may have read them.
func (p *Pipeline) fail(w *batch, n int, err error) {
	p.owner.Log().Debug("reply not written", "error", err)
	w.undo(p.writers.Promises, n)
	p.sever()
	p.owner.Kill()
	p.stopWriting()
}

// take moves the ready slots at the head into the batch, up to the first that must be
// renewed before, and starts the renewals. The batch may stay empty.
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

// endBatch ends a batch that was written, and reports whether more is ready; if not, the
// pipeline is no longer writing.
func (p *Pipeline) endBatch(w *batch) bool {
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

func (p *Pipeline) stopWriting() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writing = false
	p.changed.Broadcast()
}

// sever closes the connection below TLS, which would otherwise try for 5 s to send its
// close_notify to a client that does not read.
func (p *Pipeline) sever() {
	if c, ok := p.conn.(interface{ NetConn() net.Conn }); ok {
		_ = c.NetConn().Close() // Kill closes the rest
	}
}
