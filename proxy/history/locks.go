package history

import (
	"hash/maphash"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/redlockd/redlockd/quorum"
)

// The locks that a redlockd gave are remembered, so many and so many bytes
// of them, in shards; a key longer than maxHeldKey is not. heldOverhead is
// about what one costs besides its key.
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

// Holder is the session that took a lock, as it was then.
type Holder struct {
	Session             int64
	Name, Address, User string
}

// Locks remembers, for people, the locks that this redlockd gave and those
// that are wanted most. It decides nothing: who holds a lock is known by the
// masters only, and what goes over another redlockd is not seen here. Bounded;
// beyond the bound the locks that were touched longest ago are
// forgotten. Safe for concurrent use.
type Locks struct {
	seed   maphash.Seed
	shards [lockShards]lockShard

	// number is how many there were when they were counted.
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

// Lock is a lock that was given.
type Lock struct {
	Holder *Holder
	// token is a sum of the token, to see whether the masters still hold the
	// same one. The token itself is not kept.
	token uint64
	// Since is when it was given, or, where taken is false, when it was first
	// extended through this redlockd. Times are in milliseconds since 1970.
	Since, Until int64
	Taken        bool
}

// NewLocks returns an empty table.
func NewLocks() *Locks {
	t := &Locks{seed: maphash.MakeSeed()}
	for i := range t.shards {
		s := &t.shards[i]
		// The error is for a size below 1 only.
		s.held, _ = simplelru.NewLRU(maxHeldLocks/lockShards, func(id lockID, _ Lock) { s.bytes -= id.size() })
	}
	return t
}

func (id lockID) size() int { return len(id.key) + heldOverhead }

func (t *Locks) shard(key string) *lockShard {
	return &t.shards[maphash.String(t.seed, key)%lockShards]
}

// Note takes an outcome in. It must be called in the order of the verdicts,
// which is that of the quorum's calls for one key.
func (t *Locks) Note(op *quorum.Op, o *quorum.Outcome, who *Holder) {
	if o.Did != nil && op.Kind == quorum.Decide {
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
		s.hot.add(lockID{op.DB, op.Key}, time.Now())
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

// noteChanges takes in what a transaction has changed.
func (t *Locks) noteChanges(db int, o *quorum.Outcome, who *Holder) {
	for _, c := range o.Changes {
		if c.Delete {
			t.forget(db, c.Key)
			continue
		}
		t.extend(db, c.Key, c.Token, c.TTL, who)
	}
}

// take enters a lock that was given.
func (t *Locks) take(op *quorum.Op, who *Holder) {
	now := time.Now().UnixMilli()
	s := t.shard(op.Key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enterLocked(lockID{op.DB, op.Key}, Lock{Holder: who, token: maphash.String(t.seed, op.Token),
		Since: now, Until: now + op.TTL.Milliseconds(), Taken: true})
}

// Withdraw forgets a lock that could not be told to who was to have it.
func (t *Locks) Withdraw(op *quorum.Op, who *Holder) {
	s, id := t.shard(op.Key), lockID{op.DB, op.Key}
	s.mu.Lock()
	defer s.mu.Unlock()
	if l, ok := s.held.Peek(id); ok && l.Holder == who && l.token == maphash.String(t.seed, op.Token) {
		s.held.Remove(id)
	}
}

// extend gives a lock a new end. One that is not known was taken elsewhere, or
// forgotten. Without a token it is the one that was there.
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

// enterLocked makes room by bytes; by number the table does.
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
