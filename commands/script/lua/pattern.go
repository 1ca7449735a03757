package lua

import (
	"math"
	"strings"

	"github.com/yuin/gopher-lua/pm"
)

// maxCaptures is Lua 5.1's own bound.
const maxCaptures = 32

// pattern is a Lua pattern that the library matches exactly as Lua 5.1 does. Patterns
// that it matches differently, or cannot bound, are refused by name.
type pattern struct {
	text     string
	anchored bool // begins with ^
	repeats  int  // number of * + -
	optional int  // number of ?
}

// compilePattern checks a pattern before it is used.
func compilePattern(name, text string) pattern {
	p := pattern{text: text}
	refusePattern := func(what string) { Refuse("uses string.%s with %s", name, what) }
	open, captures, item := 0, 0, false // item: a quantifier may follow
	for i := 0; i < len(text); i++ {
		was := item
		item = true
		switch c := text[i]; c {
		case 0:
			refusePattern("a zero byte in a pattern")
		case '^':
			if i == 0 {
				p.anchored, item = true, false
			}
		case '(':
			open, captures, item = open+1, captures+1, false
		case ')':
			open, item = open-1, false
		case '*', '+', '-':
			if was {
				p.repeats, item = p.repeats+1, false
			}
		case '?':
			if was {
				p.optional, item = p.optional+1, false
			}
		case '%':
			i++
			if i == len(text) || !isClass(text[i]) {
				refusePattern("the pattern " + quoted(text))
			}
		case '[':
			if i = endOfSet(text, i+1); i < 0 {
				refusePattern("the pattern " + quoted(text))
			}
		}
		if open < 0 || captures > maxCaptures {
			refusePattern("the pattern " + quoted(text))
		}
	}
	if open > 0 {
		refusePattern("the pattern " + quoted(text))
	}
	return p
}

func quoted(s string) string { return "\"" + OneLine(s[:min(len(s), 40)]) + "\"" }

// isClass reports whether c may follow a %: a class of Lua 5.1, or a sign that stands for
// itself. %b, %f and %1 are not supported.
func isClass(c byte) bool {
	if c >= '0' && c <= '9' {
		return false
	}
	letter := c|0x20 >= 'a' && c|0x20 <= 'z'
	return !letter || strings.IndexByte("acdlpsuwxz", c|0x20) >= 0
}

// endOfSet returns the index of the ] that ends a set, or -1. i is the index of the set's
// first character.
func endOfSet(text string, i int) int {
	if i < len(text) && text[i] == '^' {
		i++
	}
	for first := true; i < len(text); first = false {
		switch {
		case text[i] == 0:
			return -1
		case text[i] == ']' && !first:
			return i
		case text[i] == '%':
			if i+1 == len(text) || !isClass(text[i+1]) || (i+2 < len(text) && text[i+2] == '-') {
				return -1
			}
			i += 2
		case i+2 < len(text) && text[i+1] == '-' && text[i+2] != ']':
			if !plainChar(text[i]) || !plainChar(text[i+2]) {
				return -1
			}
			i += 3
		case text[i] == '-' && !(i+1 < len(text) && text[i+1] == ']'):
			return -1
		default:
			i++
		}
	}
	return -1
}

// plainChar reports whether a character in a set always stands for itself.
func plainChar(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// matches returns the first matches in s from byte from on, at most limit (-1: all). The
// library cannot be interrupted, so the worst case is paid for in advance: every
// repetition may try every length, from every position.
func matches(r *Run, p pattern, s string, from, limit int) []*pm.MatchData {
	rest := float64(len(s) - from + 1)
	work := math.Pow(rest, float64(p.repeats)) * math.Pow(2, float64(p.optional)) * float64(len(p.text)+1)
	if !p.anchored {
		work *= rest
	}
	if p.anchored && limit != 1 {
		limit = 1
	}
	if work /= 16; work > maxSteps {
		Refuse("matches a pattern that may take more than %d steps", maxSteps)
	}
	r.Step(1 + int(work))
	found, err := pm.Find(p.text, []byte(s), from, limit)
	if err != nil {
		Refuse("uses the pattern %s", quoted(p.text))
	}
	r.Grow(64 * len(found))
	return found
}

// capturesOf returns the captures of a match, or, if whole is set and the pattern has
// none, the whole match.
func capturesOf(r *Run, s string, m *pm.MatchData, whole bool) []Value {
	if m.CaptureLength() == 2 && whole {
		return one(s[m.Capture(0):m.Capture(1)])
	}
	var list []Value
	for i := 2; i < m.CaptureLength(); i += 2 {
		if m.IsPosCapture(i) {
			list = append(list, float64(m.Capture(i)))
			continue
		}
		list = append(list, s[m.Capture(i):m.Capture(i+1)])
	}
	r.Grow(16 * len(list))
	return list
}
