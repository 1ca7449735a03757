package cjson

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/redlockd/redlockd/commands/script/lua"
)

// What C's strtod reads as a number, as much of it as there is.
var (
	decimalNumber = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?`)
	hexNumber     = regexp.MustCompile(`^[+-]?0[xX]([0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)([pP][+-]?[0-9]+)?`)
	wordNumber    = regexp.MustCompile(`^[+-]?((?i:infinity|inf|nan))(\([0-9A-Za-z_]*\))?`)
)

// number reads a number, of which c is the first character. lua-cjson takes what begins
// with a letter for one only if that is spelled like infinity or NaN.
func (r *reader) number(c byte) token {
	n, size, ok := readNumber(numberLike(r.text[r.at:]))
	switch {
	case !ok && strings.IndexByte("iInN", c) >= 0:
		return r.wrong("invalid token")
	case !ok:
		return r.wrong("invalid number")
	}
	r.run.Step(size / 16)
	t := token{kind: number, at: r.at, value: n}
	r.at += size
	return t
}

// numberLike returns the beginning of s that has only characters of numbers.
func numberLike(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, "+-.()_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))]
}

// readNumber returns the number at the beginning of s and how many bytes it takes.
func readNumber(s string) (n float64, size int, ok bool) {
	if m := wordNumber.FindStringSubmatch(s); m != nil {
		return wordValue(m)
	}
	found := hexNumber.FindString(s)
	digits := found
	if found == "" {
		found = decimalNumber.FindString(s)
		digits = found
	} else if !strings.ContainsAny(found, "pP") {
		digits += "p0" // which Go requires
	}
	if found == "" {
		return 0, 0, false
	}
	n, _ = strconv.ParseFloat(digits, 64) // what is too large is infinity, as in C
	return n, len(found), true
}

// wordValue returns the number that a word stands for. What may follow NaN in brackets
// differs between C libraries.
func wordValue(m []string) (n float64, size int, ok bool) {
	if !strings.EqualFold(m[1], "nan") {
		n = math.Inf(1)
		if m[0][0] == '-' {
			n = math.Inf(-1)
		}
		return n, len(m[0]) - len(m[2]), true
	}
	if m[2] != "" {
		lua.Refuse("decodes %.40q", m[0])
	}
	return math.NaN(), len(m[0]), true
}
