package quorum

import (
	"hash/maphash"
	"sync/atomic"
	"time"
)

// names keeps expiries from being used twice, since (token, expiry) is the
// name of an attempt (V6): attempts on one key with one token and TTL get
// rising ones. It remembers the last of each in a table of fixed size, in
// which others may share a place; that costs them 2 ms at most.
type names struct {
	seed maphash.Seed
	last [nameSlots]atomic.Int64
}

const (
	nameSlots = 1 << 14
	// nameWindow is how close two expiries may come, in milliseconds: those
	// of one TTL that are further apart are of different times.
	nameWindow = 64
)

func newNames() *names { return &names{seed: maphash.MakeSeed()} }

// unique returns an even expiry for an attempt on one master: e, or a little
// more where the attempt before has that.
func (n *names) unique(master int, key, token string, ttl time.Duration, e int64) int64 {
	at := maphash.Comparable(n.seed, name{master, key, token, ttl}) % nameSlots
	for {
		last := n.last[at].Load()
		if last >= e && last-e < nameWindow {
			e = last + 2
		}
		if n.last[at].CompareAndSwap(last, e) {
			return e
		}
	}
}

type name struct {
	master     int
	key, token string
	ttl        time.Duration
}
