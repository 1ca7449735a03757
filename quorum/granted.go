package quorum

import (
	"hash/maphash"
	"slices"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/outbox"
)

// What this redlockd remembers of the locks that it has granted: their names, which no
// other attempt may get (live_names.go), the TTLs of recent grants (recent.go), and
// until when a client may count on its lock (terms.go).

// hash combines a key's hash with a token: the names of a lock are kept under it. If
// two locks share a hash by chance, the names of the later one are kept.
func (t *keyTable) hash(key uint64, token string) uint64 {
	return key*31 ^ maphash.String(t.seed, token)
}

// granted remembers what a won attempt has granted. The caller must hold the attempt's
// mu.
func (t *keyTable) granted(a *attempt) {
	if a.op.Kind != transact {
		if a.namesCopies {
			t.keepNames(a, lockName{a.op.Key, a.op.Token}, a.hold, func(part *outbox.Task) int64 { return part.Expiry })
		}
		t.noteRecent(a, a.op.Key, a.op.TokenAfter(), a.op.TTL, (*outbox.Task).LatestExpiry)
		return
	}
	for k := range a.op.steps {
		s := &a.op.steps[k]
		if s.Creates() {
			t.keepNames(a, lockName{s.Key, s.Token}, s.Hold, ofStep(k))
		}
		if s.Does == outbox.Stores {
			t.noteRecent(a, s.Key, s.Token, s.TTL, ofStep(k))
		}
	}
}

// keepNames keeps the names under which an attempt has created one lock.
func (t *keyTable) keepNames(a *attempt, n lockName, hold time.Duration, expiry func(*outbox.Task) int64) {
	names := liveNames{until: a.times.began + hold + 2*a.call.q.cfg.Timeout + cluster.NameSlack, expiries: expiriesOf(a.tasks, expiry)}
	s, hash := a.call.shardOf(n.key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live.keep(t.hash(hash, n.token), names, a.times.began)
}

// noteRecent notes the grant of one lock, for reads that follow at once (recent.go). Until
// its reply leaves, the lock is not over because an earlier grant of it is (V15).
func (t *keyTable) noteRecent(a *attempt, key, token string, ttl time.Duration, expiry func(*outbox.Task) int64) {
	g := recentGrant{key, ttl, a.times.began, a.masters, expiriesOf(a.tasks, expiry)}
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
	if ok && g.masters == a.masters && a.box.unchanged(token, &g.expiries) {
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
		t.keepTerm(a, 0, a.op.Key, a.op.Token, a.op.TokenAfter())
		return
	}
	if a.op.Kind != transact {
		t.noteTerm(a, 0, a.op.Key, a.op.TokenAfter(), a.op.TTL, a.hold, now, (*outbox.Task).LatestExpiry)
		return
	}
	for k := range a.op.steps {
		switch s := &a.op.steps[k]; {
		case s.Keeps:
			t.keepTerm(a, k, s.Key, s.Was, s.Token)
		case s.Does == outbox.Stores:
			t.noteTerm(a, k, s.Key, s.Token, s.TTL, s.Hold, now, ofStep(k))
		}
	}
}

// keepTerm passes the term of a lock on to its new token, since its TTL was kept, also that
// of a grant whose reply has not left yet. If this redlockd did not grant the lock, the term
// is unknown and is forgotten.
func (t *keyTable) keepTerm(a *attempt, k int, key, from, to string) {
	s, hash := a.call.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.terms.of[hash]
	switch {
	case last.after(a), last.knows(a.masters) && last.token == to && from != to:
	case last.knows(a.masters) && last.token == from:
		next := &term{token: to, began: a.times.began, ttl: last.ttl, spared: last.spared, gone: last.gone, masters: last.masters, expiries: last.expiries, earlier: last.earlier}
		next.ends.Store(last.ends.Load())
		next.later.Store(last.later.Load())
		next.takesKept(last, a.tasks, k)
		s.terms.of[hash] = next
	default:
		delete(s.terms.of, hash)
	}
}

func (t *keyTable) noteTerm(a *attempt, k int, key, token string, ttl, hold, now time.Duration, expiry func(*outbox.Task) int64) {
	next := &term{token: token, began: a.grantBegan(), ttl: ttl, gone: now + hold + 2*a.call.q.cfg.Timeout + cluster.NameSlack,
		masters: a.masters, expiries: expiriesOf(a.tasks, expiry)}
	next.ends.Store(int64(now + ttl))
	a.terms = append(a.terms, next)
	s, hash := a.call.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.terms.of[hash]
	if last.after(a) {
		return // another client has taken the lock, and this reply leaves only now
	}
	if last.knows(a.masters) && last.token == token {
		next.takesKept(last, a.tasks, k)
		switch {
		case a.raises(k):
			next.spared = max(last.spared, time.Duration(last.ends.Load())+a.call.q.cfg.Drift(last.ttl))
		case a.op.renews != nil:
			next.spared = last.spared
			next.earlier = append(slices.Clone(last.earlier[max(0, len(last.earlier)-maxRenewals+1):]), last.expiries)
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

// released forgets a lock that was released: its names and its term.
func (t *keyTable) released(a *attempt) {
	s, hash := a.call.shardOf(a.op.Key)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live.of, t.hash(hash, a.op.Token))
	s.terms.forget(hash, a.op.Token)
}
