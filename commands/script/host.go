package script

import (
	"math"

	"github.com/redlockd/redlockd/commands/script/lua"
)

// The methods of lua.Host: what is known of the sealed values for all calls of one form,
// and which uses of them end the run.

var _ lua.Host = (*run)(nil)

// Reveal ends the run, because the script is about to look into s.
func (r *run) Reveal(s lua.Symbol) value {
	switch s := s.(type) {
	case sealed:
		panic(revealInput(s))
	case linear:
		panic(revealInput{s.class})
	case signalNumber:
		if r.proving {
			panic(unproved{})
		}
		lua.Refuse("uses the length of a list, redlockd keeps locks only")
	case subscriberCount:
		lua.Refuse("uses the number of receivers of its PUBLISH")
	}
	panic(unproved{})
}

// reveal returns v if it is a real value, and ends the run if it is sealed.
func (r *run) reveal(v value) value {
	if s, ok := v.(lua.Symbol); ok {
		return r.Reveal(s)
	}
	return v
}

// text returns a string or number as a string, which ends the run if it is sealed.
func (r *run) text(v value) string { return lua.Text(r.reveal(v)) }

// Compare compares two strings or two numbers.
func (r *run) Compare(operator string, a, b value) bool {
	if lua.TypeName(a) == "string" {
		return r.equalStrings(a, b)
	}
	aLo, aHi := interval(a)
	bLo, bHi := interval(b)
	switch operator {
	case "<":
		if aHi < bLo || aLo >= bHi {
			return aHi < bLo
		}
		x, y := r.real(a, b)
		return x < y
	case "<=":
		if aHi <= bLo || aLo > bHi {
			return aHi <= bLo
		}
		x, y := r.real(a, b)
		return x <= y
	}
	if aHi < bLo || bHi < aLo {
		return false
	}
	x, y := r.real(a, b)
	return x == y
}

// equalStrings compares strings, which may be sealed. Two classes differ. The stored
// value is not the token (where it is, the model returns the token's class).
func (r *run) equalStrings(a, b value) bool {
	if _, ok := b.(stored); ok {
		a, b = b, a
	}
	_, isStored := a.(stored)
	other, isSealed := b.(sealed)
	switch {
	case isStored && isSealed && r.token < 0:
		panic(tokenFound(other))
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

// interval returns the bounds of a number.
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

// real returns two numbers whose intervals did not decide, and ends the run if one is
// sealed.
func (r *run) real(a, b value) (float64, float64) {
	if _, ok := b.(remaining); ok {
		panic(unproved{})
	}
	return r.reveal(a).(float64), r.reveal(b).(float64)
}

// Arithmetic returns a sealed number if the operation is a sealed number times or plus a
// constant.
func (r *run) Arithmetic(operator string, a, b value) (value, bool) {
	a, b = r.operand(a), r.operand(b)
	if v, ok := sealedArithmetic(operator, a, b); ok {
		return v, true
	}
	if _, ok := b.(remaining); ok {
		panic(unproved{})
	}
	return nil, false
}

// operand returns a sealed input as its number, if it is numeric.
func (r *run) operand(v value) value {
	if s, ok := v.(sealed); ok && r.form.numeric(s.class) {
		return linear{s.class, 1, 0}
	}
	return v
}

func sealedArithmetic(operator string, a, b value) (value, bool) {
	l, left := a.(linear)
	c, constant := b.(float64)
	if !left {
		l, left = b.(linear)
		c, constant = a.(float64)
		if operator == "-" && left && constant { // c - l = -l + c
			l, operator = linear{l.class, -l.mul, -l.add}, "+"
		}
	}
	if !left || !constant {
		return nil, false
	}
	mul, add := float64(l.mul), float64(l.add)
	switch operator {
	case "+":
		add += c
	case "-":
		add -= c
	case "*":
		mul, add = mul*c, add*c
	default:
		return nil, false
	}
	l, fits := newLinear(l.class, mul, add)
	return l, fits
}

// Apply returns the sealed result of a function on one value. A sealed number is an
// integer, and, if not negative, its own absolute value.
func (r *run) Apply(function string, s lua.Symbol) (value, bool) {
	if function == "tostring" {
		return sealedText(s)
	}
	l, ok := r.operand(s).(linear)
	if !ok {
		return nil, false
	}
	lo, _ := l.bounds()
	return l, lo >= 0 || function != "abs"
}

// sealedText returns the text of a sealed value, if that is sealed too.
func sealedText(v value) (value, bool) {
	switch v := v.(type) {
	case sealed, stored:
		return v, true
	case linear:
		if v.mul == 1 && v.add == 0 { // the text of a number up to maxNumeric is the input's own
			return sealed{v.class}, true
		}
	}
	return nil, false
}
