package quorum

import "time"

// recent remembers what was granted a moment ago: right after a grant the
// expiry may lie further ahead than the hold, by as much as a round trip, and
// no read may tell more than was asked for (V3). It is of fixed size; what
// does not fit is forgotten. It needs its shard's mutex.
type recent struct {
	grants [16]recentGrant
	next   int
}

type recentGrant struct {
	key   string
	ttl   time.Duration
	began time.Duration
}

func (r *recent) add(key string, ttl, began time.Duration) {
	r.grants[r.next%len(r.grants)] = recentGrant{key, ttl, began}
	r.next++
}

// limit is the most that a read of the key may tell, where its last grant is
// younger than age.
func (r *recent) limit(key string, ttl, now, age time.Duration) time.Duration {
	for i := range r.grants {
		// From the newest to the oldest.
		g := &r.grants[(r.next+len(r.grants)-1-i)%len(r.grants)]
		if g.key == key && g.ttl > 0 && now-g.began < age {
			return min(ttl, max(g.ttl-(now-g.began), time.Millisecond))
		}
	}
	return ttl
}

// granted notes a grant, for reads that come at once.
func (a *attempt) granted(key string, ttl time.Duration) {
	s, _ := a.call.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recent.add(key, ttl, a.times.began)
}

// tellable is the most that a read of the key may tell.
func (t *keyTable) tellable(key string, ttl, now, age time.Duration) time.Duration {
	s := t.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.recent.limit(key, ttl, now, age)
}
