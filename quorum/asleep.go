package quorum

import "slices"

// While a call sleeps between two attempts, other calls on its key may run, except
// those that the same client sent later (S1). A call on several keys sleeps in its turn: it
// would have to go behind the others then (keys.go), and behind what its client sent later.

// sleeps notes that the running call of a key sleeps before its next attempt, and ends
// its run, so that other calls can go.
func (t *keyTable) sleeps(c *call) {
	if c.client != nil {
		k := c.queue
		k.shard.mu.Lock()
		k.asleep = append(k.asleep, c)
		k.shard.mu.Unlock()
	}
	t.leave(c)
}

// wakes removes c from the sleeping calls. The caller must hold the shard's mu.
func (k *keyQueue) wakes(c *call) {
	if len(k.asleep) > 0 {
		k.asleep = slices.DeleteFunc(k.asleep, func(other *call) bool { return other == c })
	}
}

// follows reports whether another call of the same client sleeps, which c must not
// overtake. The caller must hold the shard's mu.
func (k *keyQueue) follows(c *call) bool {
	return slices.ContainsFunc(k.asleep, func(other *call) bool { return other.client == c.client && other != c })
}

// ready reports whether a waiting call can be taken, and moves it to the front. A call on
// several keys never goes before another one that waits for a sleeping call: each of them
// might then wait for the other one on another key. The caller must hold the shard's mu.
func (k *keyQueue) ready() bool {
	at := 0
	if len(k.asleep) > 0 {
		several := false
		at = slices.IndexFunc(k.waiting, func(c *call) bool {
			stays := several && c.op.Kind == DecideAll || k.follows(c)
			several = several || c.op.Kind == DecideAll
			return !stays
		})
	}
	if at < 0 || len(k.waiting) == 0 {
		return false
	}
	if c := k.waiting[at]; at > 0 {
		copy(k.waiting[1:at+1], k.waiting[:at])
		k.waiting[0] = c
	}
	return true
}
