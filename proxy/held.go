package proxy

import (
	"hash/maphash"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/redlockd/redlockd/quorum"
)

// lockID names a lock.
type lockID struct {
	db  int
	key string
}

// holder is the session that took a lock, as it was then.
type holder struct {
	session             int64
	name, address, user string
}

// lockTable remembers, for people, the locks that this redlockd gave and those
// that are wanted most. It decides nothing: who holds a lock is known by the
// masters only, and what goes over another redlockd is not seen here. Bounded
// (limits.go); beyond the bound the locks that were touched longest ago are
// forgotten. Safe for concurrent use.
type lockTable struct {
	seed   maphash.Seed
	shards [lockShards]lockShard

	// number is how many there were when they were counted.
	countMu sync.Mutex
	counted time.Time
	number  int
}

type lockShard struct {
	mu    sync.Mutex
	held  *simplelru.LRU[lockID, heldLock]
	bytes int
	hot   contention
}

// heldLock is a lock that was given.
type heldLock struct {
	who *holder
	// token is a sum of the token, to see whether the masters still hold the
	// same one. The token itself is not kept.
	token uint64
	// since is when it was given, or, where taken is false, when it was first
	// extended through this redlockd. Times are in milliseconds since 1970.
	since, until int64
	taken        bool
}

func (t *lockTable) init() {
	t.seed = maphash.MakeSeed()
	for i := range t.shards {
		s := &t.shards[i]
		// The error is for a size below 1 only.
		s.held, _ = simplelru.NewLRU(maxHeldLocks/lockShards, func(id lockID, _ heldLock) { s.bytes -= id.size() })
	}
}

func (id lockID) size() int { return len(id.key) + heldOverhead }

func (t *lockTable) shard(key string) *lockShard {
	return &t.shards[maphash.String(t.seed, key)%lockShards]
}

// note takes an outcome in. It must be called in the order of the verdicts,
// which is that of the quorum's calls for one key.
func (t *lockTable) note(op *quorum.Op, o *quorum.Outcome, who *holder) {
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

func (t *lockTable) noteWon(op *quorum.Op, o *quorum.Outcome, who *holder) {
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
func (t *lockTable) noteChanges(db int, o *quorum.Outcome, who *holder) {
	for _, c := range o.Changes {
		if c.Delete {
			t.forget(db, c.Key)
			continue
		}
		t.extend(db, c.Key, c.Token, c.TTL, who)
	}
}

// take enters a lock that was given.
func (t *lockTable) take(op *quorum.Op, who *holder) {
	now := time.Now().UnixMilli()
	s := t.shard(op.Key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enter(lockID{op.DB, op.Key}, heldLock{who: who, token: maphash.String(t.seed, op.Token),
		since: now, until: now + op.TTL.Milliseconds(), taken: true})
}

// withdraw forgets a lock that could not be told to who was to have it.
func (t *lockTable) withdraw(op *quorum.Op, who *holder) {
	s, id := t.shard(op.Key), lockID{op.DB, op.Key}
	s.mu.Lock()
	defer s.mu.Unlock()
	if l, ok := s.held.Peek(id); ok && l.who == who && l.token == maphash.String(t.seed, op.Token) {
		s.held.Remove(id)
	}
}

// extend gives a lock a new end. One that is not known was taken elsewhere, or
// forgotten. Without a token it is the one that was there.
func (t *lockTable) extend(db int, key, token string, ttl time.Duration, who *holder) {
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
	case ok && (l.token == sum || l.who.session == who.session):
		l.token = sum // the same client may have given it another token
	default:
		l = heldLock{who: who, token: sum, since: now}
	}
	l.until = now + ttl.Milliseconds()
	s.enter(id, l)
}

// enter makes room by bytes; by number the table does. Needs mu.
func (s *lockShard) enter(id lockID, l heldLock) {
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

func (t *lockTable) forget(db int, key string) {
	s := t.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held.Remove(lockID{db, key})
}

// who is what is known of a lock of which the masters hold this token.
func (t *lockTable) who(db int, key, token string) (heldLock, bool) {
	s := t.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.held.Peek(lockID{db, key})
	if !ok || l.token != maphash.String(t.seed, token) {
		return heldLock{}, false
	}
	return l, true
}

// remembered is who took a lock last, as far as is known.
func (t *lockTable) remembered(db int, key string) holder {
	s := t.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if l, ok := s.held.Peek(lockID{db, key}); ok {
		return *l.who
	}
	return holder{}
}

// each calls f for every lock whose TTL is not over; the others are forgotten.
// f must not keep the shards waiting.
func (t *lockTable) each(now time.Time, f func(lockID, heldLock)) {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		for _, id := range s.held.Keys() {
			l, _ := s.held.Peek(id)
			if l.until < now.UnixMilli() {
				s.held.Remove(id)
				continue
			}
			f(id, l)
		}
		s.mu.Unlock()
	}
}

// count is how many locks there are, or were at most a second ago.
func (t *lockTable) count(now time.Time) int {
	t.countMu.Lock()
	defer t.countMu.Unlock()
	if t.counted.IsZero() || now.Sub(t.counted) >= time.Second {
		t.number, t.counted = 0, now
		t.each(now, func(lockID, heldLock) { t.number++ })
	}
	return t.number
}
