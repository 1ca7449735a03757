package notify

import (
	"maps"
	"slices"
)

// The three kinds of subscription.
const (
	Channel = iota
	Pattern
	Shard
	Kinds
)

// Subscriptions are the names that one session is subscribed to, by kind. They belong to
// its reading goroutine. The zero value is ready.
type Subscriptions struct {
	names [Kinds]map[string]struct{}
	size  int // about the bytes that they take
}

// Count returns the number of subscriptions.
func (sub *Subscriptions) Count() int {
	return len(sub.names[Channel]) + len(sub.names[Pattern]) + len(sub.names[Shard])
}

// Counts returns the number of subscriptions of each kind.
func (sub *Subscriptions) Counts() (n [Kinds]int) {
	for kind := range sub.names {
		n[kind] = len(sub.names[kind])
	}
	return n
}

// Total returns the number that the reply to a command of this kind contains: patterns
// count as channels.
func (sub *Subscriptions) Total(kind int) int64 {
	if kind == Shard {
		return int64(len(sub.names[Shard]))
	}
	return int64(len(sub.names[Channel]) + len(sub.names[Pattern]))
}

// Size returns about the bytes that the subscriptions take.
func (sub *Subscriptions) Size() int { return sub.size }

// Cost returns about the bytes that one subscription takes.
func Cost(name string) int { return len(name) + 64 }

// Names returns the names of a kind, sorted.
func (sub *Subscriptions) Names(kind int) []string { return slices.Sorted(maps.Keys(sub.names[kind])) }

// Add adds a subscription, and reports whether it is new.
func (sub *Subscriptions) Add(kind int, name string) bool {
	if sub.names[kind] == nil {
		sub.names[kind] = make(map[string]struct{})
	}
	_, there := sub.names[kind][name]
	if !there {
		sub.names[kind][name] = struct{}{}
		sub.size += Cost(name)
	}
	return !there
}

// Drop removes a subscription, and reports whether it was there.
func (sub *Subscriptions) Drop(kind int, name string) bool {
	_, there := sub.names[kind][name]
	if there {
		delete(sub.names[kind], name)
		sub.size -= Cost(name)
	}
	return there
}
