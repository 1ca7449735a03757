package quorum

import (
	"slices"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/outbox"
)

// An attempt's name is (token, expiry), so no two attempts that could still be rolled
// back may have the same name on one master (V6). Those attempts are open: until their
// client was answered or they were rolled back, and until every master to which they
// were sent has answered.

// lockName is the part that the names of attempts on one lock have in common.
type lockName struct{ key, token string }

// openAttempt is one lock of an open attempt, in the list of its key's queue.
type openAttempt struct {
	attempt *attempt
	name    lockName
	queue   *keyQueue
	next    *openAttempt
}

// open notes an attempt before its first byte goes out. It reports whether other
// attempts with its key and token are open, or locks with these may live.
func (t *keyTable) open(a *attempt) (shared bool) {
	switch {
	case a.namesCopies:
		a.openOne = openAttempt{attempt: a, name: lockName{a.op.Key, a.op.Token}}
		return t.note(&a.openOne)
	case a.op.Kind == transact:
		for i := range a.op.steps {
			if s := &a.op.steps[i]; s.Creates() {
				o := &openAttempt{attempt: a, name: lockName{s.Key, s.Token}}
				shared = t.note(o) || shared
			}
		}
	}
	return shared
}

func (t *keyTable) note(o *openAttempt) (shared bool) {
	s, hash := o.attempt.call.shardOf(o.name.key)
	s.mu.Lock()
	defer s.mu.Unlock()
	k := o.attempt.call.queue
	if k == nil || k.key != o.name.key {
		k = s.queue(o.name.key)
	}
	o.queue = k
	_, shared = s.live.of[t.hash(hash, o.name.token)]
	for other := k.open; other != nil; other = other.next {
		shared = shared || other.name == o.name
	}
	o.next, k.open = k.open, o
	return shared
}

// close removes the entries that open made for an attempt.
func (t *keyTable) close(a *attempt) {
	switch {
	case a.namesCopies:
		a.openOne.queue.forget(a)
	case a.op.Kind == transact:
		for i := range a.op.steps {
			if s := &a.op.steps[i]; s.Creates() {
				if k := t.queueOf(s.Key); k != nil {
					k.forget(a)
				}
			}
		}
	}
}

// forget removes an attempt from the open ones. It does nothing if the attempt was
// closed before: a task may be sent, and answered, after that. The queue may serve
// another key by then.
func (k *keyQueue) forget(a *attempt) {
	k.shard.mu.Lock()
	defer k.shard.mu.Unlock()
	for at := &k.open; *at != nil; at = &(*at).next {
		if (*at).attempt == a {
			*at = (*at).next
			k.shard.tidy(k)
			return
		}
	}
}

// taken reports whether another open attempt, or a lock that may live, has this expiry
// on a master.
func (t *keyTable) taken(a *attempt, n lockName, master *cluster.Link, expiry int64) bool {
	s, hash := a.call.shardOf(n.key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if names, ok := s.live.of[t.hash(hash, n.token)]; ok && names.expiries.contain(expiry) {
		return true
	}
	k := s.queues[n.key]
	if k == nil {
		return false
	}
	for o := k.open; o != nil; o = o.next {
		if o.attempt != a && o.name == n && o.attempt.expiryOf(n, master) == expiry {
			return true
		}
	}
	return false
}

// expiryOf returns the expiry of one lock on a master. The attempts on one key are made
// one after the other, so none writes it any more when the next one asks for it.
func (a *attempt) expiryOf(n lockName, master *cluster.Link) int64 {
	i := slices.Index(a.masters.Links, master)
	if i < 0 {
		return 0 // on an earlier list (M8)
	}
	t := &a.tasks[i]
	if a.op.Kind != transact {
		return t.Expiry
	}
	for i := range t.Expiries {
		if a.op.steps[i].Key == n.key {
			return t.Expiries[i]
		}
	}
	return 0
}

// partDone notes that one of the parties that keep the attempt open is done: the client
// or a master. It reports whether that was the last. The caller must hold mu.
func (a *attempt) partDone() bool {
	a.pending--
	return a.pending == 0
}

// answered notes that the client was answered, or never will be. Calls after the first
// do nothing.
func (a *attempt) answered() {
	a.mu.Lock()
	last := !a.wasAnswered && a.partDone()
	a.wasAnswered = true
	a.mu.Unlock()
	if last {
		a.call.db.keys.close(a)
	}
	if a.shortens != nil {
		a.shortens.answered()
	}
}

// namesOf reports whether copies of a lock may bear the attempt's name, because the
// attempt created them.
func (a *attempt) namesOf(key string) bool {
	return a.namesCopies || slices.ContainsFunc(a.op.steps, func(s outbox.Step) bool { return s.Key == key && s.Creates() })
}

// earlierNames returns the names that a renewal's copies on a master may have: an earlier
// renewal may have missed it.
func (a *attempt) earlierNames(master *cluster.Link) (out []int64) {
	n := lockName{a.op.Key, a.op.Token}
	if a.shortens != nil {
		out = append(out, a.shortens.expiryOf(n, master))
	}
	for before := a.op.renews; before != nil; before = before.op.renews {
		if e := before.expiryOf(n, master); e > 0 {
			out = append(out, e)
		}
	}
	return out
}
