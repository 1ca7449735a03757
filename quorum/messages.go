package quorum

import (
	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/pubsub"
)

// Message and Subscription are what travels between redlockd, and the name by which it is
// heard.
type (
	Message      = pubsub.Message
	Subscription = pubsub.Subscription
)

// Plain is the Kind of a message that did not come from a redlockd.
const Plain = pubsub.Plain

// Bus carries messages to and from the other instances (S7). All its methods are safe for
// concurrent use; none blocks.
type Bus interface {
	// Publish sends a message to those that subscribe to its channel elsewhere. kind and
	// parts are passed on as they are; kind is not Plain.
	Publish(kind byte, channel string, parts ...string)
	// Subscribe calls ready once: when a quorum has confirmed the subscription, or after
	// timeout. ready must neither block nor call the bus.
	Subscribe(s Subscription, ready func())
	// Unsubscribe takes one Subscribe back.
	Unsubscribe(s Subscription)
}

// Bus returns the bus, which calls deliver for each message of another instance, from several
// goroutines. deliver must not block.
func (q *Quorum) Bus(deliver func(Message)) Bus {
	q.bus.Deliver(deliver)
	return q.bus
}

// openBus makes the bus follow the masters. Embedded ones belong to one instance alone.
func (q *Quorum) openBus(log hclog.Logger) {
	q.bus = pubsub.New(pubsub.Config{Timeout: q.cfg.Timeout, RunID: q.cluster.RunID, Log: log, Now: q.now})
	if !q.cfg.Masters[0].Embedded {
		q.cluster.Follow(q.bus.Follow)
	}
}
