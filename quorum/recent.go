package quorum

import (
	"time"

	"github.com/redlockd/redlockd/quorum/outbox"
)

// recent remembers what was granted a moment ago: right after a grant the
// expiry may lie further ahead than the hold, by as much as a round trip, and
// no read may tell more than was asked for (V3), unless another redlockd has
// prolonged it since. It is of fixed size; what does not fit is forgotten. It needs
// its shard's mutex.
type recent struct {
	grants [16]recentGrant
	next   int
}

type recentGrant struct {
	key   string
	ttl   time.Duration
	began time.Duration
	// expiries are what it gave the masters of a list.
	masters  *masterList
	expiries expiries
}

func (r *recent) add(g recentGrant) {
	r.grants[r.next%len(r.grants)] = g
	r.next++
}

// last is the last grant of a key, if it is younger than age.
func (r *recent) last(key string, now, age time.Duration) (recentGrant, bool) {
	for i := range r.grants {
		// From the newest to the oldest.
		g := &r.grants[(r.next+len(r.grants)-1-i)%len(r.grants)]
		if g.key == key && g.ttl > 0 && now-g.began < age {
			return *g, true
		}
	}
	return recentGrant{}, false
}

// granted notes a grant, for reads that come at once.
func (a *attempt) granted(key string, ttl time.Duration, expiry func(*outbox.Task) int64) {
	g := recentGrant{key, ttl, a.times.began, a.masters, a.expiriesOf(expiry)}
	s, _ := a.call.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recent.add(g)
}

// tellable is the most that a read of what remains of a token's lock may tell.
func (a *attempt) tellable(token string, left time.Duration) time.Duration {
	now := a.call.q.now()
	s, _ := a.call.shardOf(a.op.Key)
	s.mu.Lock()
	// A grant's expiry is ahead by a timeout at most, see sawClock.
	g, ok := s.recent.last(a.op.Key, now, 4*a.call.q.cfg.Timeout)
	s.mu.Unlock()
	if ok && g.masters == a.masters && a.unchanged(token, &g.expiries) {
		left = min(left, max(g.ttl-(now-g.began), time.Millisecond))
	}
	return min(left, a.call.q.cfg.MaxTTL)
}
