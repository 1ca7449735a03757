package history

import (
	"hash/maphash"
	"slices"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

// Cause is why a lock has ended.
type Cause uint8

const (
	// released: by its token, by the session that took it, or its grant was taken back.
	released Cause = iota + 1
	// Expired: its TTL was over.
	Expired
	// Forced: LOCKS FORCE has removed it.
	Forced
	// Changed: it was removed or overwritten without its token, or ended through another
	// redlockd, in whatever way.
	Changed
)

// Causes are those for which a lock is lost.
var Causes = []Cause{Expired, Forced, Changed}

// String returns the cause in a word.
func (c Cause) String() string {
	return [...]string{"none", "released", "expired", "forced", "changed"}[c]
}

// Lost is a lock that had ended when a command came that counts on it: an extend or a release by
// its token, or a read by the session that took it. It is told once.
type Lost struct {
	DB    int
	Key   string
	Cause Cause
	Lock
	// By is the session whose command it was.
	By *Holder
}

// noteLost tells of a lock that an operation should have met, if it is remembered. The operation
// has met no lock, or another one.
func (t *Locks) noteLost(op *quorum.Op, o *quorum.Outcome, who *Holder) {
	var its func(Lock) bool
	switch op.Kind {
	case quorum.Release, quorum.Extend:
		sum := maphash.String(t.seed, op.Token)
		its = func(l Lock) bool { return l.token == sum }
	case quorum.Read:
		found := maphash.String(t.seed, o.State.Token)
		its = func(l Lock) bool {
			return l.Holder.Session == who.Session && (o.Verdict == quorum.Absent || l.token != found)
		}
	default:
		return
	}
	s, id := t.shard(op.Key), lockID{op.DB, op.Key}
	s.mu.Lock()
	l, ok := s.takeLostLocked(id, its, time.Now())
	s.mu.Unlock()
	if ok {
		t.tell(Lost{DB: op.DB, Key: op.Key, Cause: l.cause, Lock: l, By: who})
	}
}

// takeLostLocked returns the lock of a key that its reports, with the cause, and remembers it no
// more.
func (s *lockShard) takeLostLocked(id lockID, its func(Lock) bool, now time.Time) (Lock, bool) {
	r, ok := s.held.Peek(id)
	if !ok {
		return Lock{}, false
	}
	if r.cause != released && its(r.Lock) {
		l := r.Lock
		l.end(Changed, now)
		s.endLocked(id, &r, released)
		return l, true
	}
	i := slices.IndexFunc(r.past, its)
	if i < 0 {
		return Lock{}, false
	}
	l := r.past[i]
	r.past = slices.Delete(slices.Clone(r.past), i, i+1)
	s.enterLocked(id, r)
	return l, true
}

// end records that the latest lock of a key is over, unless that is known: it was released if own
// says that its holder did it, or else its TTL was over, or else the cause.
func (t *Locks) end(db int, key string, cause Cause, own func(Lock) bool) {
	now, held := time.Now(), time.Duration(-1)
	s, id := t.shard(key), lockID{db, key}
	s.mu.Lock()
	if r, ok := s.held.Peek(id); ok && r.cause == 0 {
		if own(r.Lock) {
			cause = released
			if r.Taken {
				held = time.Duration(now.UnixMilli()-r.Since) * time.Millisecond
			}
		}
		r.end(cause, now)
		s.endLocked(id, &r, r.cause)
	}
	s.mu.Unlock()
	if held >= 0 {
		t.times.of(key).held.add(held)
	}
}

// nobody is for an end that no holder has brought about.
func nobody(Lock) bool { return false }

// endLocked records the end of the latest lock of a key, and forgets the key if there is nothing
// more to remember.
func (s *lockShard) endLocked(id lockID, r *record, cause Cause) {
	if r.cause = cause; cause == released && len(r.past) == 0 {
		s.held.Remove(id)
		return
	}
	s.enterLocked(id, *r)
}

// end sets the cause of an end that was noticed now. The masters' clocks decide that a TTL is over:
// they may be ahead of this one.
func (l *Lock) end(cause Cause, now time.Time) {
	switch early := (l.Until-l.Since)/50 + 100; {
	case l.cause != 0:
	case cause != released && cause != Forced && now.UnixMilli() >= l.Until-early:
		l.cause = Expired
	default:
		l.cause = cause
	}
}

// keepPast moves the latest lock to the past ones, if its holder may still count on it: somebody
// else has the key now.
func (r *record) keepPast(now time.Time) {
	if r.Holder == nil || r.cause == released {
		return
	}
	r.end(Changed, now)
	if r.past = slices.Clone(r.past); len(r.past) == maxPast {
		r.past = slices.Delete(r.past, 0, 1)
	}
	r.past = append(r.past, r.Lock)
}
