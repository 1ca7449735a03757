package script

import "time"

// Notice is what a call tells those who wait for a lock, besides what it does
// to the lock. It is told when the call was carried out.
type Notice struct {
	// Channel and Message are those of a PUBLISH, or of an SPUBLISH if
	// Sharded.
	Channel, Message string
	Sharded          bool
	// Signal is the list that was filled, with Items from left to right, for
	// as long as TTL; empty for a PUBLISH.
	Signal string
	Items  []string
	TTL    time.Duration
}

// Bounds of one signal list: it wakes somebody and stores nothing.
const (
	maxSignalItems = 16
	maxSignalBytes = 1 << 10
)

// signalList is what a signal holds while a run fills it. Two of them are
// never equal, so a filled key counts as written.
type signalList struct {
	items []string
	bytes int
}

// signalling ends a run that pushes to a key not yet known for a signal: the
// dry runs start again, and no master is asked about it.
type signalling struct{ name string }

// heard stands for the number of those who hear a message, which is known
// only when it is too late to act upon.
type heard struct{}

// publish is PUBLISH and SPUBLISH.
func publish(sharded bool) commandFunc {
	return func(r *run, args []value) (value, string) {
		if r.proving {
			panic(unproved{})
		}
		r.grow(256)
		r.space.notices = append(r.space.notices, Notice{
			Channel: r.word(args[1]), Message: r.word(args[2]), Sharded: sharded,
		})
		return heard{}, ""
	}
}

// pushTo is LPUSH and RPUSH on a signal.
func pushTo(left bool) commandFunc {
	return func(r *run, args []value) (value, string) {
		if r.proving {
			panic(unproved{})
		}
		k := r.touch(args[1])
		if !k.signal {
			panic(signalling{k.name.(string)})
		}
		list := &signalList{}
		switch old := k.now.value.(type) {
		case *signalList:
			list.items, list.bytes = append(list.items, old.items...), old.bytes
		case string:
			return nil, "WRONGTYPE Operation against a key holding the wrong kind of value"
		}
		for _, a := range args[2:] {
			item := r.word(a)
			list.bytes += len(item)
			if left {
				list.items = append([]string{item}, list.items...)
			} else {
				list.items = append(list.items, item)
			}
			if len(list.items) > maxSignalItems || list.bytes > maxSignalBytes {
				refuse("keeps data in the list %.40q, redlockd keeps locks only", k.name)
			}
		}
		k.now = content{exists: true, value: list, expiry: k.now.expiry}
		return float64(len(list.items)), ""
	}
}

// signalled turns what a run has left in signals into notices. A list that
// stays is data: a signal has an end.
func (s *space) signalled() {
	for _, k := range s.keys {
		list, ok := k.now.value.(*signalList)
		switch {
		case !k.signal || !k.now.exists:
			continue
		case !ok:
			refuse("uses %.40q both as a list and as a string", k.name)
		case k.now.expiry.kind != given:
			refuse("keeps the list %.40q without an expiry, redlockd keeps locks only", k.name)
		}
		s.notices = append(s.notices, Notice{
			Signal: k.name.(string), Items: list.items, TTL: millis(k.now.expiry.after.add),
		})
	}
}
