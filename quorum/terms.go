package quorum

import (
	"sync/atomic"
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/vote"
)

// The masters keep a lock longer than its TTL (V3). What a client is told goes by
// the TTL it asked for: after that its lock is over in every answer, and a
// release or an extend deletes what is left (V15). This redlockd knows to the moment
// when that is for what it has told itself; of other copies what they have left
// tells it.

// term is what was told last of a key, and until when its client may count on it.
type term struct {
	token string
	// ends is when the TTL is over, in nanoseconds, that began when the client was
	// told; while that is not known, when it ends at the latest.
	ends atomic.Int64
	ttl  time.Duration
	// gone is when nothing of it can be left, given when the masters were given it.
	gone, given time.Duration
	// masters are those that the expiries go by. Those are what the masters were
	// given, or have kept, this time: an expiry that was given before may have been
	// made an earlier one since, and another redlockd's extend lie in between.
	masters  *masterList
	expiries expiries
}

// over reports whether its TTL is over at a time.
func (t *term) over(at time.Duration) bool { return time.Duration(t.ends.Load()) <= at }

// knows reports whether it was told on this list of masters.
func (t *term) knows(masters *masterList) bool { return t != nil && t.masters == masters }

// expiry is the latest that a master has of it; 0 if none is known.
func (t *term) expiry(masters *masterList, i int) int64 {
	if !t.knows(masters) {
		return 0
	}
	return t.expiries.at(i)
}

// terms are those of the keys of one shard, whose mutex they need.
type terms struct {
	of   map[uint64]*term
	left int // how many there were when those that are gone were forgotten last
}

func (t *terms) set(key uint64, next *term, now time.Duration) {
	if t.of == nil {
		t.of = map[uint64]*term{}
	}
	t.of[key] = next
	if len(t.of) < 2*t.left+64 {
		return
	}
	for key, old := range t.of {
		if old.gone < now {
			delete(t.of, key)
		}
	}
	t.left = len(t.of)
}

// forget forgets a term whose lock was released, so that none outlasts its lock by
// long where locks are released as they should be.
func (t *terms) forget(key uint64, token string) {
	if last := t.of[key]; last != nil && last.token == token {
		delete(t.of, key)
	}
}

// termOf is what was told last of a key, nil if that is not known.
func (a *attempt) termOf(key string) *term {
	s, hash := a.call.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.terms.of[hash]
}

// noteTerms notes until when the client may count on what a won attempt has given it,
// if it is told at the time now.
func (a *attempt) noteTerms(now time.Duration) {
	a.terms = a.terms[:0]
	if a.op.Kind != transact {
		a.noteTerm(a.op.Key, a.op.newToken(), a.op.TTL, a.hold, now, (*outbox.Task).Latest)
		return
	}
	for k := range a.op.steps {
		if s := &a.op.steps[k]; s.Hold > 0 {
			a.noteTerm(s.Key, s.Token, s.TTL, s.Hold, now, ofStep(k))
		}
	}
}

func (a *attempt) noteTerm(key, token string, ttl, hold, now time.Duration, expiry func(*outbox.Task) int64) {
	next := &term{token: token, ttl: ttl, given: a.times.began, gone: now + hold + 2*a.call.q.cfg.Timeout + nameSlack,
		masters: a.masters, expiries: a.expiriesOf(expiry)}
	next.ends.Store(int64(now + ttl))
	a.terms = append(a.terms, next)
	s, hash := a.call.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.terms.of[hash]
	if a.op.Kind == Expire {
		// Whose it is was not asked: still the one that was told, if any.
		next.token = ""
		if last != nil {
			next.token = last.token
		}
	}
	s.terms.set(hash, next, now)
}

// toldTerms ends the terms that were noted by when the client was told.
func (a *attempt) toldTerms(at time.Duration) {
	for _, t := range a.terms {
		t.ends.Store(int64(at + t.ttl))
	}
}

// newToken is what a lock holds that the operation was carried out on.
func (op *Op) newToken() string {
	if op.Replace {
		return op.NewToken
	}
	return op.Token
}

// limits are those of the attempt's operation on one master, counted from when
// it came to this redlockd, since its client could not send it later; nil in the
// usual case, where the client counts on its lock. Needs the link's mu.
func (a *attempt) limits(i int, l *link) *outbox.Limits {
	if !a.op.ends() {
		return nil
	}
	named := a.op.Kind == Release || a.op.Kind == Extend || a.op.Kind == AcquireOrExtend
	told := a.term.knows(a.masters) && (!named || a.term.token == a.op.Token)
	lives := told && !a.term.over(a.call.arrived)
	if lives && a.op.Kind != Read {
		return nil
	}
	out := &outbox.Limits{Any: l.lapsedBy(a.call.arrived, a.call.q.cfg.unused(a.call.q.agreed.ReadPadding(), a.call.q.agreed.Greatest().Timeout))}
	switch last := a.term.expiry(a.masters, i) + 1; {
	case lives || !told, l.clock.BaselineSince() > a.term.given:
		// By a clock that has stepped the expiry tells nothing any more.
	case named:
		out.Any = max(out.Any, last)
	default:
		out.Told, out.Token = last, a.term.token
	}
	return out
}

// lasts is how long the client of a lock that a read found, and that lives, may
// count on it, where this redlockd has told it and no other one has changed that.
func (a *attempt) lasts(token string) (time.Duration, bool) {
	if !a.term.knows(a.masters) || a.term.token != token || a.term.over(a.call.arrived) {
		return 0, false
	}
	return max(time.Duration(a.term.ends.Load())-a.call.q.now(), time.Millisecond).Truncate(time.Millisecond),
		a.unchanged(token, &a.term.expiries)
}

// unchanged reports whether a read has found a lock on a quorum with the expiries that
// it was given, on the attempt's list.
func (a *attempt) unchanged(token string, given *expiries) bool {
	same := 0
	for i := range a.box.ballots {
		b, last := &a.box.ballots[i], given.at(i)
		if b.Vote == vote.Found && b.Token == token && b.Expiry <= last && b.Expiry > last-mark.Residues {
			same++
		}
	}
	return same >= a.box.needs.Quorum
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
