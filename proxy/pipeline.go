package proxy

import (
	"runtime/debug"
	"sync"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

// pipeline is the queue of a session's replies, in the order of its commands
// (S1). The reading goroutine adds slots, anybody fills them, and while the
// first slot is ready the writers (writers.go) give it turns to write, so an
// idle session has no goroutine for that. Safe for concurrent use.
type pipeline struct {
	s *session

	mu       sync.Mutex
	changed  sync.Cond
	head     *slot
	tail     *slot
	count    int  // commands that wait, those being written included
	bytes    int  // what they and their replies hold
	messages int  // bytes of pub/sub messages that wait
	charged  int  // of bytes and messages
	writing  bool // it waits for its turn to write, or has it
	dead     bool

	behind *pipeline // the next one that waits for its turn, guarded by writers
}

func (p *pipeline) init(s *session) {
	p.s = s
	p.changed.L = &p.mu
}

// add queues a slot behind all others and returns at once unless the session
// has too much waiting; then it waits for room, which is what keeps the
// session from being read. Slots that are ready go out with the next flush.
func (p *pipeline) add(sl *slot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.dead && p.count > 0 && (p.count >= p.s.srv.cfg().MaxPipeline || p.bytes+sl.size > maxQueuedBytes) {
		p.kick()
		p.changed.Wait()
	}
	if p.dead {
		return
	}
	p.count++
	p.bytes += sl.size
	p.push(sl)
	p.charge()
}

// message queues a pub/sub message and reports false when the subscriber has
// too many waiting. It never blocks.
func (p *pipeline) message(sl *slot) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return true
	}
	if p.messages+sl.size > maxMessageBytes {
		return false
	}
	p.messages += sl.size
	p.push(sl)
	p.charge()
	p.kick()
	return true
}

// charge needs mu.
func (p *pipeline) charge() { p.s.charge(&p.charged, p.bytes+p.messages) }

func (p *pipeline) push(sl *slot) {
	if p.tail == nil {
		p.head = sl
	} else {
		p.tail.next = sl
	}
	p.tail = sl
}

// outcome fills one part of a slot.
func (p *pipeline) outcome(sl *slot, i int, o *quorum.Outcome) {
	p.mu.Lock()
	sl.outcomes[i] = o
	// What a master told may be longer than what was asked.
	sl.size += len(o.State.Token)
	p.bytes += len(o.State.Token)
	p.charge()
	dead, last := p.dead, p.filled(sl)
	p.mu.Unlock()
	if dead {
		p.s.srv.grants.undo(o)
	}
	if !last {
		return
	}
	p.s.srv.slow.record(sl, p.s.srv.cfg().SlowerThan)
	if sl.after != nil {
		sl.after(sl.outcomes)
	}
}

// filled counts one part of a slot as there, and is whether it was the last.
func (p *pipeline) filled(sl *slot) bool {
	sl.waiting--
	if sl.waiting > 0 {
		return false
	}
	p.kick()
	return true
}

// flush lets the replies go that are ready.
func (p *pipeline) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kick()
}

func (p *pipeline) kick() {
	if p.writing || p.dead || p.head == nil || p.head.waiting > 0 {
		return
	}
	p.writing = true
	if p.s.socket == nil {
		go p.writeAlone()
		return
	}
	p.s.srv.writers.put(p)
}

// idle reports whether nothing waits.
func (p *pipeline) idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.head == nil && !p.writing
}

// finish waits until everything is written or the pipeline was aborted.
func (p *pipeline) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.dead && (p.head != nil || p.writing) {
		p.kick()
		p.changed.Wait()
	}
}

// abort drops everything that was not written and undoes what it granted;
// what is granted later is undone as it arrives (P5).
func (p *pipeline) abort() {
	p.mu.Lock()
	if p.dead {
		p.mu.Unlock()
		return
	}
	p.dead = true
	list := p.head
	p.head, p.tail = nil, nil
	// The outcomes are collected under the lock: a slot that still waits for
	// others is filled concurrently.
	var lost []*quorum.Outcome
	for sl := list; sl != nil; sl = sl.next {
		for _, o := range sl.outcomes {
			if o != nil {
				lost = append(lost, o)
			}
		}
	}
	p.changed.Broadcast()
	p.mu.Unlock()
	for _, o := range lost {
		p.s.srv.grants.undo(o)
	}
}

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
