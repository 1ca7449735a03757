package lua

import "math"

// Reveal returns v if it is a real value. If v is a symbol it asks the host, because the
// caller is about to look into it.
func (r *Run) Reveal(v Value) Value {
	if isSymbol(v) {
		return r.host.Reveal(v.(Symbol))
	}
	return v
}

// text returns the Text of v, revealed.
func (r *Run) text(v Value) string { return Text(r.Reveal(v)) }

// number converts a real value as Lua's arithmetic does: a number, or a string with a
// number in it.
func (r *Run) number(v Value) (float64, bool) {
	s, ok := v.(string)
	if !ok {
		f, ok := v.(float64)
		return f, ok
	}
	r.Step(1 + len(s)/16)
	return numberIn(s)
}

func (r *Run) equal(a, b Value) bool { return Equal(r.host, a, b) }

func (r *Run) relate(operator string, a, b Value) bool {
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
	if isSymbol(a) || isSymbol(b) {
		return r.host.Compare(operator, a, b)
	}
	if operator == "<" {
		return a.(float64) < b.(float64)
	}
	return a.(float64) <= b.(float64)
}

// ordered raises Lua's error for values that < cannot compare. Strings would be ordered
// by the server's locale, which is unknown, so they are refused.
func (r *Run) ordered(a, b Value) {
	ta, tb := TypeName(a), TypeName(b)
	switch {
	case ta != tb:
		r.Fail("attempt to compare %s with %s", ta, tb)
	case ta == "string":
		Refuse("orders strings with < or >")
	case ta != "number":
		r.Fail("attempt to compare two %s values", ta)
	}
}

// arithmetic returns + - * / % ^ of two values.
func (r *Run) arithmetic(operator string, a, b Value, nameA, nameB string) Value {
	if isSymbol(a) || isSymbol(b) {
		if v, ok := r.host.Arithmetic(operator, a, b); ok {
			return v
		}
	}
	x, okA := r.number(r.Reveal(a))
	y, okB := r.number(r.Reveal(b))
	switch {
	case !okA:
		r.Fail("attempt to perform arithmetic on %s", describe(nameA, a))
	case !okB:
		r.Fail("attempt to perform arithmetic on %s", describe(nameB, b))
	}
	return calculate(operator, x, y)
}

// concat is the .. operator.
func (r *Run) concat(a, b Value, nameA, nameB string) Value {
	for _, side := range []struct {
		v    Value
		name string
	}{{b, nameB}, {a, nameA}} {
		if t := TypeName(side.v); t != "string" && t != "number" {
			r.Fail("attempt to concatenate %s", describe(side.name, side.v))
		}
	}
	x, y := r.text(a), r.text(b)
	r.Grow(len(x) + len(y))
	return x + y
}

// length is the # operator.
func (r *Run) length(v Value, name string) Value {
	switch v := r.Reveal(v).(type) {
	case string:
		return float64(len(v))
	case *Table:
		return float64(v.Border(r.Budget))
	}
	r.Fail("attempt to get length of %s", describe(name, v))
	return nil
}

// index is object[key].
func (r *Run) index(object, key Value, name string) Value {
	if o, ok := object.(*Table); ok {
		key = r.Reveal(key)
		v := o.Get(key)
		if k, ok := key.(string); ok && v == nil && o.library != "" {
			r.globals.refuseAbsent(o.library + "." + k)
		}
		return v
	}
	if TypeName(object) == "string" {
		return r.index(r.globals.strings, key, "")
	}
	r.Fail("attempt to index %s", describe(name, object))
	return nil
}

func (r *Run) setIndex(object, key, v Value, name string) {
	t, ok := object.(*Table)
	if !ok {
		r.Fail("attempt to index %s", describe(name, object))
	}
	key = r.Reveal(key)
	switch f, isNumber := key.(float64); {
	case t.readonly:
		r.Fail("Attempt to modify a readonly table")
	case key == nil:
		r.Fail("table index is nil")
	case isNumber && math.IsNaN(f):
		r.Fail("table index is NaN")
	}
	t.Set(r.Budget, key, v)
}
