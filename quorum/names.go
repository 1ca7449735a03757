package quorum

import "slices"

// An attempt's name is (token, expiry), so no two that could still be rolled
// back may have the same on one master (V6). The attempts that could are open:
// until their client has been told or they were undone, and until every master
// they went out to has answered.

// lockName is what the attempts with one name have in common.
type lockName struct{ key, token string }

// open notes an attempt before its first byte goes out.
func (t *keyTable) open(a *attempt) {
	for _, n := range a.lockNames() {
		s := t.shard(n.key)
		s.mu.Lock()
		s.open[n] = append(s.open[n], a)
		s.mu.Unlock()
	}
}

// close forgets it.
func (t *keyTable) close(a *attempt) {
	for _, n := range a.lockNames() {
		s := t.shard(n.key)
		s.mu.Lock()
		rest := slices.DeleteFunc(s.open[n], func(o *attempt) bool { return o == a })
		if len(rest) == 0 {
			delete(s.open, n)
		} else {
			s.open[n] = rest
		}
		s.mu.Unlock()
	}
}

// taken is whether an open attempt has an expiry on a master.
func (t *keyTable) taken(a *attempt, n lockName, master *lane, expiry int64) bool {
	s := t.shard(n.key)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.open[n] {
		if o != a && o.expiryOf(n, master) == expiry {
			return true
		}
	}
	return false
}

// lockNames are the locks that the attempt may create.
func (a *attempt) lockNames() []lockName {
	switch a.op.Kind {
	case Acquire, AcquireOrExtend:
		return []lockName{{a.op.Key, a.op.Token}}
	case transact:
		var out []lockName
		for i := range a.op.steps {
			if s := &a.op.steps[i]; s.creates() {
				out = append(out, lockName{s.key, s.change.Token})
			}
		}
		return out
	default:
		return nil
	}
}

// expiryOf is the expiry of one lock on a master. The attempts on one key are
// made one after the other, so it is not written any more when it is asked for
// by the next.
func (a *attempt) expiryOf(n lockName, master *lane) int64 {
	i := slices.Index(a.masters.lanes, master)
	if i < 0 {
		return 0 // on an earlier list (M8)
	}
	t := &a.tasks[i]
	if a.op.Kind != transact {
		return t.expiry
	}
	for i := range t.expiries {
		if a.op.steps[i].key == n.key {
			return t.expiries[i]
		}
	}
	return 0
}

// settled notes that a part of what keeps the attempt open is over: the
// client, or a master. Needs mu, and returns whether it was the last.
func (a *attempt) settled() bool {
	a.pending--
	return a.pending == 0
}

// told is called when the client knows, or never will, and once only.
func (a *attempt) told() {
	a.mu.Lock()
	last := !a.wasTold && a.settled()
	a.wasTold = true
	a.mu.Unlock()
	if last {
		a.call.db.keys.close(a)
	}
}
