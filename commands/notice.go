package commands

import (
	"time"

	"github.com/redlockd/redlockd/commands/script"
)

// Notice is the news of a release for clients that wait for the lock: a message on a
// channel, or a list that wakes a client which pops from it.
type Notice struct {
	DB int
	// Channel and Message are published, to shard subscribers if Sharded.
	Channel, Message string
	Sharded          bool
	// Signal is the list, if not empty: it then holds Items from left to right, and
	// nothing else, for TTL. Lock is the key that was released, empty if it is not known.
	Signal string
	Items  []string
	TTL    time.Duration
	Lock   string
}

func noticesOf(db int, lock string, list []script.Notice) []Notice {
	var all []Notice
	for _, n := range list {
		all = append(all, Notice{
			DB: db, Channel: n.Channel, Message: n.Message, Sharded: n.Sharded,
			Signal: n.Signal, Items: n.Items, TTL: n.TTL, Lock: lock,
		})
	}
	return all
}
