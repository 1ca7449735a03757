package grammar

import (
	"fmt"
	"strings"

	"github.com/zeebo/xxh3"
)

// digestDigits is the length of a digest.
const digestDigits = 16

// Digest returns the DIGEST of a string in Redis 8.4: its 64-bit XXH3, in lower-case
// hexadecimal with leading zeros.
func Digest(s string) string { return fmt.Sprintf("%016x", xxh3.HashString(s)) }

// Condition is the name of IFEQ, IFNE, IFDEQ or IFDNE of Redis 8.4 in lower case; empty
// is none.
type Condition string

// The conditions.
const (
	NoCondition Condition = ""
	IfEqual     Condition = "ifeq"
	IfNot       Condition = "ifne"
	IfDigest    Condition = "ifdeq"
	IfNotDigest Condition = "ifdne"
)

// InvalidCondition is DELEX's error for any other word.
const InvalidCondition = "ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE"

// ConditionOf returns the condition of this name in any case, or NoCondition.
func ConditionOf[W Word](w W) Condition {
	for _, c := range []Condition{IfEqual, IfNot, IfDigest, IfNotDigest} {
		if Is(w, string(c)) {
			return c
		}
	}
	return NoCondition
}

// Names reports whether only a value that the operand names meets the condition: then the
// command is about one holder's lock.
func (c Condition) Names() bool { return c == IfEqual || c == IfDigest }

// Meets reports whether an existing value meets the condition; refused is Redis's error
// for an operand that cannot be a digest.
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

// Absent reports whether the condition is met if the key is absent: SET then creates the
// key.
func (c Condition) Absent() bool { return !c.Names() }
