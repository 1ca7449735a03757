package replies

import (
	"net"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/memory"
	"github.com/redlockd/redlockd/quorum"
)

const (
	// MaxQueuedBytes bounds commands and replies of one session that wait,
	// whatever their number. One command may exceed it.
	MaxQueuedBytes = 1 << 20
	// MaxMessageBytes bounds the pub/sub messages that wait for a subscriber
	// that does not read; beyond it the session is closed.
	MaxMessageBytes = 4 << 20
)

// Pipeline is the queue of a session's replies, in the order of its commands
// (S1). The reading goroutine adds slots, anybody fills them, and while the
// first slot is ready the writers (writers.go) give it turns to write, so an
// idle session has no goroutine for that. Safe for concurrent use.
type Pipeline struct {
	writers *Writers
	owner   Owner
	account *memory.Account
	conn    net.Conn
	// socket is conn where that is a plain socket, else nil.
	socket syscall.RawConn

	gone    atomic.Bool   // the client has sent EOF, or the connection is closed
	written atomic.Uint64 // bytes

	mu       sync.Mutex
	changed  sync.Cond
	head     *Slot
	tail     *Slot
	count    int  // commands that wait, those being written included
	bytes    int  // what they and their replies hold
	messages int  // bytes of pub/sub messages that wait
	charged  int  // of bytes and messages
	writing  bool // it waits for its turn to write, or has it
	dead     bool

	behind *Pipeline // the next one that waits for its turn, guarded by writers
}

// Owner is the session of a pipeline.
type Owner interface {
	// Kill closes the connection at once, and aborts the pipeline.
	Kill()
	Log() hclog.Logger
}

// NewPipeline returns that of a connection.
func NewPipeline(ws *Writers, conn net.Conn, account *memory.Account, of Owner) *Pipeline {
	p := &Pipeline{writers: ws, owner: of, account: account, conn: conn, socket: socketOf(conn)}
	p.changed.L = &p.mu
	return p
}

// Gone reports whether nobody waits for an outcome any more (quorum.Client).
func (p *Pipeline) Gone() bool { return p.gone.Load() }

// SetGone says that the client has gone: no grant is told any more (P5).
func (p *Pipeline) SetGone() { p.gone.Store(true) }

// Socket is the connection's where it is a plain socket, else nil.
func (p *Pipeline) Socket() syscall.RawConn { return p.socket }

// Sent is how many bytes were written.
func (p *Pipeline) Sent() uint64 { return p.written.Load() }

// Add queues a slot behind all others and returns at once unless the session
// has too much waiting; then it waits for room, which is what keeps the
// session from being read. Slots that are ready go out with the next flush.
func (p *Pipeline) Add(sl *Slot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.dead && p.count > 0 && (p.count >= p.writers.limits().Waiting || p.bytes+sl.Size > MaxQueuedBytes) {
		p.kickLocked()
		p.changed.Wait()
	}
	if p.dead {
		return
	}
	p.count++
	p.bytes += sl.Size
	p.pushLocked(sl)
	p.chargeLocked()
}

// Message queues a pub/sub message of about size bytes, and reports false when the
// subscriber has too many waiting. It never blocks.
func (p *Pipeline) Message(r resp.Reply, proto, size int) bool {
	sl := &Slot{Reply: r, Proto: proto, message: true, Size: size}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return true
	}
	if p.messages+sl.Size > MaxMessageBytes {
		return false
	}
	p.messages += sl.Size
	p.pushLocked(sl)
	p.chargeLocked()
	p.kickLocked()
	return true
}

// chargeLocked charges what waits.
func (p *Pipeline) chargeLocked() { p.account.Charge(&p.charged, p.bytes+p.messages) }

func (p *Pipeline) pushLocked(sl *Slot) {
	if p.tail == nil {
		p.head = sl
	} else {
		p.tail.next = sl
	}
	p.tail = sl
}

// Outcome fills one part of a slot.
func (p *Pipeline) Outcome(sl *Slot, i int, o *quorum.Outcome) {
	sl.note(i, o)
	p.mu.Lock()
	sl.outcomes[i] = o
	// What a master told may be longer than what was asked.
	sl.Size += len(o.State.Token)
	p.bytes += len(o.State.Token)
	p.chargeLocked()
	dead, last := p.dead, p.filledLocked(sl)
	p.mu.Unlock()
	if dead {
		p.writers.Promises.Undo(o)
	}
	if !last {
		return
	}
	p.writers.slow.Record(sl.Command, sl.ops, sl.outcomes, sl.Who, p.writers.limits().SlowerThan)
	if sl.After != nil {
		sl.After(sl.outcomes)
	}
}

// filledLocked counts one part of a slot as there, and is whether it was the last.
func (p *Pipeline) filledLocked(sl *Slot) bool {
	sl.waiting--
	if sl.waiting > 0 {
		return false
	}
	p.kickLocked()
	return true
}

// Flush lets the replies go that are ready.
func (p *Pipeline) Flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kickLocked()
}

func (p *Pipeline) kickLocked() {
	if p.writing || p.dead || p.head == nil || p.head.waiting > 0 {
		return
	}
	p.writing = true
	if p.socket == nil {
		go p.writeAlone()
		return
	}
	p.writers.put(p)
}

// Idle reports whether nothing waits.
func (p *Pipeline) Idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.head == nil && !p.writing
}

// Finish waits until everything is written or the pipeline was aborted.
func (p *Pipeline) Finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.dead && (p.head != nil || p.writing) {
		p.kickLocked()
		p.changed.Wait()
	}
}

// Abort drops everything that was not written and undoes what it granted;
// what is granted later is undone as it arrives (P5).
func (p *Pipeline) Abort() {
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
		p.writers.Promises.Undo(o)
	}
}

// Size is how many replies wait, and their bytes.
func (p *Pipeline) Size() (waiting, bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count, p.bytes + p.messages
}
