package replies

import (
	"runtime"
	"sync"
	"time"

	"github.com/redlockd/redlockd/proxy/history"
)

// Writers are the goroutines that write the replies of all sessions over plain sockets:
// as many as there are processors, because they never wait for a client. A goroutine for
// each reply would cost its start and the growth of its stack each time. They start when
// there is something to write, and end with the server. Safe for concurrent use.
type Writers struct {
	Promises Promises
	limits   func() Limits
	slow     *history.SlowLog
	counters *history.Counters

	mu         sync.Mutex
	changed    sync.Cond
	head, tail *Pipeline
	running    int
	idle       int
	closed     bool
}

// Limits are limits of the configuration in force.
type Limits struct {
	Waiting      int           // commands of one session that wait for their reply
	WriteTimeout time.Duration // for a client that does not read
	SlowerThan   time.Duration // the least duration that SLOWLOG keeps
}

// NewWriters returns the writers of a server. limits must be safe for concurrent use.
func NewWriters(g Promises, limits func() Limits, slow *history.SlowLog, counters *history.Counters) *Writers {
	ws := &Writers{Promises: g, limits: limits, slow: slow, counters: counters}
	ws.changed.L = &ws.mu
	return ws
}

// put queues a pipeline whose first slot is ready, behind all others, so that a busy
// session has its turn no more often than the others.
func (ws *Writers) put(p *Pipeline) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.tail == nil {
		ws.head = p
	} else {
		ws.tail.nextInTurn = p
	}
	ws.tail = p
	switch {
	case ws.idle > 0:
		ws.changed.Signal()
	case ws.running < runtime.GOMAXPROCS(0):
		ws.running++
		go ws.work()
	}
}

// next returns the next pipeline that has its turn, and waits for one; nil after Close.
func (ws *Writers) next() *Pipeline {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for ws.head == nil && !ws.closed {
		ws.idle++
		ws.changed.Wait()
		ws.idle--
	}
	p := ws.head
	if p == nil {
		ws.running--
		return nil
	}
	ws.head, p.nextInTurn = p.nextInTurn, nil
	if ws.head == nil {
		ws.tail = nil
	}
	return p
}

func (ws *Writers) work() {
	w := takeBatch()
	for p := ws.next(); p != nil; p = ws.next() {
		if !p.turn(w) {
			w = takeBatch()
		}
	}
	w.release()
}

// Close ends the goroutines when everything is written.
func (ws *Writers) Close() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.closed = true
	ws.changed.Broadcast()
}
