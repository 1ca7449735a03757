package script

// keyModel is the one key a script may use, as a Redis server would keep it.
// For several keys it would become a map of these by name.
type keyModel struct {
	name  value // sealed or string; nil until a command names it
	found content
	now   content
	// foundMillis is what is left of the found expiry, for real runs.
	foundMillis int64
	// clock is the masters' time in unix milliseconds, or nil.
	clock func() int64
}

// content is what a key holds; the zero value is an absent key.
type content struct {
	exists bool
	value  value // sealed, stored or string
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

// constant is a linear value that depends on no input.
func constant(n int64) linear { return linear{class: -1, add: n} }

// number is l as a Lua value.
func (l linear) number() value {
	if l.class < 0 {
		return float64(l.add)
	}
	return l
}

// touch says that a command names this key.
func (r *run) touch(name value) {
	if f, ok := name.(float64); ok {
		name = formatNumber(f, 17)
	}
	if _, ok := name.(sealed); !ok {
		name = r.text(name)
	}
	switch {
	case r.key.name == nil:
		r.key.name = name
	case r.key.name != name:
		r.secondKey(r.key.name, name)
	}
}

// secondKey refuses two keys; a sealed name and a real one may be the same.
func (r *run) secondKey(a, b value) {
	_, sealedA := a.(sealed)
	_, sealedB := b.(sealed)
	if sealedA != sealedB {
		r.reveal(a)
		r.reveal(b)
	}
	refuse("uses 2 keys, redlockd can only keep one at a time in a script")
}

// store is what SET does to the key.
func (r *run) store(v value, e expiry) {
	r.key.now = content{exists: true, value: r.storable(v), expiry: e}
}

// storable is v as the string that Redis stores. A sealed input that is
// stored is the token.
func (r *run) storable(v value) value {
	if l, ok := v.(linear); ok {
		v = r.toString(l)
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
		return formatNumber(v, 17)
	}
	return r.text(v)
}

func (r *run) remove() { r.key.now = content{} }

// left is the remaining time as PTTL and TTL tell it.
func (r *run) left(seconds bool) value {
	e := r.key.now.expiry
	switch {
	case !r.key.now.exists:
		return -2.0
	case e.kind == never:
		return -1.0
	case e.kind == asFound && r.proving:
		return remaining{seconds}
	case e.kind == asFound:
		e.after = constant(r.key.foundMillis)
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

// masterTime is for absolute expiries, which are not proved.
func (r *run) masterTime() int64 {
	if r.proving {
		panic(unproved{})
	}
	if r.key.clock == nil {
		refuse("uses an absolute time, which is not kept here")
	}
	return r.key.clock()
}

// wrote tells whether the key is not as it was found.
func (k *keyModel) wrote() bool { return k.found != k.now }
