package quorum

import (
	"time"

	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/vote"
)

// Kind is what an operation does to a lock. What each is stands in package vote.
type Kind = vote.Kind

// The kinds of operations.
const (
	Read            = vote.Read
	Acquire         = vote.Acquire
	AcquireOrExtend = vote.AcquireOrExtend
	Release         = vote.Release
	Extend          = vote.Extend
	Remove          = vote.Remove
	Expire          = vote.Expire
	Store           = vote.Store
	Decide          = vote.Decide
	DecideAll       = vote.DecideAll
	transact        = vote.Transact
	listKeys        = vote.ListKeys
	dbSize          = vote.DBSize
)

// Change is what becomes of one key.
type Change struct {
	// Key is one of Op.Keys; each may be changed once.
	Key string
	// Delete is whether the key is deleted. Otherwise it holds Token for TTL, as in
	// Op.
	Delete bool
	Token  string
	TTL    time.Duration
}

// Op is one operation on one lock, or for DecideAll on several.
type Op struct {
	// Kind says which of the fields below count.
	Kind Kind
	// DB is the number of the database, 0 to Databases-1.
	DB int
	// Key is any bytes.
	Key string
	// Token is what is stored or compared; any bytes, also none.
	Token string
	// NewToken is what Extend stores if Replace is set: the lock changes its token.
	NewToken string
	Replace  bool
	// IfPresent makes Store leave an absent key alone (SET ... XX).
	IfPresent bool
	// TTL is what the client asked for: whole milliseconds, 1ms to MaxTTL.
	// Acquire, AcquireOrExtend, Extend, Expire and Store need it.
	TTL time.Duration

	// Decide is called, for Kind Decide only, with what a quorum agrees on.
	// The operation it returns must be on the same key, and is carried out
	// only where the state still is the one it was given; Kind Read ends the
	// operation with what was read. It must not block or keep the State. It
	// is called again if that has changed meanwhile.
	Decide func(State) Op

	// Keys and DecideAll are for Kind DecideAll: what Key and Decide are for
	// Decide. DecideAll gets the states in the order of Keys, which must
	// differ, and returns what to change; nothing ends the operation with
	// what was read.
	Keys      []string
	DecideAll func([]State) []Change

	// steps are what transact does.
	steps []outbox.Step
	// keeps is whether the TTL is what is left of the lock: then no copy gets an
	// earlier expiry, since what is read is somewhat less than what is left (V13).
	keeps bool
	// renews is whose lock an Extend renews (renew.go).
	renews *attempt

	// Arm, for Kind Read, is set up when the read goes out: from then on any
	// change of the key through this redlockd marks it (S4, WATCH).
	Arm *Watch
	// Unless makes the operation answer Changed, and do nothing, when one of
	// these watches was marked (S4, EXEC).
	Unless []*Watch
}

// question is what the verdict depends on.
func (op *Op) question() vote.Question {
	return vote.Question{Kind: op.Kind, Token: op.Token, IfPresent: op.IfPresent, Frees: op.TTL == 0}
}

// keeps reports whether a TTL is what is left by a state.
func (s *State) keeps(ttl time.Duration) bool {
	return s.Found && ttl == s.TTL.Truncate(time.Millisecond)
}

// newToken is what a lock holds that the operation was carried out on.
func (op *Op) newToken() string {
	if op.Replace {
		return op.NewToken
	}
	return op.Token
}

// ends reports whether the operation's answer depends on whether a lock is over.
func (op *Op) ends() bool {
	switch op.Kind {
	case Read, AcquireOrExtend, Release, Extend, Remove, Expire:
		return true
	case Store:
		return op.IfPresent
	default:
		return false
	}
}

