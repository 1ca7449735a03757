package history

import (
	"hash/maphash"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/redlockd/redlockd/quorum"
)

// The bounds of Locks, in number of keys and bytes; keys longer than maxHeldKey are not
// remembered. heldOverhead is about the bytes that a lock takes besides its key, maxPast how
// many earlier locks of a key are remembered, and pastOverhead what each of them takes.
const (
	lockShards   = 64
	maxHeldLocks = 1 << 15
	maxHeldBytes = 32 << 20
	maxHeldKey   = 4 << 10
	heldOverhead = 280
	maxPast      = 8
	pastOverhead = 64
)

// lockID names a lock.
type lockID struct {
	db  int
	key string
}

// Holder is the session that took a lock, as it was at that time.
type Holder struct {
	Session             int64
	Name, Address, User string
}

// Locks remembers, for operators, the locks that this redlockd granted, those among them that have
// ended without their holders, and the keys that are most contended. It decides nothing: only the
// masters know who holds a lock, and what other redlockd do is not seen here. Beyond its bounds
// the locks that were changed longest ago are forgotten. Safe for concurrent use.
type Locks struct {
	seed   maphash.Seed
	shards [lockShards]lockShard
	times  *times
	tell   func(Lost)

	// number is the number of locks at the time counted.
	countMu sync.Mutex
	counted time.Time
	number  int
}

type lockShard struct {
	mu    sync.Mutex
	held  *simplelru.LRU[lockID, record]
	bytes int
	hot   contention
}

// Lock is a lock that was granted.
type Lock struct {
	Holder *Holder
	// token is a hash of the token, to see whether the masters still hold the same one.
	// The token itself is not kept.
	token uint64
	// Since is when the lock was granted or, if Taken is false, first extended through
	// this redlockd. Until is the end of its TTL. Both are in milliseconds since 1970.
	Since, Until int64
	Taken        bool
	// cause is why it has ended; 0 while it has not, as far as is known.
	cause Cause
}

// record is what is remembered of a key: its latest lock, and earlier ones that have ended
// without their holders, the oldest first.
type record struct {
	Lock
	past []Lock
}

// NewLocks returns an empty table. patterns are those by which times are told (Times); tell is
// called for each lock that was lost (Lost), one at a time for a key, and must not block.
func NewLocks(patterns []string, tell func(Lost)) *Locks {
	t := &Locks{seed: maphash.MakeSeed(), times: newTimes(patterns), tell: tell}
	for i := range t.shards {
		s := &t.shards[i]
		// NewLRU fails only for a size below 1.
		s.held, _ = simplelru.NewLRU(maxHeldLocks/lockShards, func(id lockID, r record) { s.bytes -= r.size(id) })
	}
	return t
}

func (r *record) size(id lockID) int { return len(id.key) + heldOverhead + len(r.past)*pastOverhead }

func (t *Locks) shard(key string) *lockShard {
	return &t.shards[maphash.String(t.seed, key)%lockShards]
}

// Note records an outcome; command is what asked for it. For one key it must be called in the
// order of the verdicts, which is the order in which the quorum reports them.
func (t *Locks) Note(command string, op *quorum.Op, o *quorum.Outcome, who *Holder) {
	if o.Did != nil && (op.Kind == quorum.Decide || op.Decide != nil) {
		op = o.Did
	}
	if o.Verdict == quorum.Absent || o.Verdict == quorum.Held {
		t.noteLost(op, o, who)
	}
	switch {
	case op.Kind == quorum.DecideAll:
		t.noteChanges(op.DB, o, who)
	case o.Verdict == quorum.Undecided || o.Verdict == quorum.Changed:
	case o.Verdict == quorum.Absent:
		t.end(op.DB, op.Key, Changed, nobody)
	case o.Verdict == quorum.Won:
		t.noteWon(command, op, o, who)
	case op.Kind == quorum.Acquire || op.Kind == quorum.AcquireOrExtend:
		s := t.shard(op.Key)
		s.mu.Lock()
		s.hot.add(lockID{op.DB, op.Key}, who, time.Now())
		s.mu.Unlock()
	}
}

