package replies

import (
	"os"
	"sync"
	"time"

	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// batch is what is written at once: the slots, their encoded replies, and where the reply
// of each ends in bytes.
type batch struct {
	slots []*Slot
	bytes []byte
	ends  []int
	calls socketCalls

	// began is when the taking of slots began. confirmedAt is a time shortly after that,
	// by the clock by which grants are counted, or 0 until it is needed: all grants of a
	// batch are confirmed as of that one time, and must be written soon enough after it
	// (V2).
	began       time.Time
	confirmedAt time.Duration
}

// clock returns confirmedAt, and sets it first if need be, for an outcome that may grant.
func (w *batch) clock(g Promises, o *quorum.Outcome) time.Duration {
	if w.confirmedAt == 0 {
		w.confirmedAt = g.Clock(o)
	}
	return w.confirmedAt
}

// batches are shared by all sessions, so that an idle one keeps none.
var batches = sync.Pool{New: func() any {
	w := &batch{bytes: make([]byte, 0, 512)}
	w.init()
	return w
}}

func takeBatch() *batch { return batches.Get().(*batch) }

func (w *batch) clear() {
	clear(w.slots)
	w.slots, w.bytes, w.ends = w.slots[:0], w.bytes[:0], w.ends[:0]
	w.confirmedAt = 0
}

func (w *batch) release() {
	w.clear()
	if cap(w.bytes) <= 64<<10 {
		batches.Put(w)
	}
}

// acquires reports whether a reply in the batch may grant a lock.
func (w *batch) acquires() bool {
	for _, sl := range w.slots {
		if sl.acquires {
			return true
		}
	}
	return false
}

// undo undoes the grants whose replies do not end within the first n bytes written; the
// others were delivered. A grant whose reply is not to be sent (CLIENT REPLY OFF) stands,
// as on one Redis.
func (w *batch) undo(g Promises, n int) {
	for i, sl := range w.slots {
		if i < len(w.ends) {
			if w.ends[i] > n && !sl.Silent {
				sl.undo(g)
			}
			continue
		}
		for _, o := range sl.outcomes {
			if o != nil {
				g.Undo(o)
			}
		}
	}
}

// encode confirms and encodes the batch's replies. deadline is when they must have been
// written; grants reports whether that is because of a grant (V2).
func (p *Pipeline) encode(w *batch) (deadline time.Time, grants bool) {
	limit := p.writers.limits().WriteTimeout
	gone := p.gone.Load() || (w.acquires() && p.hungUp(w))
	for _, sl := range w.slots {
		reply, left := sl.confirm(p.writers.Promises, w, gone)
		if sl.Shape != nil && reply.Kind == resp.KindError {
			// All other errors were counted when they were made.
			p.writers.counters.CountError(reply.Text)
		}
		if left > 0 && left < limit && !sl.Silent {
			limit, grants = left, true
		}
		if !sl.Silent {
			w.bytes = sl.append(w.bytes, reply)
		}
		w.ends = append(w.ends, len(w.bytes))
	}
	if deadline = w.began.Add(limit); grants && time.Now().After(deadline) {
		return p.encodeLate(w)
	}
	return deadline, grants
}

// encodeLate confirms the grants of an encoded batch once more, of which nothing was
// written and which may not be written any more, since this process was stopped in
// between: one that is too late becomes an error, and the connection stays. The other
// replies remain as they are, since making one may publish a message.
func (p *Pipeline) encodeLate(w *batch) (deadline time.Time, grants bool) {
	limit, made, from := p.writers.limits().WriteTimeout, w.bytes, 0
	w.began, w.confirmedAt, w.bytes = time.Now(), 0, make([]byte, 0, len(w.bytes))
	for i, sl := range w.slots {
		reply := made[from:w.ends[i]]
		from = w.ends[i]
		if len(sl.granted) == 0 || sl.Silent {
			w.bytes = append(w.bytes, reply...)
		} else if left, refusal := sl.confirmOutcomes(p.writers.Promises, w); refusal == nil {
			w.bytes = append(w.bytes, reply...)
			limit, grants = min(limit, left), true
		} else {
			sl.undo(p.writers.Promises)
			p.writers.counters.CountError(refusal.Text)
			w.bytes = sl.append(w.bytes, *refusal)
		}
		w.ends[i] = len(w.bytes)
	}
	return w.began.Add(limit), grants
}

// try writes as much of the batch as the socket takes without blocking, and returns the
// number of bytes.
func (p *Pipeline) try(w *batch) (n int, deadline time.Time, err error) {
	deadline, grants := p.encode(w)
	switch {
	case len(w.bytes) == 0:
		return 0, deadline, nil
	case grants && time.Now().After(deadline):
		return 0, deadline, os.ErrDeadlineExceeded
	}
	n, err = p.writeNow(w)
	p.writers.counters.Written.Add(uint64(n))
	p.written.Add(uint64(n))
	return n, deadline, err
}

// writeRest writes what is left of the batch behind its first n bytes, and waits for the
// client to take it. It returns how many bytes of the batch are written in all.
func (p *Pipeline) writeRest(w *batch, n int, deadline time.Time) (int, error) {
	if n == len(w.bytes) {
		return n, nil
	}
	_ = p.conn.SetWriteDeadline(deadline) // an error shows at Write
	more, err := p.conn.Write(w.bytes[n:])
	_ = p.conn.SetWriteDeadline(time.Time{})
	p.writers.counters.Written.Add(uint64(more))
	p.written.Add(uint64(more))
	return n + more, err
}

func (sl *Slot) append(b []byte, reply resp.Reply) []byte {
	if sl.Encoded != nil {
		return append(b, sl.Encoded...)
	}
	if !sl.SeparateReplies {
		return resp.Append(b, reply, sl.Proto)
	}
	for _, item := range reply.Items {
		b = resp.Append(b, item, sl.Proto)
	}
	return b
}
