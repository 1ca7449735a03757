package lua

import (
	"strings"

	"github.com/yuin/gopher-lua/pm"
)

// specials are the characters that make a string a pattern.
const specials = "^$*+?.([%-"

// start returns where the search begins, by argument i, as in Lua 5.1: a position behind
// the end counts as the end.
func start(r *Run, name string, args []Value, i int, s string) int {
	from := 1
	if arg(args, i) != nil {
		from = integerArg(r, name, args, i)
	}
	if from < 0 {
		from = max(len(s)+from+1, 1)
	}
	return min(max(from, 1), len(s)+1) - 1
}

func find(r *Run, args []Value) []Value {
	s, what := StringArg(r, "find", args, 0), StringArg(r, "find", args, 1)
	from := start(r, "find", args, 2, s)
	if truth(arg(args, 3)) || !strings.ContainsAny(what, specials) {
		at := strings.Index(s[from:], what)
		if at < 0 {
			return one(nil)
		}
		return []Value{float64(from + at + 1), float64(from + at + len(what))}
	}
	found := matches(r, compilePattern("find", what), s, from, 1)
	if len(found) == 0 {
		return one(nil)
	}
	m := found[0]
	return append([]Value{float64(m.Capture(0) + 1), float64(m.Capture(1))}, capturesOf(r, s, m, false)...)
}

func match(r *Run, args []Value) []Value {
	s, what := StringArg(r, "match", args, 0), StringArg(r, "match", args, 1)
	found := matches(r, compilePattern("match", what), s, start(r, "match", args, 2, s), 1)
	if len(found) == 0 {
		return one(nil)
	}
	return capturesOf(r, s, found[0], true)
}

// gmatch finds all matches at once: neither string can change.
func gmatch(r *Run, args []Value) []Value {
	s, p := StringArg(r, "gmatch", args, 0), compilePattern("gmatch", StringArg(r, "gmatch", args, 1))
	if p.anchored {
		Refuse("uses string.gmatch with ^, which is no anchor there")
	}
	found := matches(r, p, s, 0, -1)
	return one(&builtin{"gmatch", func(r *Run, _ []Value) []Value {
		if len(found) == 0 {
			return one(nil)
		}
		m := found[0]
		found = found[1:]
		return capturesOf(r, s, m, true)
	}})
}

func gsub(r *Run, args []Value) []Value {
	s, p := StringArg(r, "gsub", args, 0), compilePattern("gsub", StringArg(r, "gsub", args, 1))
	with, limit := r.Reveal(arg(args, 2)), -1
	switch t := TypeName(with); t {
	case "string", "number":
		with = StringArg(r, "gsub", args, 2)
	case "table", "function":
	default:
		r.BadArgument("gsub", 2, "string/function/table expected")
	}
	if arg(args, 3) != nil {
		limit = max(0, integerArg(r, "gsub", args, 3))
	}
	if limit == 0 {
		return []Value{s, 0.0}
	}
	var b strings.Builder
	found, done := matches(r, p, s, 0, limit), 0
	for _, m := range found {
		text := replacement(r, s, m, with)
		r.Grow(m.Capture(0) - done + len(text))
		b.WriteString(s[done:m.Capture(0)])
		b.WriteString(text)
		done = m.Capture(1)
	}
	b.WriteString(s[done:])
	return []Value{made(r, b.String())[0], float64(len(found))}
}

// replacement returns what gsub puts in place of a match.
func replacement(r *Run, s string, m *pm.MatchData, with Value) string {
	whole := s[m.Capture(0):m.Capture(1)]
	var v Value
	switch with := with.(type) {
	case string:
		return filledIn(r, with, whole, capturesOf(r, s, m, true))
	case *Table:
		v = r.index(with, capturesOf(r, s, m, true)[0], "")
	default:
		v = firstOf(r.call(with, capturesOf(r, s, m, true), ""))
	}
	switch v = r.Reveal(v); {
	case !truth(v):
		return whole
	case TypeName(v) == "string" || TypeName(v) == "number":
		return r.text(v)
	}
	r.Fail("invalid replacement value (a %s)", TypeName(v))
	return ""
}

// filledIn returns a replacement text with its %0 to %9 filled in.
func filledIn(r *Run, with, whole string, captures []Value) string {
	var b strings.Builder
	for i := 0; i < len(with); i++ {
		piece := with[i : i+1]
		if with[i] == '%' {
			i++
			switch {
			case i == len(with):
				Refuse("uses string.gsub with a replacement that ends with %%")
			case with[i] == '0':
				piece = whole
			case with[i] >= '1' && with[i] <= '9':
				n := int(with[i] - '1')
				if n >= len(captures) {
					r.Fail("invalid capture index")
				}
				piece = r.text(captures[n])
			default:
				piece = with[i : i+1]
			}
		}
		r.Grow(len(piece))
		b.WriteString(piece)
	}
	return b.String()
}