func (t *Locks) noteWon(command string, op *quorum.Op, o *quorum.Outcome, who *Holder) {
	switch op.Kind {
	case quorum.Release:
		t.end(op.DB, op.Key, Changed, func(l Lock) bool { return l.token == maphash.String(t.seed, op.Token) })
	case quorum.Remove:
		if command == "locks" {
			t.end(op.DB, op.Key, Forced, nobody)
			return
		}
		t.end(op.DB, op.Key, Changed, func(l Lock) bool { return l.Holder.Session == who.Session })
	case quorum.Store, quorum.Acquire:
		t.take(op, who)
	case quorum.AcquireOrExtend:
		if !o.Prolonged {
			t.take(op, who)
			return
		}
		t.extend(op, who)
	case quorum.Extend, quorum.Expire:
		t.extend(op, who)
	}
}

// noteChanges records what a transaction has changed. What it deletes in time is taken for a
// release: clients compare the token before, by what they WATCH.
func (t *Locks) noteChanges(db int, o *quorum.Outcome, who *Holder) {
	for _, c := range o.Changes {
		if c.Delete {
			t.end(db, c.Key, Changed, func(l Lock) bool { return l.lives(time.Now()) })
			continue
		}
		t.extend(&quorum.Op{Kind: quorum.Extend, DB: db, Key: c.Key, Token: c.Token, TTL: c.TTL}, who)
	}
}

// take records a lock that was granted.
func (t *Locks) take(op *quorum.Op, who *Holder) {
	now := time.Now()
	s, id := t.shard(op.Key), lockID{op.DB, op.Key}
	l := Lock{Holder: who, token: maphash.String(t.seed, op.Token), Since: now.UnixMilli(),
		Until: now.UnixMilli() + op.TTL.Milliseconds(), Taken: true}
	waited := time.Duration(-1)
	s.mu.Lock()
	r, _ := s.held.Peek(id)
	if own := op.Kind == quorum.Store && r.Holder != nil && r.Holder.Session == who.Session; !own && r.token != l.token {
		r.keepPast(now)
	}
	r.Lock = l
	s.enterLocked(id, r)
	if k := s.hot.find(id); k != nil {
		waited = k.refused.remove(who, now)
	}
	s.mu.Unlock()
	if waited >= 0 {
		t.times.of(op.Key).waited.add(waited)
	}
}

// Withdraw forgets a lock whose grant could not be answered to the client.
func (t *Locks) Withdraw(op *quorum.Op, who *Holder) {
	s, id := t.shard(op.Key), lockID{op.DB, op.Key}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.held.Peek(id); ok && r.Holder == who && r.token == maphash.String(t.seed, op.Token) {
		s.endLocked(id, &r, released)
	}
}

// extend records a new end of a lock. One that is not remembered was taken elsewhere, or
// forgotten. An Expire keeps the token that is remembered.
func (t *Locks) extend(op *quorum.Op, who *Holder) {
	now := time.Now()
	s, id := t.shard(op.Key), lockID{op.DB, op.Key}
	sum := maphash.String(t.seed, op.TokenAfter())
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.held.Peek(id)
	living := ok && r.cause == 0
	switch {
	case op.Kind == quorum.Expire && !living:
		return
	case op.Kind == quorum.Expire:
	case living && (r.token == sum || r.Holder.Session == who.Session):
		r.token = sum // the same client may have given it another token
	default:
		if !op.Replace || r.token != maphash.String(t.seed, op.Token) {
			r.keepPast(now)
		}
		r.Lock = Lock{Holder: who, token: sum, Since: now.UnixMilli()}
	}
	r.Until = now.UnixMilli() + op.TTL.Milliseconds()
	s.enterLocked(id, r)
}

// enterLocked adds a lock and keeps the bound in bytes; the LRU keeps that in number.
func (s *lockShard) enterLocked(id lockID, r record) {
	if len(id.key) > maxHeldKey {
		return
	}
	if before, ok := s.held.Peek(id); ok {
		s.bytes -= before.size(id)
	}
	s.bytes += r.size(id)
	s.held.Add(id, r)
	for s.bytes > maxHeldBytes/lockShards {
		s.held.RemoveOldest()
	}
}
