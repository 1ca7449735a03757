package lua

import (
	"math"
	"strings"
)

// made charges the budget for a new string and returns it.
func made(r *Run, s string) []Value {
	r.Grow(len(s))
	return one(s)
}

var stringLibrary = map[string]Function{
	"len": func(r *Run, args []Value) []Value { return one(float64(len(StringArg(r, "len", args, 0)))) },
	"sub": func(r *Run, args []Value) []Value {
		s, to := StringArg(r, "sub", args, 0), -1
		if len(args) > 2 && args[2] != nil {
			to = integerArg(r, "sub", args, 2)
		}
		return one(substring(s, integerArg(r, "sub", args, 1), to))
	},
	"lower": func(r *Run, args []Value) []Value {
		return made(r, mapASCII(StringArg(r, "lower", args, 0), 'A', 'Z'))
	},
	"upper": func(r *Run, args []Value) []Value {
		return made(r, mapASCII(StringArg(r, "upper", args, 0), 'a', 'z'))
	},
	"reverse": func(r *Run, args []Value) []Value {
		b := []byte(StringArg(r, "reverse", args, 0))
		for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
		return made(r, string(b))
	},
	"rep": func(r *Run, args []Value) []Value {
		s, n := StringArg(r, "rep", args, 0), max(0, integerArg(r, "rep", args, 1))
		if len(s) > 0 && n > maxBytes/len(s) {
			Refuse("uses more than %d bytes of memory", maxBytes)
		}
		r.Grow(len(s) * n)
		if len(s) == 0 {
			n = 0
		}
		return one(strings.Repeat(s, n))
	},
	"byte": func(r *Run, args []Value) []Value {
		s, from := StringArg(r, "byte", args, 0), 1
		if arg(args, 1) != nil {
			from = integerArg(r, "byte", args, 1)
		}
		to := from
		if arg(args, 2) != nil {
			to = integerArg(r, "byte", args, 2)
		}
		part := substring(s, from, to)
		r.Grow(16 * len(part))
		var results []Value
		for i := 0; i < len(part); i++ {
			results = append(results, float64(part[i]))
		}
		return results
	},
	"char": func(r *Run, args []Value) []Value {
		b := make([]byte, len(args))
		for i := range args {
			c := integerArg(r, "char", args, i)
			if c < 0 || c > 255 {
				r.BadArgument("char", i, "invalid value")
			}
			b[i] = byte(c)
		}
		return made(r, string(b))
	},
	"format": formatPlain,
	"find":   find,
	"match":  match,
	"gmatch": gmatch,
	"gsub":   gsub,
}

// substring is string.sub: negative positions count from the end.
func substring(s string, from, to int) string {
	if from < 0 {
		from = max(len(s)+from+1, 1)
	}
	if to < 0 {
		to += len(s) + 1
	}
	from, to = max(from, 1), min(to, len(s))
	if from > to {
		return ""
	}
	return s[from-1 : to]
}

// mapASCII changes the case of the letters between a and z, as in C's locale.
func mapASCII(s string, a, z byte) string {
	b := []byte(s)
	for i, c := range b {
		if a <= c && c <= z {
			b[i] = c ^ 0x20
		}
	}
	return string(b)
}

// formatPlain is string.format for %s, %d and %% without widths.
func formatPlain(r *Run, args []Value) []Value {
	format := StringArg(r, "format", args, 0)
	var b strings.Builder
	next := 1
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			r.Grow(1)
			b.WriteByte(format[i])
			continue
		}
		i++
		piece := "%"
		switch {
		case i < len(format) && format[i] == '%':
		case i < len(format) && format[i] == 's':
			piece = StringArg(r, "format", args, next)
			next++
		case i < len(format) && format[i] == 'd':
			piece = formatInteger(r, args, next)
			next++
		default:
			Refuse("uses string.format with more than %%s and %%d")
		}
		r.Grow(len(piece))
		b.WriteString(piece)
	}
	return one(b.String())
}

func formatInteger(r *Run, args []Value, i int) string {
	f := math.Trunc(numberArg(r, "format", args, i))
	if math.Abs(f) > MaxExact || math.IsNaN(f) {
		Refuse("formats %g as an integer", f)
	}
	return FormatNumber(f+0, 17)
}
