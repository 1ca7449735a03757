package history

import (
	"cmp"
	"hash/maphash"
	"slices"
	"time"
)

// Held is a lock that this redlockd granted and remembers, with its holder.
type Held struct {
	DB  int
	Key string
	// Session, Name, Address and User are those of the client when it took
	// the lock.
	Session             int64
	Name, Address, User string
	// Since is when the lock was granted; if Taken is false it was taken elsewhere, and
	// Since is its first extend here. Until is the end of its TTL.
	Since, Until time.Time
	Taken        bool
}

// Longest returns how many locks are remembered whose TTL is not over, and at most most
// of them, those that are held longest. It looks at all of them.
func (t *Locks) Longest(now time.Time, most int) (total int, list []Held) {
	t.each(now, func(id lockID, l Lock) {
		total++
		list = append(list, Held{DB: id.db, Key: id.key, Session: l.Holder.Session, Name: l.Holder.Name,
			Address: l.Holder.Address, User: l.Holder.User, Since: time.UnixMilli(l.Since), Until: time.UnixMilli(l.Until), Taken: l.Taken})
		if len(list) >= 4*most+64 {
			list = longestHeld(list, most)
		}
	})
	return total, longestHeld(list, most)
}

func longestHeld(list []Held, most int) []Held {
	slices.SortFunc(list, func(a, b Held) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Key, b.Key), cmp.Compare(a.DB, b.DB))
	})
	return list[:min(len(list), most)]
}

// Find returns what is remembered of a lock, if its token is the one that the masters
// hold.
func (t *Locks) Find(db int, key, token string) (Lock, bool) {
	s := t.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.held.Peek(lockID{db, key})
	if !ok || r.cause != 0 || r.token != maphash.String(t.seed, token) {
		return Lock{}, false
	}
	return r.Lock, true
}

// HolderOf returns the holder of a lock as far as it is remembered.
func (t *Locks) HolderOf(db int, key string) Holder {
	s := t.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if holder := s.holderLocked(lockID{db, key}, time.Now()); holder != nil {
		return *holder
	}
	return Holder{}
}

// holderLocked returns the holder of a lock whose TTL is not over, nil if it is not remembered.
func (s *lockShard) holderLocked(id lockID, now time.Time) *Holder {
	if r, ok := s.held.Peek(id); ok && r.lives(now) {
		return r.Holder
	}
	return nil
}

// lives reports whether a lock has not ended, as far as is known.
func (l *Lock) lives(now time.Time) bool { return l.cause == 0 && l.Until >= now.UnixMilli() }

// each calls f for every lock that lives. f must not block, because a shard is locked.
func (t *Locks) each(now time.Time, f func(lockID, Lock)) {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		for _, id := range s.held.Keys() {
			if r, _ := s.held.Peek(id); r.lives(now) {
				f(id, r.Lock)
			}
		}
		s.mu.Unlock()
	}
}

// Count returns the number of locks, now or at most a second ago.
func (t *Locks) Count(now time.Time) int {
	t.countMu.Lock()
	defer t.countMu.Unlock()
	if t.counted.IsZero() || now.Sub(t.counted) >= time.Second {
		t.number, t.counted = 0, now
		t.each(now, func(lockID, Lock) { t.number++ })
	}
	return t.number
}
