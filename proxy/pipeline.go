package proxy

import (
	"sync"

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
	p.s.srv.slow.Record(sl.command, sl.ops, sl.outcomes, sl.who, p.s.srv.cfg().SlowerThan)
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
