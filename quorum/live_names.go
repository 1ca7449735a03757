package quorum

import (
	"hash/maphash"
	"slices"
	"time"
)

// A lock that its client was told of is not rolled back any more. But a later
// attempt with the same token may be, and where that one's answer is not known
// its rollback deletes whatever bears its name. So the names of such locks are
// kept, and given to no other attempt, until they are over or released (V6).

// liveNames are the expiries of one lock that was told, by master.
type liveNames struct {
	until time.Duration
	few   [fewMasters]int64
	more  []int64
}

// has reports whether any master gave the lock this expiry.
func (n *liveNames) has(expiry int64) bool {
	return n.until > 0 && (slices.Contains(n.few[:], expiry) || slices.Contains(n.more, expiry))
}

func (n *liveNames) set(i int, expiry int64) {
	if i < fewMasters {
		n.few[i] = expiry
		return
	}
	for len(n.more) <= i-fewMasters {
		n.more = append(n.more, 0)
	}
	n.more[i-fewMasters] = expiry
}

// hash is what a name is kept under. Two that share it by chance keep the later.
func (t *keyTable) hash(n lockName) uint64 {
	return maphash.String(t.seed, n.key)*31 ^ maphash.String(t.seed, n.token)
}

// keep notes the names that a won attempt has created its locks under. Needs the
// attempt's mu.
func (t *keyTable) keep(a *attempt) {
	switch {
	case a.names:
		t.keepOne(a, lockName{a.op.Key, a.op.Token}, a.hold, func(task *task) int64 { return task.expiry })
	case a.op.Kind == transact:
		for k := range a.op.steps {
			if s := &a.op.steps[k]; s.creates() {
				t.keepOne(a, lockName{s.key, s.change.Token}, s.hold, func(task *task) int64 {
					if k >= len(task.expiries) {
						return 0 // it was not sent
					}
					return task.expiries[k]
				})
			}
		}
	}
}

func (t *keyTable) keepOne(a *attempt, n lockName, hold time.Duration, expiry func(*task) int64) {
	names := liveNames{until: a.began + hold + 2*a.call.q.cfg.Timeout + nameSlack}
	for i := range a.tasks {
		names.set(i, expiry(&a.tasks[i]))
	}
	s := t.shard(n.key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live[t.hash(n)] = names
	if len(s.live) < 2*s.liveLeft+64 {
		return
	}
	for hash, old := range s.live {
		if old.until < a.began {
			delete(s.live, hash)
		}
	}
	s.liveLeft = len(s.live)
}

// kept returns the names of a lock that was told and may live.
func (t *keyTable) kept(n lockName) liveNames {
	s := t.shard(n.key)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[t.hash(n)]
}

// released forgets the names of a lock that is over.
func (t *keyTable) released(n lockName) {
	s := t.shard(n.key)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, t.hash(n))
}