// State is what a quorum of masters agrees on about one key.
type State struct {
	// Found is whether there is a lock that a client may still rely on.
	Found bool
	// Token is the lock's, if it is Found or Lapsed.
	Token string
	// TTL is what is left of the TTL, at least a millisecond when Found. It
	// is never more than was asked for (V3).
	TTL time.Duration
	// Lapsed is whether the key, though not Found, still refuses to be taken
	// until the hold of Token is over (V3).
	Lapsed bool
}

// Verdict is how an operation ended. What each means stands in package vote.
type Verdict = vote.Verdict

// The verdicts. Absent is that there is no such lock.
const (
	Undecided = vote.Undecided
	Won       = vote.Won
	Held      = vote.Held
	Absent    = vote.NoLock
	Split     = vote.Split
	Changed   = vote.Changed
)

// Outcome is the end of an operation. Its methods are for one goroutine at a
// time; calling one again does no harm.
type Outcome struct {
	// Verdict is how it ended.
	Verdict Verdict
	// State is what Read (or Decide) found; for other operations that ended
	// Held, State.Token is the token in the way where it is known.
	State State
	// Prolonged tells, for a won AcquireOrExtend, that the client had it.
	Prolonged bool
	// Done is the operation that Decide chose.
	Done Kind
	// Did is the operation itself, where one was tried: for Decide the one
	// that it chose. Changes are what a won DecideAll has changed. Neither may
	// be changed, and both hold tokens.
	Did     *Op
	Changes []Change
	// Err is set for Undecided and Split, and its text is for the client: an
	// *UndecidedError, or Redis's own. It is nil otherwise.
	Err error
	// Took is the time from Do to this outcome.
	Took time.Duration

	grant *grant
	// withdrawn is told when the grant is taken back.
	withdrawn Withdrawal
}

// Withdrawal is who wants to know that a grant was taken back. It may be told
// more than once, and from several goroutines.
type Withdrawal interface{ Withdrawn() }

// OnUndo makes w hear of it when what was won is taken back: the reply could
// not be written, or not in time. It is for outcomes that grant something.
func (o *Outcome) OnUndo(w Withdrawal) { o.withdrawn = w }

// Clock returns the time by the clock that grants are counted by, for Late and
// Confirm; 0 where nothing is granted.
func (o *Outcome) Clock() time.Duration {
	if o.grant == nil {
		return 0
	}
	return o.grant.attempt.call.q.now()
}

// Confirm must be called right before the reply is written, with a time of Clock
// from then or somewhat before (V2). A nil error says that the outcome may be told
// for as long as WriteBefore says. Otherwise it came too late, was rolled back, and
// the error's text is the reply instead. Outcomes that promise nothing are always
// confirmed. What is Late may be renewed before (Renew).
func (o *Outcome) Confirm(at time.Duration) error {
	if o.grant == nil {
		return nil
	}
	err := o.grant.confirm(at)
	if err != nil {
		o.withdraw()
	}
	return err
}

func (o *Outcome) withdraw() {
	if o.withdrawn != nil {
		o.withdrawn.Withdrawn()
	}
}

// WriteBefore returns how long after the time that Confirm was given the writing of
// the reply may have ended at the latest, and whether there is such a limit.
func (o *Outcome) WriteBefore() (time.Duration, bool) {
	if o.grant == nil {
		return 0, false
	}
	return o.grant.left(), true
}

// Undo rolls back what was won, since the client cannot be told any more
// (P5). It returns at once and does nothing for outcomes that granted
// nothing.
func (o *Outcome) Undo() {
	if o.grant != nil {
		o.grant.undo()
	}
	o.withdraw()
}

// Told ends what an outcome keeps to be undone: the reply has been written, at a time
// of Clock. Whoever calls neither Told nor Undo leaves memory behind.
func (o *Outcome) Told(at time.Duration) {
	if o.grant != nil {
		o.grant.told(at)
	}
}

// Client is who asked for an operation.
type Client interface {
	// Gone is whether nobody waits for the outcome any more. It must be safe
	// for concurrent use and must not block.
	Gone() bool
}
