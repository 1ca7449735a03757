package quorum

import (
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/tail"
)

// recent remembers the grants of a moment ago. Right after a grant the expiry may be
// further ahead than the hold, by as much as a round trip, and no read may answer more
// than was asked for (V3), unless another redlockd has prolonged the lock since. It is
// of fixed size; the oldest grants are overwritten. The caller must hold the shard's
// mu.
type recent struct {
	grants [16]recentGrant
	next   int
}

type recentGrant struct {
	key   string
	ttl   time.Duration
	began time.Duration
	// ends are those that the attempt gave the masters of this list.
	masters *cluster.List
	attempt tail.ID
	ends    ends
}

func (r *recent) add(g recentGrant) {
	r.grants[r.next%len(r.grants)] = g
	r.next++
}

// last returns the last grant of a key, if it is younger than age.
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
