package script

import (
	"strings"

	"github.com/yuin/gopher-lua/pm"
)

// specials make a string a pattern.
const specials = "^$*+?.([%-"

// start is where the search begins that argument i names, as in Lua 5.1: what
// is behind the end begins there.
func (r *run) start(name string, args []value, i int, s string) int {
	from := 1
	if arg(args, i) != nil {
		from = r.integer(name, args, i)
	}
	if from < 0 {
		from = max(len(s)+from+1, 1)
	}
	return min(max(from, 1), len(s)+1) - 1
}

func find(r *run, args []value) []value {
	s, what := r.stringArg("find", args, 0), r.stringArg("find", args, 1)
	from := r.start("find", args, 2, s)
	if truth(arg(args, 3)) || !strings.ContainsAny(what, specials) {
		at := strings.Index(s[from:], what)
		if at < 0 {
			return one(nil)
		}
		return []value{float64(from + at + 1), float64(from + at + len(what))}
	}
	found := r.matches(r.pattern("find", what), s, from, 1)
	if len(found) == 0 {
		return one(nil)
	}
	m := found[0]
	return append([]value{float64(m.Capture(0) + 1), float64(m.Capture(1))}, r.captures(s, m, false)...)
}

func match(r *run, args []value) []value {
	s, what := r.stringArg("match", args, 0), r.stringArg("match", args, 1)
	found := r.matches(r.pattern("match", what), s, r.start("match", args, 2, s), 1)
	if len(found) == 0 {
		return one(nil)
	}
	return r.captures(s, found[0], true)
}

// gmatch finds all matches at once: neither string can change.
func gmatch(r *run, args []value) []value {
	s, p := r.stringArg("gmatch", args, 0), r.pattern("gmatch", r.stringArg("gmatch", args, 1))
	if p.anchored {
		refuse("uses string.gmatch with ^, which is no anchor there")
	}
	found := r.matches(p, s, 0, -1)
	return one(&builtin{"gmatch", func(r *run, _ []value) []value {
		if len(found) == 0 {
			return one(nil)
		}
		m := found[0]
		found = found[1:]
		return r.captures(s, m, true)
	}})
}

func gsub(r *run, args []value) []value {
	s, p := r.stringArg("gsub", args, 0), r.pattern("gsub", r.stringArg("gsub", args, 1))
	with, limit := r.reveal(arg(args, 2)), -1
	switch t := typeName(with); t {
	case "string", "number":
		with = r.stringArg("gsub", args, 2)
	case "table", "function":
	default:
		r.fail("bad argument #3 to 'gsub' (string/function/table expected)")
	}
	if arg(args, 3) != nil {
		limit = max(0, r.integer("gsub", args, 3))
	}
	if limit == 0 {
		return []value{s, 0.0}
	}
	var b strings.Builder
	found, done := r.matches(p, s, 0, limit), 0
	for _, m := range found {
		text := r.replacement(s, m, with)
		r.grow(m.Capture(0) - done + len(text))
		b.WriteString(s[done:m.Capture(0)])
		b.WriteString(text)
		done = m.Capture(1)
	}
	b.WriteString(s[done:])
	return []value{r.made(b.String())[0], float64(len(found))}
}

// replacement is what gsub puts in the place of a match.
func (r *run) replacement(s string, m *pm.MatchData, with value) string {
	whole := s[m.Capture(0):m.Capture(1)]
	var v value
	switch with := with.(type) {
	case string:
		return r.filledIn(with, whole, r.captures(s, m, true))
	case *table:
		v = r.index(with, r.captures(s, m, true)[0], "")
	default:
		v = firstOf(r.call(with, r.captures(s, m, true), ""))
	}
	switch v = r.reveal(v); {
	case !truth(v):
		return whole
	case typeName(v) == "string" || typeName(v) == "number":
		return r.text(v)
	}
	r.fail("invalid replacement value (a %s)", typeName(v))
	return ""
}

// filledIn is a replacement with its %0 to %9.
func (r *run) filledIn(with, whole string, captures []value) string {
	var b strings.Builder
	for i := 0; i < len(with); i++ {
		piece := with[i : i+1]
		if with[i] == '%' {
			i++
			switch {
			case i == len(with):
				refuse("uses string.gsub with a replacement that ends with %%")
			case with[i] == '0':
				piece = whole
			case with[i] >= '1' && with[i] <= '9':
				n := int(with[i] - '1')
				if n >= len(captures) {
					r.fail("invalid capture index")
				}
				piece = r.text(captures[n])
			default:
				piece = with[i : i+1]
			}
		}
		r.grow(len(piece))
		b.WriteString(piece)
	}
	return b.String()
}
