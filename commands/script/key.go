package script

import "github.com/redlockd/redlockd/commands/script/lua"

// keyModel is one key, as a Redis server would keep it.
type keyModel struct {
	name  value // sealed or string; nil until a command names it
	found content
	now   content
	// foundMillis is what is left of the found expiry, for real runs.
	foundMillis int64
	// signal is whether the key is a list that wakes those who wait
	// (publish.go); no master has it.
	signal bool
}

// content is what a key holds; the zero value is an absent key.
type content struct {
	exists bool
	value  value // sealed, stored, string or *signalList
	expiry expiry
}

type expiryKind uint8

const (
	never   expiryKind = iota
	asFound            // not touched by the script
	given              // after: milliseconds
)

type expiry struct {
	kind  expiryKind
	after linear
}

// fixedNumber is a linear value that depends on no input.
func fixedNumber(n int64) linear { return linear{class: -1, add: n} }

// number is l as a Lua value.
func (l linear) number() value {
	if l.class < 0 {
		return float64(l.add)
	}
	return l
}

// store is what SET does to the key.
func (r *run) store(k *keyModel, v value, e expiry) {
	k.now = content{exists: true, value: r.storable(v), expiry: e}
}

// storable is v as the string that Redis stores. A sealed input that is
// stored is the token.
func (r *run) storable(v value) value {
	if text, ok := sealedText(v); ok {
		v = text
	}
	switch v := v.(type) {
	case sealed:
		if r.proving && r.token < 0 {
			panic(wanted(v))
		}
		return v
	case stored:
		return v
	case float64:
		return lua.FormatNumber(v, 17)
	}
	return r.text(v)
}

func (k *keyModel) remove() { k.now = content{} }

// held is GET's reply: the value, or Lua's false for null.
func (k *keyModel) held() value {
	if !k.now.exists {
		return false
	}
	return k.now.value
}

// holds reports whether the key holds v.
func (r *run) holds(k *keyModel, v value) bool {
	if f, ok := v.(float64); ok {
		v = lua.FormatNumber(f, 17)
	}
	return k.now.exists && lua.Equal(r, k.held(), v)
}

// left is the remaining time as PTTL and TTL tell it.
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

// wrote tells whether the key is not as it was found.
func (k *keyModel) wrote() bool { return k.found != k.now }
