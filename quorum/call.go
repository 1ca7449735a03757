package quorum

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// call is one operation from Do to its outcome, with its attempts (V5) and the bound on
// its stay (V2).
type call struct {
	q      *Quorum
	db     *keyspace
	op     *Op
	client Client
	done   func(*Outcome)
	// arrived is when Do was called.
	arrived time.Duration
	// queue is the queue of its key while the call waits there or runs; it may serve another
	// key afterwards. It is unset for a call on several keys.
	queue *keyQueue
	// sharing are neighbours in the queue that are answered from this call's outcome.
	sharing []*call
	// probing reports whether the next attempt follows a split (V5).
	probing bool
	// decides reports whether an acquire that has met its own token goes on as a Decide.
	decides bool
	// foreseen reports whether what Op.Expect tells was tried.
	foreseen bool
	// tried is what a Decide or DecideAll may have done in a try that was not won.
	tried tried
	// lastToken is the token that refused the previous attempt on lastMasters (V4).
	lastToken   string
	lastMasters uint32

	// turns is the number of keys on which the call still waits for its turn.
	turns atomic.Int32

	mu sync.Mutex
	// answered reports whether done was called. acts reports whether a task is under way that
	// would do harm after that, so that a timeout alone must not answer the client (V6).
	answered, acts bool
	stay           *time.Timer
}

// await bounds the time that the call may wait for its turn.
func (c *call) await() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.answered && c.stay == nil {
		c.stay = time.AfterFunc(c.left(), func() {
			// A release is carried out all the same when its turn comes (V7).
			c.answer(&Outcome{Err: undecided(noQuorumTurn, c.q.cfg.Stay())}, c.q.now(), false)
		})
	}
}

// left returns how much longer the call may stay in redlockd (V2).
func (c *call) left() time.Duration {
	return max(0, c.arrived+c.q.cfg.Stay()-c.q.now())
}

// over reports whether nobody waits for the outcome any more.
func (c *call) over() bool { return c.wasAnswered() || c.client != nil && c.client.Gone() }

func (c *call) wasAnswered() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answered
}

// delayAnswer must be called before a task is sent that would do harm after the client was
// answered (V6): from then on no timeout alone answers it. It returns false if the client
// was answered already, so that the task must not be sent.
func (c *call) delayAnswer() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acts = !c.answered
	return c.acts
}

// start begins the call's run when its turn has come, unless it has become superfluous.
// now is the time.
func (c *call) start(now time.Duration) {
	if c.superfluous() {
		c.answer(&Outcome{Err: errGone}, now, true)
		c.passOn() // the first of those that would have shared its outcome goes out instead
		c.db.keys.leave(c)
		return
	}
	if slices.ContainsFunc(c.op.Unless, (*Watch).Changed) {
		c.nothingDone(&Outcome{Verdict: Changed})
		return
	}
	c.arm()
	for _, s := range c.sharing {
		s.arm()
	}
	switch {
	case c.op.Kind == Decide:
		c.foresee(now)
	case c.op.Kind == DecideAll:
		c.readAll()
	case c.probing && c.op.Kind != Read:
		c.probe()
	default:
		c.attempt(c.op, verdict, now)
	}
}

// superfluous reports whether the call need not be carried out any more: it was
// answered already, or its client has gone while it waited to acquire or read. A
// Release or Remove is carried out all the same (V7).
func (c *call) superfluous() bool {
	switch c.op.Kind {
	case Release, Remove:
		// It is carried out even after it waited too long, as long as a lock that was
		// held when it arrived may be left.
		return c.wasAnswered() && c.q.now()-c.arrived > c.q.cluster.LongestHold()
	case Acquire, AcquireOrExtend, Read:
		return c.over()
	default:
		return c.wasAnswered()
	}
}

// attempt makes one fan-out, once the marks bear the hold (M3).
func (c *call) attempt(op *Op, then func(*attempt, Verdict), now time.Duration) {
	a := newAttempt(c, op, then)
	if op.TTL > 0 && !c.db.Raise(a.mark) {
		go c.raise(a)
		return
	}
	c.begin(a, now)
}

// begin begins an attempt, if its hold may be granted (M3).
func (c *call) begin(a *attempt, now time.Duration) {
	if err := holdNotRecorded(c.db.Database, a.mark, a.op.TTL); err != nil {
		c.passOnThose(func(s *call) bool { return s.op.TTL < c.op.TTL }) // which may be granted
		if a.op.first != nil {
			a.op.first.rollback(mayHaveCreated)
		}
		c.finishAt(&Outcome{Err: err}, now)
		return
	}
	a.begin(now)
}

// raise waits until the marks bear the hold, for a timeout at most; if all masters must
// bear it first, which takes several looks at each, for retry_budget if that is longer.
// It happens once for each greater hold, so a goroutine of its own costs little.
func (c *call) raise(a *attempt) {
	patience := c.q.cfg.Timeout
	if a.mark > c.db.Floor() {
		patience = max(patience, c.q.cfg.RetryBudget)
	}
	c.db.RaiseWithin(a.mark, min(c.left(), patience))
	c.begin(a, c.q.now())
}

// finish ends the run: it delivers the outcome and starts the next call on the key.
func (c *call) finish(o *Outcome) { c.finishAt(o, c.q.now()) }

// finishAt is finish for an operation that ended at the time now.
func (c *call) finishAt(o *Outcome, now time.Duration) {
	if c.goesOn(o, now) {
		return
	}
	c.q.counts.ended(c.op.Kind, o.Verdict)
	c.op.sees(o)
	if c.op.Kind != Read && c.op.renews == nil && o.Verdict == Won {
		// An Undecided operation marks no watch: EXEC finds a change by comparing the
		// tokens.
		c.touch(o)
	}
	acquired := c.op.Kind == Acquire || c.op.Kind == Decide && o.Done == Acquire
	gone := acquired && c.over()
	if !c.answer(o, now, true) || gone {
		o.Undo() // before the next operation on the key
		gone = acquired
	}
	if gone {
		c.passOn()
	} else {
		c.answerSharing(o, now)
	}
	c.db.keys.leave(c)
}

// answer calls done at the time now, once; it returns false if that happened before. Unless the
// call is decided it does nothing while a task may act (V6).
func (c *call) answer(o *Outcome, now time.Duration, decided bool) bool {
	c.mu.Lock()
	if c.answered || c.acts && !decided {
		c.mu.Unlock()
		return false
	}
	c.answered = true
	if c.stay != nil {
		c.stay.Stop()
	}
	c.mu.Unlock()
	o.Took, o.Alone = now-c.arrived, c.q.underWay.count() == 1
	if o.Err == nil {
		c.q.counts.timings[c.op.Kind].Add(o.Took)
	}
	c.done(o)
	c.q.underWay.leave()
	return true
}
