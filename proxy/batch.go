package proxy

import (
	"sync"
	"time"

	"github.com/redlockd/redlockd/commands"
)

// batch is what goes out in one write: the slots, and where the reply of each
// ends in bytes.
type batch struct {
	slots []*slot
	bytes []byte
	ends  []int
}

// Batches are shared by all sessions, so that an idle one keeps none.
var batches = sync.Pool{New: func() any { return &batch{bytes: make([]byte, 0, 512)} }}

func takeBatch() *batch { return batches.Get().(*batch) }

func (w *batch) clear() {
	clear(w.slots)
	w.slots, w.bytes, w.ends = w.slots[:0], w.bytes[:0], w.ends[:0]
}

func (w *batch) release() {
	w.clear()
	if cap(w.bytes) <= 64<<10 {
		batches.Put(w)
	}
}

// acquires is whether a reply in the batch may grant a lock.
func (w *batch) acquires() bool {
	for _, sl := range w.slots {
		if sl.acquires {
			return true
		}
	}
	return false
}

// undo undoes what was granted by replies that are not among the first n
// bytes. A grant that nobody was to be told of (CLIENT REPLY OFF) stands, as
// on one Redis.
func (w *batch) undo(g grants, n int) {
	for i, sl := range w.slots {
		if i < len(w.ends) {
			if w.ends[i] > n && !sl.silent {
				sl.undo(g)
			}
			continue
		}
		for _, o := range sl.outcomes {
			if o != nil {
				g.undo(o)
			}
		}
	}
}

// writeBatch writes the batch's replies with one write, and reports whether
// that went well. What was granted by a reply that was not written to its end
// is undone; a reply that has left in full is not, since the client may have
// read it.
func (s *session) writeBatch(w *batch) bool {
	limit := s.srv.cfg().WriteTimeout
	gone := s.gone.Load() || (w.acquires() && s.hungUp())
	for _, sl := range w.slots {
		reply, left := sl.settle(s.srv.grants, gone)
		if left > 0 && left < limit && !sl.silent {
			limit = left
		}
		if !sl.silent {
			w.bytes = sl.append(w.bytes, reply)
		}
		w.ends = append(w.ends, len(w.bytes))
	}
	if len(w.bytes) == 0 {
		return true
	}
	_ = s.conn.SetWriteDeadline(time.Now().Add(limit)) // a closed connection tells it at Write
	n, err := s.conn.Write(w.bytes)
	s.srv.stats.written.Add(uint64(n))
	s.written.Add(uint64(n))
	if err == nil {
		return true
	}
	s.log.Debug("reply not written", "error", err)
	w.undo(s.srv.grants, n)
	return false
}

func (sl *slot) append(b []byte, reply commands.Reply) []byte {
	if !sl.several {
		return appendReply(b, reply, sl.proto)
	}
	for _, item := range reply.Items {
		b = appendReply(b, item, sl.proto)
	}
	return b
}
