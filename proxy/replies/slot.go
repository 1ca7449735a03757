package replies

import (
	"time"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/history"
	"github.com/redlockd/redlockd/quorum"
)

// Slot is the place of one command's reply. Fields that are not guarded by the pipeline's
// mutex are set before the slot is added.
type Slot struct {
	next *Slot

	// waiting counts the parts that are missing: outcomes, the call of After, and renewals.
	// The reply may be written when it is 0.
	// waiting and outcomes are guarded by the pipeline's mutex.
	waiting  int
	outcomes []*quorum.Outcome
	// Command, ops, Holder and Held are for package history.
	Command string
	ops     []quorum.Op
	Holder  *history.Holder
	Held    *history.Locks
	// Shape makes the reply from the outcomes; Reply is the reply if it is nil.
	Shape func([]*quorum.Outcome) resp.Reply
	Reply resp.Reply
	// Encoded, if not nil, is the encoded reply, which other slots share.
	Encoded []byte
	// SeparateReplies makes the reply's items replies of their own.
	SeparateReplies bool
	// acquires reports whether an operation of the slot takes a lock, or may.
	acquires bool
	// After, if not nil, is called once, when the outcomes of this slot and of all slots
	// before it have arrived, before its reply is made and before the After of any slot
	// behind it (settle.go).
	After func([]*quorum.Outcome)
	// dropped is set for a slot that was added when the pipeline was aborted already.
	dropped bool

	Proto   int
	Silent  bool // CLIENT REPLY OFF or SKIP
	message bool // a pub/sub message, not the reply to a command
	Size    int

	// granted holds the outcomes that must be undone if the reply cannot be written.
	granted []*quorum.Outcome

	// These are the arrays of outcomes and granted for the usual command, which has one.
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

// note records the outcome of one operation in history. It must be called before the
// outcome is visible to others: history needs the order of the key, and an undo must find
// the lock there.
func (sl *Slot) note(i int, o *quorum.Outcome) {
	sl.Held.Note(sl.Command, &sl.ops[i], o, sl.Holder)
	if o.Verdict == quorum.Won {
		o.OnUndo(sl)
	}
}

// ErrClientGone is the reply to an acquire whose client has sent EOF meanwhile.
var ErrClientGone = resp.Error("ERR the client closed its side of the connection before the lock was granted, " +
	"so the lock was not kept")

// confirm makes the reply right before it is written. It looks at the clock (V2), and
// undoes what cannot be answered any more because the client has gone (P5). left is how
// long the write may take at most; 0 is no limit.
//
// A client that has sent EOF counts as gone: whether it has only half-closed its
// connection shows only when a write fails, and then it is too late to undo with
// certainty. So after EOF all replies are still written, except grants. A client that
// dies after its OK was written keeps the lock until the TTL ends, as on one Redis.
func (sl *Slot) confirm(g Promises, w *batch, gone bool) (reply resp.Reply, left time.Duration) {
	if sl.Shape == nil {
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
	// A client that is answered an error does not know of what was granted beside it.
	sl.undo(g)
	if gone && sl.acquires {
		// The quorum begins no acquire for a client that has gone, and its error could
		// only say that the acquire waited.
		return ErrClientGone, 0
	}
	return *refusal, 0
}

// confirmOutcomes confirms each of the slot's outcomes, and collects those that grant
// something. It returns how long the write of these may take, or the error in their place.
func (sl *Slot) confirmOutcomes(g Promises, w *batch) (left time.Duration, refusal *resp.Reply) {
	sl.granted = nil
	for _, o := range sl.outcomes {
		limit, err := g.Confirm(o, w.clock(g, o))
		if err != nil {
			refusal = new(commands.Failed(err))
			continue
		}
		if limit == 0 {
			continue // it grants nothing
		}
		if sl.granted == nil {
			sl.granted = sl.oneGranted[:0]
		}
		sl.granted = append(sl.granted, o)
		if left == 0 || limit < left {
			left = limit
		}
	}
	return left, refusal
}

// Withdrawn removes the locks that the slot's command took from history
// (quorum.Withdrawal): if one part is undone, all are.
func (sl *Slot) Withdrawn() {
	for i := range sl.ops {
		if kind := sl.ops[i].Kind; kind == quorum.Acquire || kind == quorum.AcquireOrExtend {
			sl.Held.Withdraw(&sl.ops[i], sl.Holder)
		}
	}
}

// decided reports whether an error is the result of operations that were carried out, as
// the error of a script that takes a lock and then answers an error of its own.
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
