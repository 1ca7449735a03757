package script

import (
	"math"
)

// reveal hands back v if it is a real value, and ends the run if it is
// sealed: whatever the caller was about to do looks into it.
func (r *run) reveal(v value) value {
	switch v := v.(type) {
	case sealed:
		panic(leak(v))
	case linear:
		panic(leak{v.class})
	case stored, remaining:
		panic(unproved{})
	case unseen:
		if r.proving {
			panic(unproved{})
		}
		refuse("uses the length of a list, redlockd keeps locks only")
	case subscriberCount:
		refuse("uses the number of receivers of its PUBLISH")
	}
	return v
}

// equal is ==. Of sealed strings it knows: two classes differ, the stored
// value is not the token (where it is, the model hands out the token itself).
func (r *run) equal(a, b value) bool {
	if typeName(a) != typeName(b) {
		return false
	}
	switch typeName(a) {
	case "number":
		return r.equalNumbers(a, b)
	case "string":
		return r.equalStrings(a, b)
	}
	return a == b
}

func (r *run) equalStrings(a, b value) bool {
	if _, ok := b.(stored); ok {
		a, b = b, a
	}
	_, isStored := a.(stored)
	other, isSealed := b.(sealed)
	switch {
	case isStored && isSealed && r.token < 0:
		panic(wanted(other))
	case isStored && isSealed && other.class == r.token:
		return false
	case isStored:
		if _, same := b.(stored); !same {
			panic(unproved{})
		}
		return true
	}
	mine, alsoSealed := a.(sealed)
	if isSealed && alsoSealed {
		return mine.class == other.class
	}
	return r.reveal(a) == r.reveal(b)
}

// interval is what is known of a number: all its values lie within.
func interval(v value) (lo, hi float64) {
	switch v := v.(type) {
	case float64:
		return v, v
	case linear:
		lo, hi := v.bounds()
		return float64(lo), float64(hi)
	case remaining:
		if v.seconds {
			return 0, math.Inf(1)
		}
		return 1, math.Inf(1)
	}
	return math.NaN(), math.NaN()
}

// real hands back two numbers whose intervals could not decide.
func (r *run) real(a, b value) (float64, float64) {
	if _, ok := b.(remaining); ok {
		panic(unproved{})
	}
	return r.reveal(a).(float64), r.reveal(b).(float64)
}

func (r *run) equalNumbers(a, b value) bool {
	aLo, aHi := interval(a)
	bLo, bHi := interval(b)
	if aHi < bLo || bHi < aLo {
		return false
	}
	x, y := r.real(a, b)
	return x == y
}

func (r *run) less(a, b value) bool {
	aLo, aHi := interval(a)
	bLo, bHi := interval(b)
	switch {
	case aHi < bLo:
		return true
	case aLo >= bHi:
		return false
	}
	x, y := r.real(a, b)
	return x < y
}

func (r *run) lessOrEqual(a, b value) bool {
	aLo, aHi := interval(a)
	bLo, bHi := interval(b)
	switch {
	case aHi <= bLo:
		return true
	case aLo > bHi:
		return false
	}
	x, y := r.real(a, b)
	return x <= y
}

func (r *run) relate(operator string, a, b value) bool {
	switch operator {
	case "==":
		return r.equal(a, b)
	case "~=":
		return !r.equal(a, b)
	case ">":
		operator, a, b = "<", b, a
	case ">=":
		operator, a, b = "<=", b, a
	}
	r.ordered(a, b)
	if operator == "<" {
		return r.less(a, b)
	}
	return r.lessOrEqual(a, b)
}

// ordered raises Lua's error for what < does not take. Strings are ordered by
// the server's locale, which nobody here knows.
func (r *run) ordered(a, b value) {
	ta, tb := typeName(a), typeName(b)
	switch {
	case ta != tb:
		r.fail("attempt to compare %s with %s", ta, tb)
	case ta == "string":
		refuse("orders strings with < or >")
	case ta != "number":
		r.fail("attempt to compare two %s values", ta)
	}
}

// concat is the .. operator.
func (r *run) concat(a, b value, nameA, nameB string) value {
	for _, side := range []struct {
		v    value
		name string
	}{{b, nameB}, {a, nameA}} {
		if t := typeName(side.v); t != "string" && t != "number" {
			r.fail("attempt to concatenate %s", describe(side.name, side.v))
		}
	}
	x, y := r.text(a), r.text(b)
	r.grow(len(x) + len(y))
	return x + y
}

// length is the # operator.
func (r *run) length(v value, name string) value {
	switch v := r.reveal(v).(type) {
	case string:
		return float64(len(v))
	case *table:
		return float64(v.border(r.budget))
	}
	r.fail("attempt to get length of %s", describe(name, v))
	return nil
}

// index is object[key].
func (r *run) index(object, key value, name string) value {
	switch o := object.(type) {
	case *table:
		key = r.reveal(key)
		v := o.get(key)
		if k, ok := key.(string); ok && v == nil && o.library != "" && elsewhere[o.library+"."+k] {
			refuse("uses %s.%s, which no lock needs", o.library, k)
		}
		return v
	case string, sealed, stored:
		return r.index(library["string"], key, "")
	}
	r.fail("attempt to index %s", describe(name, object))
	return nil
}

func (r *run) setIndex(object, key, v value, name string) {
	t, ok := object.(*table)
	if !ok {
		r.fail("attempt to index %s", describe(name, object))
	}
	key = r.reveal(key)
	switch f, isNumber := key.(float64); {
	case t.readonly:
		r.fail("Attempt to modify a readonly table")
	case key == nil:
		r.fail("table index is nil")
	case isNumber && math.IsNaN(f):
		r.fail("table index is NaN")
	}
	t.set(r.budget, key, v)
}
