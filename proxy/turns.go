package proxy

import (
	"runtime/debug"
	"time"
)

// A pipeline writes by turns (writers.go): it takes what is ready at its head, writes
// it, and ends what that kept to be undone.

// turn writes one batch as far as that can be done without waiting, and lets
// the others have their turns. Where the client does not take it at once the
// batch goes to a goroutine that waits, and turn returns false.
func (p *pipeline) turn(w *batch) (keeps bool) {
	defer p.recovered(w)
	keeps = true
	p.take(w)
	n, deadline, err := p.s.try(w)
	switch {
	case err != nil:
		p.failed(w, n, err)
	case n < len(w.bytes):
		go p.writeOn(w, n, deadline)
		return false
	case p.wrote(w):
		p.s.srv.writers.put(p)
	}
	return keeps
}

// writeOn is the end of a turn that has to wait.
func (p *pipeline) writeOn(w *batch, n int, deadline time.Time) {
	n, err := p.s.writeRest(w, n, deadline)
	switch {
	case err != nil:
		p.failed(w, n, err)
	case p.wrote(w):
		p.s.srv.writers.put(p)
	}
	w.release()
}

// writeAlone is the writing goroutine of a connection that is no plain socket;
// it lives as long as the first slot is ready.
func (p *pipeline) writeAlone() {
	w := takeBatch()
	defer w.release()
	defer p.recovered(w)
	for more := true; more; {
		p.take(w)
		deadline, _ := p.s.encode(w)
		if n, err := p.s.writeRest(w, 0, deadline); err != nil {
			p.failed(w, n, err)
			return
		}
		more = p.wrote(w)
	}
}

// recovered ends a session whose reply could not be made.
func (p *pipeline) recovered(w *batch) {
	if r := recover(); r != nil {
		p.s.log().Error("panic while writing a reply", "panic", r, "stack", string(debug.Stack()))
		w.undo(p.s.srv.grants, 0)
		p.s.kill()
		p.stopped()
	}
}

// failed undoes what was granted by a reply that was not written to its end; a
// reply that has left in full is not, since the client may have read it.
func (p *pipeline) failed(w *batch, n int, err error) {
	p.s.log().Debug("reply not written", "error", err)
	w.undo(p.s.srv.grants, n)
	p.s.sever()
	p.s.kill()
	p.stopped()
}

// take moves the ready slots at the head into the batch, up to one that must be
// renewed first. There may be none.
func (p *pipeline) take(w *batch) {
	p.renew(p.moveTo(w))
}

func (p *pipeline) moveTo(w *batch) []renewal {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.clear()
	w.began = time.Now()
	for size := 0; p.head != nil && p.head.waiting == 0 && len(w.slots) < maxBatch && size < maxBatchBytes; {
		if late := p.late(w); late != nil {
			return late
		}
		sl := p.head
		size += sl.size
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
func (p *pipeline) wrote(w *batch) bool {
	for _, sl := range w.slots {
		sl.delivered(p.s.srv.grants, w)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, sl := range w.slots {
		if sl.message {
			p.messages -= sl.size
			continue
		}
		p.count--
		p.bytes -= sl.size
	}
	p.charge()
	p.writing = p.head != nil && p.head.waiting == 0
	p.changed.Broadcast()
	return p.writing
}

func (p *pipeline) stopped() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writing = false
	p.changed.Broadcast()
}
