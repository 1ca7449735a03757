package script

import (
	"github.com/redlockd/redlockd/commands/script/lua"
	"github.com/redlockd/redlockd/commands/values"
)

// How commands access the keys of a run: touch finds the key, the other functions read
// and write it.

// touch returns the lock that a command names. A signal ends the run: its items are
// unknown.
func (r *run) touch(name value) *keyModel {
	k := r.touchAny(name)
	if k.signal {
		r.unknown(k)
	}
	return k
}

// wrongType is Redis's error for a command on another kind of value.
const wrongType = "WRONGTYPE Operation against a key holding the wrong kind of value"

// touchString is touch for commands that are for strings only.
func (r *run) touchString(name value) (k *keyModel, failure string) {
	k = r.touch(name)
	return k, k.notString()
}

// notString returns the error text if the key holds something that is no string, or "".
func (k *keyModel) notString() string {
	switch k.now.value.(type) {
	case values.Hash, otherKind:
		return wrongType
	}
	return ""
}

// unknown ends a run that looks into a signal. A proof gives up instead of refusing,
// since the key may be a lock in another call.
func (r *run) unknown(k *keyModel) {
	if r.proving {
		panic(unproved{})
	}
	lua.Refuse("uses the list %.40q for more than waking waiting clients, redlockd keeps locks only", keyName(r, k))
}

// touchAny is touch for commands that may be used on signals too.
func (r *run) touchAny(name value) *keyModel {
	if f, ok := name.(float64); ok {
		name = lua.FormatNumber(f, 17)
	}
	if _, ok := name.(sealed); !ok {
		name = r.text(name)
	}
	if k := r.space.find(name); k != nil {
		return k
	}
	r.Grow(256)
	k := r.space.newKey(name)
	r.space.keys = append(r.space.keys, k)
	if r.space.byName != nil {
		r.space.byName[name] = k
	}
	return k
}

// store does what SET does to the key.
func (r *run) store(k *keyModel, v value, e expiry) {
	k.now = content{exists: true, value: r.storable(v), expiry: e}
}

// storable returns v as the string that Redis would store. A sealed input that is stored
// is the token.
func (r *run) storable(v value) value {
	v = r.argument(v)
	if input, ok := v.(sealed); ok && r.proving && r.token < 0 {
		panic(tokenFound(input))
	}
	return v
}

// argument returns v as the string that Redis would receive.
func (r *run) argument(v value) value {
	if text, ok := sealedText(v); ok {
		return text
	}
	if f, ok := v.(float64); ok {
		return lua.FormatNumber(f, 17)
	}
	return r.text(v)
}

// holds reports whether the key holds v.
func (r *run) holds(k *keyModel, v value) bool {
	v = r.argument(v)
	return k.now.exists && lua.Equal(r, k.get(), v)
}

// left returns the remaining time as PTTL and TTL reply it.
func (r *run) left(k *keyModel, seconds bool) value {
	e := k.now.expiry
	switch {
	case !k.now.exists:
		return -2.0
	case e.kind == never:
		return -1.0
	case e.kind == asFound && r.proving:
		return remaining{seconds}
	case e.kind == asFound:
		r.space.readsLeft = true
		e.after = fixedNumber(k.foundMillis)
	}
	l := e.after
	switch {
	case !seconds:
		return l.number()
	case l.class < 0:
		return float64((l.add + 500) / 1000)
	case l.mul%1000 == 0 && l.add%1000 == 0:
		return linear{l.class, l.mul / 1000, l.add / 1000}
	}
	panic(unproved{})
}

// wallClock returns this redlockd's time in unix milliseconds. It is needed for absolute
// expiries (C3), with which nothing is proved.
func (r *run) wallClock() int64 {
	if r.proving {
		panic(unproved{})
	}
	if r.space.clock == nil {
		lua.Refuse("uses an absolute time, which is not kept here")
	}
	if r.time == 0 {
		// One time for the whole run, as in Redis.
		r.time = r.space.clock()
	}
	return r.time
}
