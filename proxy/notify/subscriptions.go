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

// Subscriptions are what one session is subscribed to, by kind. They belong to its
// reading goroutine. The zero value is ready.
type Subscriptions struct {
	names [Kinds]map[string]struct{}
	size  int // of the names, about
}

// Count is how many there are.
func (sub *Subscriptions) Count() int {
	return len(sub.names[Channel]) + len(sub.names[Pattern]) + len(sub.names[Shard])
}

// Counts are how many there are of each kind.
func (sub *Subscriptions) Counts() (n [Kinds]int) {
	for kind := range sub.names {
		n[kind] = len(sub.names[kind])
	}
	return n
}

// Total is the number that a reply to a subscription of this kind bears.
func (sub *Subscriptions) Total(kind int) int64 {
	if kind == Shard {
		return int64(len(sub.names[Shard]))
	}
	return int64(len(sub.names[Channel]) + len(sub.names[Pattern]))
}

// Size is about the memory in bytes that they take.
func (sub *Subscriptions) Size() int { return sub.size }

// Cost is about the memory in bytes that one subscription takes.
func Cost(name string) int { return len(name) + 64 }

// Names are those of a kind, sorted.
func (sub *Subscriptions) Names(kind int) []string { return slices.Sorted(maps.Keys(sub.names[kind])) }

// Add notes one; it may be there.
func (sub *Subscriptions) Add(kind int, name string) {
	if sub.names[kind] == nil {
		sub.names[kind] = make(map[string]struct{})
	}
	if _, there := sub.names[kind][name]; !there {
		sub.names[kind][name] = struct{}{}
		sub.size += Cost(name)
	}
}

// Drop ends one; it may not be there.
func (sub *Subscriptions) Drop(kind int, name string) {
	if _, there := sub.names[kind][name]; there {
		delete(sub.names[kind], name)
		sub.size -= Cost(name)
	}
}
