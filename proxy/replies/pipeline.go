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
	// MaxQueuedBytes bounds the bytes of one session's commands and replies that wait,
	// whatever their number. One command may exceed it.
	MaxQueuedBytes = 1 << 20
	// MaxMessageBytes bounds the pub/sub messages that wait for a subscriber
	// that does not read; beyond it the session is closed.
	MaxMessageBytes = 4 << 20
)

// Pipeline is the queue of a session's replies, in the order of its commands (S1). The
// reading goroutine adds slots, any goroutine fills them. While the first slot is ready
// the writers (writers.go) give the pipeline turns to write, so an idle session has no
// goroutine for that. Safe for concurrent use.
type Pipeline struct {
	writers *Writers
	owner   Owner
	account *memory.Account
	conn    net.Conn
	// socket is conn if that is a plain socket, else nil.
	socket syscall.RawConn

	gone    atomic.Bool   // the client has sent EOF, or the connection is closed
	written atomic.Uint64 // bytes

	mu      sync.Mutex
	changed sync.Cond
	head    *Slot
	tail    *Slot
	// unsettled is the first slot whose outcomes have not all arrived, or whose After was not
	// called yet; settling tells that this is being done (settle.go).
	unsettled *Slot
	settling  bool
	count     int  // commands that wait for their reply, those being written included
	bytes     int  // of these commands and their replies
	messages  int  // bytes of pub/sub messages that wait
	charged   int  // the part of account that stands for bytes and messages
	writing   bool // the pipeline waits for its turn to write, or has it
	aborted   bool

	nextInTurn *Pipeline // the next in the queue for a turn, guarded by writers.mu
}

// Owner is the session of a pipeline.
type Owner interface {
	// Kill closes the connection at once, and aborts the pipeline.
	Kill()
	Log() hclog.Logger
}

// NewPipeline returns the pipeline of a connection.
func NewPipeline(ws *Writers, conn net.Conn, account *memory.Account, of Owner) *Pipeline {
	p := &Pipeline{writers: ws, owner: of, account: account, conn: conn, socket: socketOf(conn)}
	p.changed.L = &p.mu
	return p
}

// Gone reports whether outcomes can no longer reach the client (quorum.Client).
func (p *Pipeline) Gone() bool { return p.gone.Load() }

// SetGone records that the client has gone: no further grant is answered to it (P5).
func (p *Pipeline) SetGone() { p.gone.Store(true) }

// Socket returns the connection's plain socket, or nil if it has none.
func (p *Pipeline) Socket() syscall.RawConn { return p.socket }

// Sent returns how many bytes were written.
func (p *Pipeline) Sent() uint64 { return p.written.Load() }

// Add queues a slot behind all others. If the session has too much waiting it first waits
// for room, and meanwhile the session is not read from. Slots that are ready are written
// after the next flush.
func (p *Pipeline) Add(sl *Slot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.aborted && p.count > 0 && (p.count >= p.writers.limits().Waiting || p.bytes+sl.Size > MaxQueuedBytes) {
		p.kickLocked()
		p.changed.Wait()
	}
	if sl.After != nil {
		sl.waiting++
	}
	if sl.dropped = p.aborted; sl.dropped {
		return
	}
	p.count++
	p.bytes += sl.Size
	p.pushLocked(sl)
	p.chargeLocked()
	p.settleLocked()
}

// Message queues a pub/sub message of about size bytes. It returns false when the
// subscriber has too many waiting. It never blocks.
func (p *Pipeline) Message(r resp.Reply, proto, size int) bool {
	sl := &Slot{Reply: r, Proto: proto, message: true, Size: size}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.aborted {
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

// chargeLocked charges the account for what waits.
func (p *Pipeline) chargeLocked() { p.account.Charge(&p.charged, p.bytes+p.messages) }

func (p *Pipeline) pushLocked(sl *Slot) {
	if p.tail == nil {
		p.head = sl
	} else {
		p.tail.next = sl
	}
	p.tail = sl
	if p.unsettled == nil && sl.waiting > 0 {
		p.unsettled = sl
	}
}

// Outcome fills part i of a slot.
func (p *Pipeline) Outcome(sl *Slot, i int, o *quorum.Outcome) {
	sl.note(i, o)
	p.mu.Lock()
	sl.outcomes[i] = o
	// The token that a master holds may be longer than the one in the command.
	sl.Size += len(o.State.Token)
	p.bytes += len(o.State.Token)
	p.chargeLocked()
	sl.waiting--
	aborted, last, mine := p.aborted, sl.arrived(), false
	if last && !sl.dropped {
		p.settleLocked()
		if mine = o.Alone && p.socket != nil && p.readyLocked(); mine {
			p.writing = true
		} else {
			p.kickLocked()
		}
	}
	p.mu.Unlock()
	if aborted {
		p.writers.Promises.Undo(o)
	}
	if !last {
		return
	}
	p.writers.slow.Record(sl.Command, sl.ops, sl.outcomes, sl.Holder, p.writers.limits().SlowerThan)
	if sl.dropped && sl.After != nil {
		sl.After(sl.outcomes)
	}
	if mine {
		p.turnNow()
	}
}

// Flush starts the writing of the replies that are ready.
func (p *Pipeline) Flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kickLocked()
}

// readyLocked reports whether there is something to write, and nobody writes.
func (p *Pipeline) readyLocked() bool {
	return !p.writing && !p.aborted && p.head != nil && p.head.waiting == 0
}

func (p *Pipeline) kickLocked() {
	if !p.readyLocked() {
		return
	}
	p.writing = true
	if p.socket == nil {
		go p.writeAlone()
		return
	}
	p.writers.put(p)
}

// Idle reports whether no reply waits or is being written.
func (p *Pipeline) Idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.head == nil && !p.writing
}

// Finish waits until everything is written or the pipeline was aborted.
func (p *Pipeline) Finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.aborted && (p.head != nil || p.writing) {
		p.kickLocked()
		p.changed.Wait()
	}
}

// Abort drops everything that was not written and undoes what these slots were granted;
// later grants are undone as they arrive (P5).
func (p *Pipeline) Abort() {
	p.mu.Lock()
	if p.aborted {
		p.mu.Unlock()
		return
	}
	p.aborted = true
	list := p.head
	p.head, p.tail = nil, nil // what is unsettled still is
	// The outcomes are collected under the lock, because Outcome fills slots that wait
	// concurrently.
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

// Size returns how many commands wait for their reply, and how many bytes wait in all.
func (p *Pipeline) Size() (waiting, bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count, p.bytes + p.messages
}
