package quorum

import (
	"hash/maphash"
	"slices"
	"sync"
	"time"
)

// keyTable holds the queues of those keys of one database that have operations under
// way or waiting. A key without any takes no memory.
type keyTable struct {
	seed maphash.Seed
	// several is held while a call enters more than one queue.
	several sync.Mutex
	shards  [64]keyShard
}

type keyShard struct {
	mu     sync.Mutex
	queues map[string]*keyQueue
	// unused are empty queues to be used for other keys.
	unused []*keyQueue
}

// keyQueue is the operations on one key, in order of arrival. They go out one at a
// time, from the first byte to the verdict (V7). The queue lives as long as it has any.
// shard never changes; the caller must hold its mu for all
// other fields.
type keyQueue struct {
	key     string
	shard   *keyShard
	waiting []*call
	// running is the call under way, with those that share its outcome.
	running *call
	// asleep are the calls that sleep between two attempts. A call that their client
	// sent later waits for them (S1).
	asleep []*call
	// advancing reports whether some goroutine starts calls; it checks the queue again
	// before it leaves.
	advancing bool
}

func (t *keyTable) init() {
	t.seed = maphash.MakeSeed()
	for i := range t.shards {
		t.shards[i].queues = map[string]*keyQueue{}
	}
}

// queue returns the queue of a key, and makes it if there is none. The caller must hold
// mu.
func (s *keyShard) queue(key string) *keyQueue {
	k := s.queues[key]
	if k != nil {
		return k
	}
	if last := len(s.unused) - 1; last >= 0 {
		k, s.unused = s.unused[last], s.unused[:last]
		k.key = key
	} else {
		k = &keyQueue{key: key, shard: s}
	}
	s.queues[key] = k
	return k
}

// maxUnused bounds the unused queues that a shard keeps.
const maxUnused = 64

// tidy removes a queue that nothing needs. The caller must hold mu.
func (s *keyShard) tidy(k *keyQueue) {
	if k.advancing || k.running != nil || len(k.waiting) > 0 || len(k.asleep) > 0 {
		return
	}
	delete(s.queues, k.key)
	if len(s.unused) < maxUnused && cap(k.waiting) <= maxUnused {
		k.key, k.waiting = "", k.waiting[:0]
		s.unused = append(s.unused, k)
	}
}

func (t *keyTable) shard(key string) *keyShard {
	return &t.shards[maphash.String(t.seed, key)%uint64(len(t.shards))]
}

// enter puts a call behind all others on its keys, in one step, and starts those that
// can be started; now is the time. It returns false, and does nothing, if too many
// wait. With first set the call, which has one key, has waited already and goes before the
// others (V5).
func (t *keyTable) enter(c *call, first bool, now time.Duration) bool {
	if c.op.Kind == DecideAll {
		return t.enterAll(c)
	}
	c.turns.Store(1)
	s := t.shard(c.op.Key)
	s.mu.Lock()
	k := s.queue(c.op.Key)
	c.queue = k
	k.wakes(c)
	switch {
	case len(k.waiting) >= maxWaiting && !first:
		s.mu.Unlock()
		return false
	case k.running == nil && !k.advancing && len(k.waiting) == 0 && !k.follows(c):
		// The usual case: no other call waits.
		c.sharing = nil
		k.running, k.advancing = c, true
		c.turns.Store(0)
		s.mu.Unlock()
		c.start(now)
		s.mu.Lock()
		k.advancing = false
	case first:
		k.waiting = slices.Insert(k.waiting, 0, c)
	default:
		k.waiting = append(k.waiting, c)
	}
	s.advance(k)
	return true
}

// enterAll is enter for a call on several keys.
func (t *keyTable) enterAll(c *call) bool {
	if slices.ContainsFunc(c.op.Keys, t.full) {
		return false
	}
	c.turns.Store(int32(len(c.op.Keys)))
	// One such call at a time enters, so that any two of them stand in the same order
	// on all keys they share.
	t.several.Lock()
	for _, key := range c.op.Keys {
		s := t.shard(key)
		s.mu.Lock()
		k := s.queue(key)
		k.waiting = append(k.waiting, c)
		s.mu.Unlock()
	}
	t.several.Unlock()
	for _, key := range c.op.Keys {
		s := t.shard(key)
		s.mu.Lock()
		s.advance(s.queue(key))
	}
	return true
}

// maxWaiting bounds the calls that wait on one key.
const maxWaiting = 1 << 16

// full reports whether no more calls may wait on a key.
func (t *keyTable) full(key string) bool {
	s := t.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.queues[key]
	return k != nil && len(k.waiting) >= maxWaiting
}

// waiting returns how many calls wait for their turn.
func (t *keyTable) waiting() int {
	n := 0
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		for _, k := range s.queues {
			n += len(k.waiting)
		}
		s.mu.Unlock()
	}
	return n
}

// leave ends the run of a call and starts the next ones.
func (t *keyTable) leave(c *call) {
	if c.op.Kind != DecideAll {
		c.queue.leave(c)
		return
	}
	for _, key := range c.op.Keys {
		if k := t.queueOf(key); k != nil {
			k.leave(c)
		}
	}
}

// queueOf returns the queue of a key, nil if it has none.
func (t *keyTable) queueOf(key string) *keyQueue {
	s := t.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queues[key]
}

// leave ends the run of a call on this key. It does nothing if it is not the call's
// turn, for instance in a queue that serves another key by now.
func (k *keyQueue) leave(c *call) {
	k.shard.mu.Lock()
	if k.running != c {
		k.shard.mu.Unlock()
		return
	}
	k.running = nil
	k.shard.advance(k)
}

// advance starts waiting calls until one is under way, or has its turn here and waits
// for its turn on another key. The caller must hold mu; advance releases it. A call
// that ends at once calls leave from within start; then this loop goes on, so the stack
// does not grow.
func (s *keyShard) advance(k *keyQueue) {
	if k.advancing {
		s.mu.Unlock()
		return
	}
	k.advancing = true
	for k.running == nil && k.ready() {
		c := k.take()
		k.running = c
		if c.turns.Add(-1) == 0 {
			s.mu.Unlock()
			c.start(c.q.now())
			s.mu.Lock()
		}
	}
	k.advancing = false
	s.tidy(k)
	s.mu.Unlock()
}
