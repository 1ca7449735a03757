package proxy

import (
	"runtime"
	"sync"
)

// writers are the goroutines that write the replies of all sessions over
// plain sockets: as many as there are processors, because they never wait for
// a client. A goroutine for every reply would cost its start and the growth
// of its stack each time. They are started when there is something to write,
// and end with the server. Safe for concurrent use.
type writers struct {
	mu         sync.Mutex
	changed    sync.Cond
	head, tail *pipeline
	running    int
	idle       int
	over       bool
}

func (ws *writers) init() { ws.changed.L = &ws.mu }

// put queues a pipeline whose first slot is ready, behind all others, so that
// a busy session has its turn no more often than the others.
func (ws *writers) put(p *pipeline) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.tail == nil {
		ws.head = p
	} else {
		ws.tail.behind = p
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

// next waits for a pipeline that has its turn; nil after close.
func (ws *writers) next() *pipeline {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for ws.head == nil && !ws.over {
		ws.idle++
		ws.changed.Wait()
		ws.idle--
	}
	p := ws.head
	if p == nil {
		ws.running--
		return nil
	}
	ws.head, p.behind = p.behind, nil
	if ws.head == nil {
		ws.tail = nil
	}
	return p
}

func (ws *writers) work() {
	w := takeBatch()
	for p := ws.next(); p != nil; p = ws.next() {
		if !p.turn(w) {
			w = takeBatch()
		}
	}
	w.release()
}

// close ends the goroutines when everything is written.
func (ws *writers) close() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.over = true
	ws.changed.Broadcast()
}
