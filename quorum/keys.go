package quorum

import (
	"hash/maphash"
	"sync"
)

// keyTable holds the queues of the keys of one database that have operations
// under way or waiting. A key without any takes no memory.
type keyTable struct {
	seed   maphash.Seed
	shards [64]keyShard
}

type keyShard struct {
	mu     sync.Mutex
	queues map[string]*keyQueue
}

// keyQueue is the operations on one key, in order of arrival: they go out one
// at a time, from the first byte to the verdict (V7). All fields need the
// shard's mutex.
type keyQueue struct {
	key     string
	waiting []*call
	// running is the call under way, with those that share its outcome.
	running *call
	// advancing is whether some goroutine starts calls; it looks again before
	// it leaves.
	advancing bool
}

func (t *keyTable) init() {
	t.seed = maphash.MakeSeed()
	for i := range t.shards {
		t.shards[i].queues = map[string]*keyQueue{}
	}
}

func (t *keyTable) shard(key string) *keyShard {
	return &t.shards[maphash.String(t.seed, key)%uint64(len(t.shards))]
}

// enter puts a call behind all others on its key, or before them if it has
// waited already (V5), and starts what can be started.
func (t *keyTable) enter(c *call, first bool) {
	s := t.shard(c.op.Key)
	s.mu.Lock()
	k := s.queues[c.op.Key]
	if k == nil {
		k = &keyQueue{key: c.op.Key}
		s.queues[c.op.Key] = k
	}
	if first {
		k.waiting = append([]*call{c}, k.waiting...)
	} else {
		k.waiting = append(k.waiting, c)
	}
	s.advance(k)
}

// leave ends the run of a call and starts the next one.
func (t *keyTable) leave(c *call) {
	s := t.shard(c.op.Key)
	s.mu.Lock()
	k := s.queues[c.op.Key]
	if k == nil || k.running != c {
		s.mu.Unlock()
		return
	}
	k.running = nil
	s.advance(k)
}

// advance starts waiting calls until one is under way. It is entered with the
// mutex held and leaves it free. A call that ends at once calls leave from
// within start; then this loop goes on, so the stack does not grow.
func (s *keyShard) advance(k *keyQueue) {
	if k.advancing {
		s.mu.Unlock()
		return
	}
	k.advancing = true
	for k.running == nil && len(k.waiting) > 0 {
		c := k.take()
		k.running = c
		s.mu.Unlock()
		c.start()
		s.mu.Lock()
	}
	k.advancing = false
	if k.running == nil && len(k.waiting) == 0 {
		delete(s.queues, k.key)
	}
	s.mu.Unlock()
}

// take removes the first waiting call, and hands it its neighbours of the
// same kind that share its fan-out (V7): all of them arrived before its first
// byte goes out.
func (k *keyQueue) take() *call {
	c := k.waiting[0]
	k.waiting[0] = nil
	k.waiting = k.waiting[1:]
	c.sharing = nil
	for c.shares() && len(k.waiting) > 0 && k.waiting[0].shares() && k.waiting[0].op.Kind == c.op.Kind {
		c.sharing = append(c.sharing, k.waiting[0])
		k.waiting[0] = nil
		k.waiting = k.waiting[1:]
	}
	return c
}
