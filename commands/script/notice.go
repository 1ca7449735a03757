package script

import (
	"fmt"
	"time"
)

// Notice is what a call publishes, or pushes to a list, for clients that wait for a lock.
// It is given when the call was carried out.
type Notice struct {
	// Channel and Message are those of a PUBLISH, or of an SPUBLISH if Sharded.
	Channel, Message string
	Sharded          bool
	// Signal is the list that was filled, with Items from left to right, for TTL; empty
	// for a PUBLISH.
	Signal string
	Items  []string
	TTL    time.Duration
}

// sealedNotice is a notice of one run, whose strings may be sealed.
type sealedNotice struct {
	channel, message value
	sharded          bool
	signal           value
	items            []value
	ttl              linear
}

// notice returns the Notice of a call with these inputs.
func (t *sealedNotice) notice(inputs []string) Notice {
	text := func(v value) string {
		if s, ok := v.(sealed); ok {
			return inputs[s.class]
		}
		s, _ := v.(string)
		return s
	}
	n := Notice{
		Channel: text(t.channel), Message: text(t.message), Sharded: t.sharded,
		Signal: text(t.signal), TTL: millis(t.ttl.of(inputs)),
	}
	for _, item := range t.items {
		n.Items = append(n.Items, text(item))
	}
	return n
}

// overfilled returns an error if a call fills a list with more than it may hold.
func (m *Meaning) overfilled() error {
	if m.Extra == nil {
		return nil
	}
	for _, list := range m.Notices {
		for _, n := range list {
			size := 0
			for _, item := range n.Items {
				size += len(item)
			}
			if size > maxSignalBytes {
				return &RefusedError{Did: fmt.Sprintf(tooMuch, n.Signal, maxSignalItems, maxSignalBytes)}
			}
		}
	}
	return nil
}

// noticesOf returns the Notices of a call with these inputs; nil for none.
func noticesOf(list []sealedNotice, inputs []string) []Notice {
	var all []Notice
	for i := range list {
		all = append(all, list[i].notice(inputs))
	}
	return all
}
