package quorum

import (
	"hash/maphash"
	"time"

	"github.com/redlockd/redlockd/quorum/outbox"
)

// A lock that its client was told of is not rolled back any more. But a later
// attempt with the same token may be, and where that one's answer is not known
// its rollback deletes whatever bears its name. So the names of such locks are
// kept, and given to no other attempt, until they are over or released (V6).

// liveNames are the expiries of one lock that was told.
type liveNames struct {
	until    time.Duration
	expiries expiries
}

// hash is what a name is kept under, of its key's hash. Two that share it by chance
// keep the later.
func (t *keyTable) hash(key uint64, token string) uint64 {
	return key*31 ^ maphash.String(t.seed, token)
}

// keep notes the names that a won attempt has created its locks under. Needs the
// attempt's mu.
func (t *keyTable) keep(a *attempt) {
	switch {
	case a.names:
		t.keepOne(a, lockName{a.op.Key, a.op.Token}, a.hold, func(part *outbox.Task) int64 { return part.Expiry })
	case a.op.Kind == transact:
		for k := range a.op.steps {
			if s := &a.op.steps[k]; s.Creates() {
				t.keepOne(a, lockName{s.Key, s.Token}, s.Hold, ofStep(k))
			}
		}
	}
}

func (t *keyTable) keepOne(a *attempt, n lockName, hold time.Duration, expiry func(*outbox.Task) int64) {
	names := liveNames{until: a.times.began + hold + 2*a.call.q.cfg.Timeout + nameSlack, expiries: a.expiriesOf(expiry)}
	s, hash := a.call.shardOf(n.key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live[t.hash(hash, n.token)] = names
	if len(s.live) < 2*s.liveLeft+64 {
		return
	}
	for hash, old := range s.live {
		if old.until < a.times.began {
			delete(s.live, hash)
		}
	}
	s.liveLeft = len(s.live)
}

// released forgets a lock that is over: its names, and until when it may be
// counted on.
func (t *keyTable) released(a *attempt) {
	s, hash := a.call.shardOf(a.op.Key)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, t.hash(hash, a.op.Token))
	s.terms.forget(hash, a.op.Token)
}
