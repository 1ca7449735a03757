package script

import (
	"math"
	"slices"

	"github.com/redlockd/redlockd/commands/script/lua"
)

// Bounds of one signal list, in items and in their bytes: it only wakes clients, and
// stores no data.
const (
	maxSignalItems = 16
	maxSignalBytes = 1 << 10
)

// tooMuch is what a script does that puts more than that into a list.
const tooMuch = "keeps data in the list %.40q, of more than %d items or %d bytes, redlockd keeps locks only"

// signalList is a signal's content while a run fills it. Two of them are never equal, so
// a filled key counts as written.
type signalList struct {
	items []value // string or sealed
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
		k, items := r.signal(args[1])
		for _, a := range args[2:] {
			item := r.passed(a)
			if left {
				items = append([]value{item}, items...)
			} else {
				items = append(items, item)
			}
			if len(items) > maxSignalItems || textBytes(items) > maxSignalBytes {
				lua.Refuse(tooMuch, keyName(r, k), maxSignalItems, maxSignalBytes)
			}
		}
		k.now = content{exists: true, value: &signalList{items}, expiry: k.now.expiry}
		return signalNumber{}, ""
	}
}

// trim is LTRIM on a signal, with positions as GETRANGE has them.
func trim(r *run, args []value) (value, string) {
	from, to, failure := r.positions(args[2], args[3])
	if failure != "" {
		return nil, failure
	}
	k, items := r.signal(args[1])
	if (from < 0) == (to < 0) && to-from < maxSignalItems {
		k.bounded = true
	}
	from, to = within(from, to, int64(len(items)))
	if from > to {
		k.remove()
	} else {
		k.now.value = &signalList{items[from : to+1]}
	}
	return lua.Record(r.Budget, "ok", "OK"), ""
}

// signal returns the list that a command names, and a copy of what the run has put there.
// What earlier calls left is not known, and the notice replaces it.
func (r *run) signal(name value) (k *keyModel, items []value) {
	k = r.touchAny(name)
	switch {
	case !k.signal && r.proving:
		panic(unproved{})
	case !k.signal && r.space.signalKeys != nil:
		r.space.signalKeys[k.name.(string)] = true
		k.signal, k.found, k.now = true, content{}, content{}
	case !k.signal:
		panic(signalling{k.name.(string)})
	}
	if list, ok := k.now.value.(*signalList); ok {
		items = slices.Clone(list.items)
	}
	return k, items
}

// textBytes returns the bytes of the items that are not sealed; Understand counts those
// that are.
func textBytes(items []value) (n int) {
	for _, item := range items {
		if s, ok := item.(string); ok {
			n += len(s)
		}
	}
	return n
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
// expiry that could grow from call to call would be data, and is refused. A proof gives up
// where a signal ends up without items, or would be refused: in another call the key may
// be a lock.
func noticesOfSignals(r *run) {
	for _, k := range r.space.keys {
		list, filled := k.now.value.(*signalList)
		if !k.signal || !filled && !r.proving {
			continue
		}
		expires := k.now.expiry.kind == given
		switch {
		case r.proving && (!filled || !expires && !k.bounded):
			panic(unproved{})
		case !expires && !k.bounded:
			lua.Refuse("keeps the list %.40q without an expiry, redlockd keeps locks only", keyName(r, k))
		}
		ttl := k.now.expiry.after
		if !expires {
			ttl = fixedNumber(math.MaxInt64)
		}
		r.space.notices = append(r.space.notices, sealedNotice{signal: k.name, items: list.items, ttl: ttl})
	}
}
