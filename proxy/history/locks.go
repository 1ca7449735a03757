package history

import (
	"hash/maphash"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/redlockd/redlockd/quorum"
)

// The bounds of Locks, in number and bytes; keys longer than maxHeldKey are not
// remembered. heldOverhead is about the bytes that a lock takes besides its key.
const (
	lockShards   = 64
	maxHeldLocks = 1 << 15
	maxHeldBytes = 32 << 20
	maxHeldKey   = 4 << 10
	heldOverhead = 240
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

// Locks remembers, for operators, the locks that this redlockd granted and the keys that
// are most contended. It decides nothing: only the masters know who holds a lock, and
// what other redlockd do is not seen here. Beyond its bounds the locks that were changed
// longest ago are forgotten. Safe for concurrent use.
type Locks struct {
	seed   maphash.Seed
	shards [lockShards]lockShard

	// number is the number of locks at the time counted.
	countMu sync.Mutex
	counted time.Time
	number  int
}

type lockShard struct {
	mu    sync.Mutex
	held  *simplelru.LRU[lockID, Lock]
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
}

// NewLocks returns an empty table.
func NewLocks() *Locks {
	t := &Locks{seed: maphash.MakeSeed()}
	for i := range t.shards {
		s := &t.shards[i]
		// NewLRU fails only for a size below 1.
		s.held, _ = simplelru.NewLRU(maxHeldLocks/lockShards, func(id lockID, _ Lock) { s.bytes -= id.size() })
	}
	return t
}

func (id lockID) size() int { return len(id.key) + heldOverhead }

func (t *Locks) shard(key string) *lockShard {
	return &t.shards[maphash.String(t.seed, key)%lockShards]
}

// Note records an outcome. For one key it must be called in the order of the verdicts,
// which is the order in which the quorum reports them.
func (t *Locks) Note(op *quorum.Op, o *quorum.Outcome, who *Holder) {
	if o.Did != nil && (op.Kind == quorum.Decide || op.Decide != nil) {
		op = o.Did
	}
	switch {
	case op.Kind == quorum.DecideAll:
		t.noteChanges(op.DB, o, who)
	case o.Verdict == quorum.Undecided || o.Verdict == quorum.Changed:
	case o.Verdict == quorum.Absent:
		t.forget(op.DB, op.Key)
	case o.Verdict == quorum.Won:
		t.noteWon(op, o, who)
	case op.Kind == quorum.Acquire || op.Kind == quorum.AcquireOrExtend:
		s := t.shard(op.Key)
		s.mu.Lock()
		s.hot.add(lockID{op.DB, op.Key}, who, time.Now())
		s.mu.Unlock()
	}
}

func (t *Locks) noteWon(op *quorum.Op, o *quorum.Outcome, who *Holder) {
	switch op.Kind {
	case quorum.Release, quorum.Remove:
		t.forget(op.DB, op.Key)
	case quorum.Store, quorum.Acquire:
		t.take(op, who)
	case quorum.AcquireOrExtend:
		if !o.Prolonged {
			t.take(op, who)
			return
		}
		t.extend(op.DB, op.Key, op.Token, op.TTL, who)
	case quorum.Extend:
		token := op.Token
		if op.Replace {
			token = op.NewToken
		}
		t.extend(op.DB, op.Key, token, op.TTL, who)
	case quorum.Expire:
		t.extend(op.DB, op.Key, "", op.TTL, who)
	}
}

// noteChanges records what a transaction has changed.
func (t *Locks) noteChanges(db int, o *quorum.Outcome, who *Holder) {
	for _, c := range o.Changes {
		if c.Delete {
			t.forget(db, c.Key)
			continue
		}
		t.extend(db, c.Key, c.Token, c.TTL, who)
	}
}

// take records a lock that was granted.
func (t *Locks) take(op *quorum.Op, who *Holder) {
	now := time.Now().UnixMilli()
	s := t.shard(op.Key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enterLocked(lockID{op.DB, op.Key}, Lock{Holder: who, token: maphash.String(t.seed, op.Token),
		Since: now, Until: now + op.TTL.Milliseconds(), Taken: true})
	if k := s.hot.find(lockID{op.DB, op.Key}); k != nil {
		k.refused.remove(who)
	}
}

// Withdraw forgets a lock whose grant could not be answered to the client.
func (t *Locks) Withdraw(op *quorum.Op, who *Holder) {
	s, id := t.shard(op.Key), lockID{op.DB, op.Key}
	s.mu.Lock()
	defer s.mu.Unlock()
	if l, ok := s.held.Peek(id); ok && l.Holder == who && l.token == maphash.String(t.seed, op.Token) {
		s.held.Remove(id)
	}
}

// extend records a new end of a lock. One that is not remembered was taken elsewhere, or
// forgotten. An empty token stands for the one that is remembered.
func (t *Locks) extend(db int, key, token string, ttl time.Duration, who *Holder) {
	now := time.Now().UnixMilli()
	s, id := t.shard(key), lockID{db, key}
	sum := maphash.String(t.seed, token)
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.held.Peek(id)
	switch {
	case token == "" && !ok:
		return
	case token == "":
	case ok && (l.token == sum || l.Holder.Session == who.Session):
		l.token = sum // the same client may have given it another token
	default:
		l = Lock{Holder: who, token: sum, Since: now}
	}
	l.Until = now + ttl.Milliseconds()
	s.enterLocked(id, l)
}

// enterLocked adds a lock and keeps the bound in bytes; the LRU keeps that in number.
func (s *lockShard) enterLocked(id lockID, l Lock) {
	if len(id.key) > maxHeldKey {
		return
	}
	if !s.held.Contains(id) {
		s.bytes += id.size()
	}
	s.held.Add(id, l)
	for s.bytes > maxHeldBytes/lockShards {
		s.held.RemoveOldest()
	}
}

func (t *Locks) forget(db int, key string) {
	s := t.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held.Remove(lockID{db, key})
}
