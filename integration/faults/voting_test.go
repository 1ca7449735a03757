package faults

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redlockd/redlockd/integration/rig"
)

// votedFor is how long all redlockd must have said that all masters vote before no
// earlier quarantine may be a cause any more. In that time each has looked at each master.
const votedFor = 3 * time.Second

// watchVoting asks each redlockd how many masters vote, until the bench ends, and notes
// the times at which all have said for votedFor that all do.
func (b *bench) watchVoting() {
	var clients []*redis.Client
	for _, r := range b.redlockds {
		c := rig.Direct(r.addr, "")
		defer c.Close()
		clients = append(clients, c)
	}
	all := fmt.Sprintf("\nmasters:%d\r\nmasters_voting:%d\r\n", len(b.masters), len(b.masters))
	for since := b.h.now(); !b.ended(); time.Sleep(200 * time.Millisecond) {
		asked := b.h.now()
		if slices.ContainsFunc(clients, func(c *redis.Client) bool {
			text, err := c.Info(context.Background(), "redlockd").Result()
			return err != nil || !strings.Contains(text, all)
		}) {
			since = b.h.now()
		} else if asked-since >= votedFor {
			b.h.allVote(asked)
		}
	}
}

func (h *history) allVote(at time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.allVoted = append(h.allVoted, at)
}

// endOfQuarantine returns by when a quarantine that began to count at from was certainly
// over at all redlockd, by what they said; forever if they did not.
func (h *history) endOfQuarantine(from time.Duration) time.Duration {
	at, _ := slices.BinarySearch(h.allVoted, from+votedFor)
	if at == len(h.allVoted) {
		return forever
	}
	return h.allVoted[at]
}
