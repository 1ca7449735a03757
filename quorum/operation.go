package quorum

import (
	"time"

	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/vote"
)

// Kind is what an operation does to a lock. Package vote documents each.
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
)

// Change is what a DecideAll does to one key.
type Change struct {
	// Key is one of Op.Keys; each may be changed once.
	Key string
	// Delete reports whether the key is deleted. Otherwise it gets Token for TTL, as in
	// Op.
	Delete bool
	Token  string
	TTL    time.Duration
	// Keeps is as in Op.
	Keeps bool
}

// Op is one operation on one lock, or for DecideAll on several.
type Op struct {
	// Kind determines which of the fields below count.
	Kind Kind
	// Replace makes Extend store NewToken.
	Replace bool
	// IfPresent makes Store leave an absent key alone (SET ... XX).
	IfPresent bool
	// Keeps reports, for an Extend that Decide returns, whether the lock keeps the TTL
	// that is left (V13); TTL is the one that was read.
	Keeps bool
	// raises reports whether TTL is more than what was left when the lock was read (Decide).
	raises bool
	// DB is the number of the database, 0 to Databases-1.
	DB int
	// Key is any bytes.
	Key string
	// Token is the token to store or compare; any bytes, also none.
	Token string
	// NewToken is the token that Extend stores if Replace is set.
	NewToken string
	// TTL is what the client asked for: whole milliseconds, 1ms to MaxTTL. Acquire,
	// AcquireOrExtend, Extend, Expire and Store need it.
	TTL time.Duration

	// Decide is called for Kind Decide, and for an Acquire that its own token refuses, with
	// what a quorum agrees on. It must return an operation on the same key, which is carried
	// out only if the state still is the one passed; Kind Read ends the operation with what
	// was read. It must not block or keep the State. It may be called again.
	Decide func(State) Op
	// Expect, for Kind Decide, returns the state in which the lock probably is, without locks and
	// TTL; false if it is not known. What Decide derives from it goes out at once, unless it changes
	// the token, and is carried out only where the masters find that state; if not, the lock is
	// read as usual.
	Expect func() (State, bool)

	// Keys and DecideAll are for Kind DecideAll what Key and Decide are for Decide.
	// Keys must differ. DecideAll gets the states in their order and returns what to
	// change; nothing ends the operation with what was read.
	Keys      []string
	DecideAll func([]State) []Change

	// effects are what is done to the keys, for what was decided on by what was read; else they
	// follow from the fields above (effects.go).
	effects []outbox.Effect
	// renews is the attempt whose lock an Extend renews (renew.go), first the first of two (transact.go).
	renews, first *attempt

	// Arm, for Kind Read, is armed when the read goes out: from then on any change of
	// the key through this redlockd marks it (S4, WATCH). It remembers the locks that the
	// read finds, and a later read with it marks it too if it finds another lock.
	Arm *Watch
	// Unless makes the operation answer Changed, and do nothing, if one of these
	// watches was marked (S4, EXEC). Of their keys it meets only the locks that they
	// remember.
	Unless []*Watch
}

// question returns what the verdict depends on.
func (op *Op) question() vote.Question {
	return vote.Question{Kind: op.Kind, Token: op.Token, IfPresent: op.IfPresent, Frees: op.TTL == 0}
}

// TokenAfter returns the token that the lock has after the operation.
func (op *Op) TokenAfter() string {
	if op.Replace {
		return op.NewToken
	}
	return op.Token
}

// State is what a quorum of masters agrees on about one key.
type State struct {
	// Found reports whether there is a lock that a client may still count on.
	Found bool
	// Token is the lock's token, if it is Found or Lapsed.
	Token string
	// TTL is what is left of the TTL, at least a millisecond when Found. It is never
	// more than what the client asked for (V3). When Lapsed it is what is left of the hold.
	TTL time.Duration
	// Hold is what is left until others may have the lock (V3).
	Hold time.Duration
	// Lapsed reports whether the key, though not Found, still cannot be acquired
	// because the hold of Token is not over (V3). Only its owner's release deletes it, and
	// what stores Token again takes it (V15).
	Lapsed bool
	// locks are those of the copies, one for each copy, put together as they are written; a bare
	// token counts as the lock 0. lacks is how many of them a lock that may have a quorum has at
	// least, or by the required master's word (V11), when Found.
	locks string
	lacks int
}

// Verdict is how an operation ended. Package vote documents each.
type Verdict = vote.Verdict

// The verdicts. Absent means that there is no such lock.
const (
	Undecided = vote.Undecided
	Won       = vote.Won
	Held      = vote.Held
	Absent    = vote.NoLock
	Split     = vote.Split
	Changed   = vote.Changed
)

// Outcome is the end of an operation. Its methods are for one goroutine at a time;
// calling one again does no harm.
type Outcome struct {
	// Verdict is how it ended.
	Verdict Verdict
	// State is what Read (or Decide) found. For other operations that ended Held it is Found
	// where a read would tell the token that refused them; its TTL is not known.
	State State
	// Prolonged reports, for a won AcquireOrExtend, whether the client had the lock
	// before.
	Prolonged bool
	// Done is the kind of the operation that Decide chose.
	Done Kind
	// Did is the operation itself, if one was tried: for Decide the one that it chose.
	// Changes are the changes of a won DecideAll. Neither may be changed, and both hold
	// tokens.
	Did     *Op
	Changes []Change
	// Err is set for Undecided and Split, and its text is for the client: an
	// *UndecidedError, or Redis's own. It is nil otherwise.
	Err error
	// Took is the time from Do to this outcome.
	Took time.Duration
	// Alone reports whether no other operation was under way, so that whoever is told of this one
	// keeps nobody waiting.
	Alone bool

	grant *grant
	// withdrawn is notified when the grant is taken back.
	withdrawn Withdrawal
}

// Withdrawal is notified that a grant was taken back, possibly more than once and from
// several goroutines.
type Withdrawal interface{ Withdrawn() }

// OnUndo makes the outcome notify w when its grant is taken back: the reply could not
// be written, or not in time. It is for outcomes that grant something.
func (o *Outcome) OnUndo(w Withdrawal) { o.withdrawn = w }

// Clock returns the time for Late and Confirm, by the clock that measures grants; 0 if
// the outcome grants nothing.
func (o *Outcome) Clock() time.Duration {
	if o.grant == nil {
		return 0
	}
	return o.grant.attempt.call.q.now()
}

// Client is the client that asked for an operation.
type Client interface {
	// Gone reports whether the client no longer waits for the outcome. It must be safe
	// for concurrent use and must not block.
	Gone() bool
}
