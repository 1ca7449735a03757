package replies

import (
	"time"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/history"
	"github.com/redlockd/redlockd/quorum"
)

// Slot is the place of one command's reply. What is not guarded by the
// pipeline's mutex is set before the slot is added.
type Slot struct {
	next *Slot

	// waiting counts the parts that are not there yet; the reply may be
	// written when it is 0. Guarded by the pipeline's mutex, as outcomes is.
	waiting  int
	outcomes []*quorum.Outcome
	// Command, ops and who are for people who look (package history).
	Command string
	ops     []quorum.Op
	Who     *history.Holder
	Held    *history.Locks
	// Shape makes the reply of outcomes, late makes it when the slot's turn
	// to be written comes; reply is the reply where both are nil.
	Shape func([]*quorum.Outcome) resp.Reply
	Late  func() resp.Reply
	Reply resp.Reply
	// Encoded, if not nil, are the reply's bytes, which others share.
	Encoded []byte
	// Several says that the reply's items are replies of their own.
	Several bool
	// acquires says that an operation of the slot takes a lock, or may.
	acquires bool
	// After is called when the last outcome is there.
	After func([]*quorum.Outcome)

	Proto   int
	Silent  bool // CLIENT REPLY OFF or SKIP
	message bool // a pub/sub message, which no command has asked for
	Size    int

	// granted is what must be undone when the reply cannot be written.
	granted []*quorum.Outcome

	// Room for the outcome of the usual command, which has one.
	oneOutcome, oneGranted [1]*quorum.Outcome
}

// Expect makes room for the outcomes of the operations. It must be called before the
// slot is added.
func (sl *Slot) Expect(ops []quorum.Op) {
	sl.ops, sl.waiting = ops, len(ops)
	if sl.outcomes = sl.oneOutcome[:]; len(ops) > 1 {
		sl.outcomes = make([]*quorum.Outcome, len(ops))
	}
	for i := range ops {
		kind := ops[i].Kind
		sl.acquires = sl.acquires || kind == quorum.Acquire || kind == quorum.AcquireOrExtend || kind >= quorum.Decide
	}
}

// note takes in the outcome of one operation. It must be called before anybody can
// hear of it, since that is the order of the key, and what is undone must be there.
func (sl *Slot) note(i int, o *quorum.Outcome) {
	sl.Held.Note(&sl.ops[i], o, sl.Who)
	if o.Verdict == quorum.Won {
		o.OnUndo(sl)
	}
}

// ErrClientGone is the reply to an acquire whose client has sent EOF meanwhile.
var ErrClientGone = resp.Error("ERR the client closed its side of the connection before the lock was granted, " +
	"so the lock was not kept")

// confirm makes the reply right before it is written: the clock is looked at
// (V2), and what a gone client can no longer be told is undone (P5). left is
// how long the write may take at most; 0 is without such a limit.
//
// A client that has sent EOF is gone: whether it has only half-closed cannot
// be told before a write fails, and by then it is too late to undo with
// certainty. So after EOF all answers are still written, but no grant is. A
// client that dies after its OK was written keeps the lock until its TTL, as
// on one Redis.
func (sl *Slot) confirm(g Promises, w *batch, gone bool) (reply resp.Reply, left time.Duration) {
	switch {
	case sl.Late != nil:
		return sl.Late(), 0
	case sl.Shape == nil:
		return sl.Reply, 0
	}
	left, refusal := sl.confirmOutcomes(g, w)
	if refusal == nil && gone && len(sl.granted) > 0 {
		refusal = &ErrClientGone
	}
	if refusal == nil {
		reply = sl.Shape(sl.outcomes)
		if reply.Kind != resp.KindError || sl.decided(reply) {
			return reply, left
		}
		refusal = &reply
	}
	// A client that hears that nobody can tell does not know of what was
	// granted beside it.
	sl.undo(g)
	if gone && sl.acquires {
		// The quorum begins no acquire for a client that has gone, and can
		// only say that it waited.
		return ErrClientGone, 0
	}
	return *refusal, 0
}

// confirmOutcomes confirms each of the slot's outcomes, and collects those that grant
// something. It returns how long the write of these may take, or the error in their place.
func (sl *Slot) confirmOutcomes(g Promises, w *batch) (left time.Duration, refusal *resp.Reply) {
	sl.granted = nil
	for _, o := range sl.outcomes {
		if err := g.Confirm(o, w.clock(g, o)); err != nil {
			refusal = new(commands.Failed(err))
			continue
		}
		limit, grants := g.WriteBefore(o)
		if !grants {
			continue
		}
		if sl.granted == nil {
			sl.granted = sl.oneGranted[:0]
		}
		sl.granted = append(sl.granted, o)
		if left == 0 || limit < left {
			left = max(limit, 1)
		}
	}
	return left, refusal
}

// Withdrawn forgets what the slot's command took (quorum.Withdrawal): an
// undone part means that all of it is.
func (sl *Slot) Withdrawn() {
	for i := range sl.ops {
		if kind := sl.ops[i].Kind; kind == quorum.Acquire || kind == quorum.AcquireOrExtend {
			sl.Held.Withdraw(&sl.ops[i], sl.Who)
		}
	}
}

// decided reports whether an error is the answer to what was carried out: that of a
// script which takes a lock and answers an error of its own.
func (sl *Slot) decided(reply resp.Reply) bool {
	for _, o := range sl.outcomes {
		if o.Err != nil {
			return false
		}
	}
	return !reply.Undecided
}

func (sl *Slot) undo(g Promises) {
	for _, o := range sl.granted {
		g.Undo(o)
	}
	sl.granted = nil
}

// delivered ends what is kept to be undone: the reply was written.
func (sl *Slot) delivered(g Promises, w *batch) {
	for _, o := range sl.granted {
		w.delivered(g, o)
	}
	sl.granted = nil
}
