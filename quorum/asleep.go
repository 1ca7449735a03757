package quorum

import "slices"

// A call that sleeps between two attempts lets others on its key go meanwhile, but
// not what its own client has asked for since (S1).

// sleeps notes that the call under way on a key sleeps before its next attempt,
// which lets others go, and ends its run.
func (t *keyTable) sleeps(c *call) {
	if c.op.Kind != DecideAll && c.client != nil {
		k := c.queue
		k.shard.mu.Lock()
		k.asleep = append(k.asleep, c)
		k.shard.mu.Unlock()
	}
	t.leave(c)
}

// wakes needs the mutex.
func (k *keyQueue) wakes(c *call) {
	if len(k.asleep) > 0 {
		k.asleep = slices.DeleteFunc(k.asleep, func(other *call) bool { return other == c })
	}
}

// follows reports whether a call's client has asked for something on the key before
// that sleeps. One on several keys waits for nobody: another one may wait for it
// on another key. Needs the mutex.
func (k *keyQueue) follows(c *call) bool {
	if c.op.Kind == DecideAll {
		return false
	}
	return slices.ContainsFunc(k.asleep, func(other *call) bool { return other.client == c.client && other != c })
}

// ready reports whether a call can be taken, and puts it first. Needs the mutex.
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
