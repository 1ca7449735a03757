package script

import "github.com/redlockd/redlockd/commands/script/lua"

// Bounds of one signal list: it only wakes clients, and stores no data.
const (
	maxSignalItems = 16
	maxSignalBytes = 1 << 10
)

// signalList is a signal's content while a run fills it. Two of them are never equal, so
// a filled key counts as written.
type signalList struct {
	items []value // string or sealed
	bytes int
}

// signalling ends a run that pushes to a key not known as a signal. A dry run does not
// end: it records the key and goes on, and then the dry runs start again; no master is
// asked about the key.
type signalling struct{ name string }

func (s signalling) Error() string { return "fills the list " + s.name }

// publish is PUBLISH and SPUBLISH.
func publish(sharded bool) commandFunc {
	return func(r *run, args []value) (value, string) {
		r.Grow(256)
		r.space.notices = append(r.space.notices, sealedNotice{
			channel: r.passed(args[1]), message: r.passed(args[2]), sharded: sharded, ttl: fixedNumber(0),
		})
		return subscriberCount{}, ""
	}
}

// pushTo is LPUSH and RPUSH on a signal.
func pushTo(left bool) commandFunc {
	return func(r *run, args []value) (value, string) {
		k := r.touchAny(args[1])
		switch {
		case !k.signal && r.proving:
			panic(unproved{})
		case !k.signal && r.space.signalKeys != nil:
			r.space.signalKeys[k.name.(string)] = true
			k.signal, k.found, k.now = true, content{}, content{}
		case !k.signal:
			panic(signalling{k.name.(string)})
		}
		list := &signalList{}
		if old, ok := k.now.value.(*signalList); ok {
			list.items, list.bytes = append(list.items, old.items...), old.bytes
		}
		for _, a := range args[2:] {
			item := r.passed(a)
			if s, ok := item.(string); ok {
				list.bytes += len(s)
			}
			if left {
				list.items = append([]value{item}, list.items...)
			} else {
				list.items = append(list.items, item)
			}
			if len(list.items) > maxSignalItems || list.bytes > maxSignalBytes {
				lua.Refuse("keeps data in the list %.40q, redlockd keeps locks only", keyName(r, k))
			}
		}
		k.now = content{exists: true, value: list, expiry: k.now.expiry}
		return signalNumber{}, ""
	}
}

// keyName returns a key's name for an error text.
func keyName(r *run, k *keyModel) string {
	if s, ok := k.name.(sealed); ok {
		return r.form.inputs[s.class]
	}
	name, _ := k.name.(string)
	return name
}

// noticesOfSignals turns what a run has left in signals into notices. A list without an
// expiry would be data, and is refused. A proof gives up where a signal ends up without
// items or expiry: in another call the key may be a lock.
func noticesOfSignals(r *run) {
	for _, k := range r.space.keys {
		list, ok := k.now.value.(*signalList)
		switch {
		case !k.signal, !k.now.exists && !r.proving:
			continue
		case r.proving && (!ok || k.now.expiry.kind != given):
			panic(unproved{})
		case k.now.expiry.kind != given:
			lua.Refuse("keeps the list %.40q without an expiry, redlockd keeps locks only", keyName(r, k))
		}
		r.space.notices = append(r.space.notices, sealedNotice{signal: k.name, items: list.items, ttl: k.now.expiry.after})
	}
}
