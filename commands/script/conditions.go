package script

import (
	"fmt"
	"strings"

	"github.com/zeebo/xxh3"
)

// digestDigits is how long a digest is.
const digestDigits = 16

// Digest is what DIGEST of Redis 8.4 tells of a string: its XXH3 of 64 bits, in
// lower-case hexadecimal with all zeros.
func Digest(s string) string { return fmt.Sprintf("%016x", xxh3.HashString(s)) }

// Condition is IFEQ, IFNE, IFDEQ or IFDNE of Redis 8.4 by its name in upper
// case; empty is none.
type Condition string

// The conditions.
const (
	NoCondition Condition = ""
	IfEqual     Condition = "IFEQ"
	IfNot       Condition = "IFNE"
	IfDigest    Condition = "IFDEQ"
	IfNotDigest Condition = "IFDNE"
)

// InvalidCondition is the error of DELEX for any other word.
const InvalidCondition = "ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE"

// ConditionOf is the condition of this name in any case, or NoCondition.
func ConditionOf(word string) Condition {
	switch c := Condition(strings.ToUpper(word)); c {
	case IfEqual, IfNot, IfDigest, IfNotDigest:
		return c
	}
	return NoCondition
}

// Names reports whether only a value that the operand names meets the
// condition: then the command is about one holder's lock.
func (c Condition) Names() bool { return c == IfEqual || c == IfDigest }

// Meets reports whether a value that is there meets the condition; refused is
// Redis's error for a digest that can be none.
func (c Condition) Meets(value, operand string) (met bool, refused string) {
	switch c {
	case IfEqual:
		return value == operand, ""
	case IfNot:
		return value != operand, ""
	case NoCondition:
		return true, ""
	}
	if len(operand) != digestDigits {
		return false, "ERR digest must be exactly 16 hexadecimal characters"
	}
	same := strings.EqualFold(Digest(value), operand)
	return same == (c == IfDigest), ""
}

// Absent reports whether the condition is met where there is nothing: SET is
// then told to create the key.
func (c Condition) Absent() bool { return !c.Names() }

// delex is DELEX of Redis 8.4.
func delex(r *run, args []value) (value, string) {
	switch {
	case len(args) == 2:
		return del(r, args)
	case len(args) != 4:
		return nil, "ERR wrong number of arguments for 'delex' command"
	}
	cond := ConditionOf(r.word(args[2]))
	if cond == NoCondition {
		return nil, InvalidCondition
	}
	k := r.touch(args[1])
	if !k.now.exists {
		return 0.0, ""
	}
	met, failure := r.meets(k, cond, args[3])
	if !met {
		return 0.0, failure
	}
	k.remove()
	return 1.0, ""
}

// meets reports whether what the key holds, if anything, meets the condition.
func (r *run) meets(k *keyModel, c Condition, operand value) (bool, string) {
	switch {
	case c == NoCondition:
		return true, ""
	case !k.now.exists:
		return c.Absent(), ""
	case c == IfEqual, c == IfNot:
		return r.holds(k, operand) == (c == IfEqual), ""
	}
	return c.Meets(r.text(k.now.value), r.word(operand))
}

// digest is DIGEST of Redis 8.4.
func digest(r *run, args []value) (value, string) {
	k := r.touch(args[1])
	if !k.now.exists {
		return false, ""
	}
	return Digest(r.text(k.now.value)), ""
}

// delifeq is DELIFEQ of Valkey 9.
func delifeq(r *run, args []value) (value, string) {
	if k := r.touch(args[1]); r.holds(k, args[2]) {
		k.remove()
		return 1.0, ""
	}
	return 0.0, ""
}
