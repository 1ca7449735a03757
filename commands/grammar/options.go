package grammar

import "math"

// Redis's own texts for options that contradict one another.
const (
	errNXWith   = "ERR NX and XX, GT or LT options at the same time are not compatible"
	errGTWithLT = "ERR GT and LT options at the same time are not compatible"
)

// InvalidExpire returns Redis's error for an expiry out of range; command is in lower
// case.
func InvalidExpire(command string) string {
	return "ERR invalid expire time in '" + command + "' command"
}

// InPast follows InvalidExpire where the expiry is in the past, which is no error for
// Redis (C3).
const InPast = ": it is in the past"

// Unit is the form in which a command gives an expiry.
type Unit uint8

// The units, as SET names them.
const (
	NoUnit  Unit = iota
	EX           // seconds from now
	PX           // milliseconds from now
	EXAT         // seconds since 1970
	PXAT         // milliseconds since 1970
	KeepTTL      // the expiry stays
)

// UnitOf returns the unit of this name in any case, or NoUnit.
func UnitOf[W Word](w W) Unit {
	switch {
	case Is(w, "px"):
		return PX
	case Is(w, "ex"):
		return EX
	case Is(w, "pxat"):
		return PXAT
	case Is(w, "exat"):
		return EXAT
	}
	return NoUnit
}

// InSeconds reports whether the unit counts seconds, and Absolute whether it counts from
// 1970.
func (u Unit) InSeconds() bool { return u == EX || u == EXAT }
func (u Unit) Absolute() bool  { return u == EXAT || u == PXAT }

// Millis converts n of the unit to milliseconds; false if that overflows.
func (u Unit) Millis(n int64) (int64, bool) {
	if !u.InSeconds() {
		return n, true
	}
	if n > math.MaxInt64/1000 || n < math.MinInt64/1000 {
		return 0, false
	}
	return n * 1000, true
}

// SetOptions are the options behind key and value of a SET. Operands are kept as the
// command has them.
type SetOptions[O any] struct {
	NX, XX, Get bool
	// Condition is IFEQ (also in Valkey 8.1), IFNE, IFDEQ or IFDNE of Redis 8.4, Compare
	// its operand.
	Condition Condition
	Compare   O
	// Expiry is the form of the TTL, Number its operand.
	Expiry Unit
	Number O
}

// ByToken reports whether an existing lock is spared, or named by its token.
func (o *SetOptions[O]) ByToken() bool { return o.NX || o.Condition.Names() }

// ParseSet parses the options in any order; false is a syntax error. word converts
// arguments that are no operands. As in Redis an option may be repeated, and then the
// last one counts.
func ParseSet[O any, W Word](args []O, word func(O) W) (o SetOptions[O], ok bool) {
	for i := 0; i < len(args); i++ {
		last := i+1 == len(args)
		w := word(args[i])
		switch {
		case Is(w, "nx") && !o.XX && o.Condition == NoCondition:
			o.NX = true
		case Is(w, "xx") && !o.NX && (o.Condition == NoCondition || o.Condition == IfEqual):
			o.XX = true
		case Is(w, "get"):
			o.Get = true
		case Is(w, "keepttl") && (o.Expiry == NoUnit || o.Expiry == KeepTTL):
			o.Expiry = KeepTTL
		case last:
			return o, false
		default:
			i++
			if !o.take(UnitOf(w), args[i]) && !o.meet(ConditionOf(w), args[i]) {
				return o, false
			}
		}
	}
	return o, true
}

// take stores an expiry with its operand; false if it may not stand there.
func (o *SetOptions[O]) take(unit Unit, operand O) bool {
	if unit == NoUnit || o.Expiry != NoUnit && o.Expiry != unit {
		return false
	}
	o.Expiry, o.Number = unit, operand
	return true
}

// meet stores a condition with its operand; false if it may not stand there.
func (o *SetOptions[O]) meet(cond Condition, operand O) bool {
	if cond == NoCondition || o.NX || o.Condition != NoCondition || o.XX && cond != IfEqual {
		return false
	}
	o.Condition, o.Compare = cond, operand
	return true
}

// ExpireFlags are the flags behind the time of EXPIRE, PEXPIRE, EXPIREAT and PEXPIREAT.
type ExpireFlags struct{ NX, XX, GT, LT bool }

// ParseExpireFlags parses the flags. unsupported is the index of an argument that is no
// flag, or -1; refused is Redis's error for flags that contradict one another.
func ParseExpireFlags[O any, W Word](args []O, word func(O) W) (f ExpireFlags, unsupported int, refused string) {
	for i := range args {
		switch w := word(args[i]); {
		case Is(w, "nx"):
			f.NX = true
		case Is(w, "xx"):
			f.XX = true
		case Is(w, "gt"):
			f.GT = true
		case Is(w, "lt"):
			f.LT = true
		default:
			return f, i, ""
		}
	}
	switch {
	case f.NX && (f.XX || f.GT || f.LT):
		return f, -1, errNXWith
	case f.GT && f.LT:
		return f, -1, errGTWithLT
	}
	return f, -1, ""
}
