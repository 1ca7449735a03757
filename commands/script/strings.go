package script

import (
	"math"
	"strings"
)

// stringArg is argument i of a string function; looking at it reveals it.
func (r *run) stringArg(name string, args []value, i int) string {
	v := r.reveal(arg(args, i))
	if t := typeName(v); t != "string" && t != "number" {
		if i >= len(args) {
			t = "no value"
		}
		r.fail("bad argument #%d to '%s' (string expected, got %s)", i+1, name, t)
	}
	s := r.text(v)
	r.step(1 + len(s)/16)
	return s
}

// made charges a new string before anyone keeps it.
func (r *run) made(s string) []value {
	r.grow(len(s))
	return one(s)
}

var stringLibrary = map[string]function{
	"len": func(r *run, args []value) []value { return one(float64(len(r.stringArg("len", args, 0)))) },
	"sub": func(r *run, args []value) []value {
		s, to := r.stringArg("sub", args, 0), -1
		if len(args) > 2 && args[2] != nil {
			to = r.integer("sub", args, 2)
		}
		return one(substring(s, r.integer("sub", args, 1), to))
	},
	"lower": func(r *run, args []value) []value {
		return r.made(mapASCII(r.stringArg("lower", args, 0), 'A', 'Z'))
	},
	"upper": func(r *run, args []value) []value {
		return r.made(mapASCII(r.stringArg("upper", args, 0), 'a', 'z'))
	},
	"reverse": func(r *run, args []value) []value {
		b := []byte(r.stringArg("reverse", args, 0))
		for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
		return r.made(string(b))
	},
	"rep": func(r *run, args []value) []value {
		s, n := r.stringArg("rep", args, 0), max(0, r.integer("rep", args, 1))
		if len(s) > 0 && n > maxBytes/len(s) {
			refuse("uses more than %d bytes of memory", maxBytes)
		}
		r.grow(len(s) * n)
		if len(s) == 0 {
			n = 0
		}
		return one(strings.Repeat(s, n))
	},
	"byte": func(r *run, args []value) []value {
		s, from := r.stringArg("byte", args, 0), 1
		if arg(args, 1) != nil {
			from = r.integer("byte", args, 1)
		}
		to := from
		if arg(args, 2) != nil {
			to = r.integer("byte", args, 2)
		}
		part := substring(s, from, to)
		r.grow(16 * len(part))
		var results []value
		for i := 0; i < len(part); i++ {
			results = append(results, float64(part[i]))
		}
		return results
	},
	"char": func(r *run, args []value) []value {
		b := make([]byte, len(args))
		for i := range args {
			c := r.integer("char", args, i)
			if c < 0 || c > 255 {
				r.fail("bad argument #%d to 'char' (invalid value)", i+1)
			}
			b[i] = byte(c)
		}
		return r.made(string(b))
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

// mapASCII flips the case of the letters between a and z, as C's locale does.
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
func formatPlain(r *run, args []value) []value {
	format := r.stringArg("format", args, 0)
	var b strings.Builder
	next := 1
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			r.grow(1)
			b.WriteByte(format[i])
			continue
		}
		i++
		piece := "%"
		switch {
		case i < len(format) && format[i] == '%':
		case i < len(format) && format[i] == 's':
			piece = r.stringArg("format", args, next)
			next++
		case i < len(format) && format[i] == 'd':
			piece = r.formatInteger(args, next)
			next++
		default:
			refuse("uses string.format with more than %%s and %%d")
		}
		r.grow(len(piece))
		b.WriteString(piece)
	}
	return one(b.String())
}

func (r *run) formatInteger(args []value, i int) string {
	f, ok := r.number(r.reveal(arg(args, i)))
	if !ok {
		r.fail("bad argument #%d to 'format' (number expected, got %s)", i+1, typeName(arg(args, i)))
	}
	if f = math.Trunc(f); math.Abs(f) > maxExact || math.IsNaN(f) {
		refuse("formats %g as an integer", f)
	}
	return formatNumber(f+0, 17)
}
