package script

import (
	"math"
	"time"

	"github.com/redlockd/redlockd/commands/script/lua"
)

// value is a Lua value, or a sealed one.
type value = lua.Value

// The sealed values. Each is comparable, and equal only to itself. Proofs rely on them:
// every operation of the interpreter either knows its result for all values a symbol can
// have, or ends the run with revealInput or unproved.
type (
	// sealed is an input (KEYS or ARGV) by its class: inputs with equal bytes
	// are one class, so two different classes are two different strings.
	sealed struct{ class int }
	// stored is the value found under the key if it is not the token.
	stored struct{}
	// otherKind is what is found under the key if it is no string.
	otherKind struct{}
	// linear is mul*v + add, where v is the number in a sealed input; the form guarantees
	// that v is within 1..maxNumeric.
	linear struct {
		class    int
		mul, add int64
	}
	// remaining is the key's remaining time, in milliseconds (at least 1) or
	// in seconds, rounded (at least 0).
	remaining struct{ seconds bool }
	// subscriberCount stands for the number of subscribers that receive a message, which
	// is known only after the run.
	subscriberCount struct{}
	// signalNumber stands for a number that depends on a signal's items, which no run
	// can see: the length of the list, or whether there was one.
	signalNumber struct{}
)

func (sealed) Type() string          { return "string" }
func (stored) Type() string          { return "string" }
func (linear) Type() string          { return "number" }
func (remaining) Type() string       { return "number" }
func (subscriberCount) Type() string { return "number" }
func (signalNumber) Type() string    { return "number" }

// revealInput ends a run that looked into a sealed input: the class is revealed, and
// the runs start again.
type revealInput struct{ class int }

// tokenFound ends a run without a token in which the class was compared with the stored
// value, or stored: it is the token, and the runs start again.
type tokenFound struct{ class int }

// unproved ends a run whose result depends on more than the form.
type unproved struct{}

const maxNumeric = 1_000_000_000_000 // 31 years in milliseconds

// numericText reports whether s is a number from 1 to maxNumeric in its usual spelling:
// digits only, the first not a zero.
func numericText(s string) bool {
	if len(s) == 0 || len(s) > 12 || s[0] == '0' {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// bounds returns the least and the greatest value l can have.
func (l linear) bounds() (lo, hi int64) {
	lo, hi = l.mul+l.add, l.mul*maxNumeric+l.add
	if l.mul < 0 {
		lo, hi = hi, lo
	}
	return lo, hi
}

// at returns the value for the number v.
func (l linear) at(v int64) int64 { return l.mul*v + l.add }

// of returns the value for a call with these inputs.
func (l linear) of(inputs []string) int64 {
	if l.class < 0 {
		return l.add
	}
	var n int64
	for _, c := range []byte(inputs[l.class]) { // numericText holds
		n = n*10 + int64(c-'0')
	}
	return l.at(n)
}

// newLinear returns a linear, and false if it may leave the range of exact numbers.
func newLinear(class int, mul, add float64) (linear, bool) {
	small := func(f float64) bool { return f == float64(int64(f)) && f < lua.MaxExact && f > -lua.MaxExact }
	if !small(mul) || !small(add) || mul == 0 || mul > 1000 || mul < -1000 {
		return linear{}, false
	}
	l := linear{class, int64(mul), int64(add)}
	lo, hi := l.bounds()
	return l, lo > -lua.MaxExact && hi < lua.MaxExact
}

// fixedNumber returns a linear that depends on no input.
func fixedNumber(n int64) linear { return linear{class: -1, add: n} }

// number returns l as a Lua value.
func (l linear) number() value {
	if l.class < 0 {
		return float64(l.add)
	}
	return l
}

// millis returns a duration of n milliseconds, or the longest there is.
func millis(n int64) time.Duration {
	if n > math.MaxInt64/int64(time.Millisecond) {
		return math.MaxInt64
	}
	return time.Duration(n) * time.Millisecond
}
