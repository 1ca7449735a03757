package quorum

import "slices"

// While a call sleeps between two attempts, other calls on its key may run, except
// those that the same client sent later (S1).

// sleeps notes that the running call of a key sleeps before its next attempt, and ends
// its run, so that other calls can go.
func (t *keyTable) sleeps(c *call) {
	if c.op.Kind != DecideAll && c.client != nil {
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
// overtake. A call on several keys never waits for a sleeping one, since that might
// wait for it on another key. The caller must hold the shard's mu.
func (k *keyQueue) follows(c *call) bool {
	if c.op.Kind == DecideAll {
		return false
	}
	return slices.ContainsFunc(k.asleep, func(other *call) bool { return other.client == c.client && other != c })
}

// ready reports whether a waiting call can be taken, and moves it to the front. The
// caller must hold the shard's mu.
func (k *keyQueue) ready() bool {
	at := 0
	if len(k.asleep) > 0 {
		at = slices.IndexFunc(k.waiting, func(c *call) bool { return !k.follows(c) })
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
