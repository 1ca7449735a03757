package quorum

import (
	"time"

	"github.com/redlockd/redlockd/quorum/outbox"
)

// What this redlockd remembers of the locks that it has granted: the TTLs of recent grants
// (recent.go), and until when a client may count on its lock (terms.go).

// granted remembers what a won attempt has granted. The caller must hold the attempt's
// mu.
func (t *keyTable) granted(a *attempt) {
	if a.op.Kind != transact {
		t.noteRecent(a, 0, a.op.Key, a.op.TokenAfter(), a.op.TTL)
		return
	}
	for k := range a.op.steps {
		if s := &a.op.steps[k]; s.Does == outbox.Stores {
			t.noteRecent(a, k, s.Key, s.Token, s.TTL)
		}
	}
}

// noteRecent notes the grant of one lock, for reads that follow at once (recent.go). Until
// its reply leaves, the lock is not over because an earlier grant of it is (V15).
func (t *keyTable) noteRecent(a *attempt, k int, key, token string, ttl time.Duration) {
	g := recentGrant{key: key, ttl: ttl, began: a.times.began, masters: a.masters, attempt: a.id, ends: a.endsOf(k)}
	s, hash := a.call.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recent.add(g)
	if last := s.terms.of[hash]; last != nil && (last.token == token || a.op.Kind == Expire) {
		last.later.Store(max(last.later.Load(), int64(a.times.began+a.call.q.cfg.Timeout+ttl)))
	}
}

// readableTTL returns the most that a read may answer of a lock's remaining TTL (V3).
func (t *keyTable) readableTTL(a *attempt, token string, left time.Duration) time.Duration {
	now := a.call.q.now()
	s, _ := a.call.shardOf(a.op.Key)
	s.mu.Lock()
	// A grant's expiry is at most a timeout beyond its hold, see clock.Watch.
	g, ok := s.recent.last(a.op.Key, now, 4*a.call.q.cfg.Timeout)
	s.mu.Unlock()
	if ok && g.masters == a.masters && a.box.unchanged(token, g.attempt, &g.ends) {
		left = min(left, max(g.ttl-(now-g.began), time.Millisecond))
	}
	return min(left, a.call.q.cfg.MaxTTL)
}

// termOf returns the last known term of a key (terms.go), or nil.
func (t *keyTable) termOf(c *call, key string) *term {
	s, hash := c.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.terms.of[hash]
}

// noteTerms notes until when the client may count on the locks of a won attempt, if the
// reply reaches it at the time now (V15).
func (t *keyTable) noteTerms(a *attempt, now time.Duration) {
	a.terms = a.terms[:0]
	if a.op.Keeps {
		t.keepTerm(a, a.op.Key, a.op.Token, a.op.TokenAfter())
		return
	}
	if a.op.Kind != transact {
		t.noteTerm(a, 0, a.op.Key, a.op.TokenAfter(), a.op.TTL, a.hold, now)
		return
	}
	for k := range a.op.steps {
		switch s := &a.op.steps[k]; {
		case s.Keeps:
			t.keepTerm(a, s.Key, s.Was, s.Token)
		case s.Does == outbox.Stores:
			t.noteTerm(a, k, s.Key, s.Token, s.TTL, s.Hold, now)
		}
	}
}

// keepTerm passes the term of a lock on to its new token, since its TTL was kept, also that
// of a grant whose reply has not left yet. If this redlockd did not grant the lock, the term
// is unknown and is forgotten.
func (t *keyTable) keepTerm(a *attempt, key, from, to string) {
	s, hash := a.call.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.terms.of[hash]
	switch {
	case last.after(a), last.knows(a.masters) && last.token == to && from != to:
	case last.knows(a.masters) && last.token == from:
		next := &term{token: to, began: a.times.began, ttl: last.ttl, spared: last.spared, gone: last.gone, masters: last.masters, attempt: a.id, ends: last.ends}
		next.until.Store(last.until.Load())
		next.later.Store(last.later.Load())
		s.terms.of[hash] = next
	default:
		delete(s.terms.of, hash)
	}
}

func (t *keyTable) noteTerm(a *attempt, k int, key, token string, ttl, hold, now time.Duration) {
	next := &term{token: token, began: a.grantBegan(), ttl: ttl, gone: now + hold + 2*a.call.q.cfg.Timeout,
		masters: a.masters, attempt: a.id, ends: a.endsOf(k)}
	next.until.Store(int64(now + ttl))
	a.terms = append(a.terms, next)
	s, hash := a.call.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.terms.of[hash]
	if last.after(a) {
		return // another client has taken the lock, and this reply leaves only now
	}
	if last.knows(a.masters) && last.token == token {
		switch {
		case a.raises(k):
			next.spared = max(last.spared, time.Duration(last.until.Load())+a.call.q.cfg.Drift(last.ttl))
		case a.op.renews != nil:
			next.spared = last.spared
		}
	}
	if a.op.Kind == Expire {
		// Expire asks for no token, so the last token known stays.
		next.token = ""
		if last != nil {
			next.token = last.token
		}
	}
	s.terms.set(hash, next, now)
}

// raises reports whether step k, or the only one, has given a lock more than was left of it by
// our clock.
func (a *attempt) raises(k int) bool {
	return a.op.raises || a.op.Kind == transact && a.op.steps[k].Raises
}

// released forgets the term of a lock that was released.
func (t *keyTable) released(a *attempt) {
	s, hash := a.call.shardOf(a.op.Key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.terms.forget(hash, a.op.Token)
}
