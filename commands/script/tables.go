package script

import (
	"math"
	"strings"
)

var tableLibrary = map[string]function{
	"getn": func(r *run, args []value) []value {
		return one(float64(r.tableArg("getn", args).border(r.budget)))
	},
	"insert": func(r *run, args []value) []value {
		t := r.writable("insert", args)
		n := t.border(r.budget)
		switch len(args) {
		case 2:
			t.set(r.budget, float64(n+1), args[1])
			return nil
		case 3:
			at := r.integer("insert", args, 1)
			if at < 1 || at > n+1 {
				refuse("inserts outside of a list")
			}
			r.step(n)
			for i := n; i >= at; i-- {
				t.set(r.budget, float64(i+1), t.get(float64(i)))
			}
			t.set(r.budget, float64(at), args[2])
			return nil
		}
		r.fail("wrong number of arguments to 'insert'")
		return nil
	},
	"remove": func(r *run, args []value) []value {
		t := r.writable("remove", args)
		n := t.border(r.budget)
		at := n
		if arg(args, 1) != nil {
			at = r.integer("remove", args, 1)
		}
		if at < 1 || at > n {
			return nil
		}
		r.step(n)
		gone := t.get(float64(at))
		for i := at; i < n; i++ {
			t.set(r.budget, float64(i), t.get(float64(i+1)))
		}
		t.set(r.budget, float64(n), nil)
		return one(gone)
	},
	"concat": func(r *run, args []value) []value {
		t, separator, from := r.tableArg("concat", args), "", 1
		if arg(args, 1) != nil {
			separator = r.stringArg("concat", args, 1)
		}
		if arg(args, 2) != nil {
			from = r.integer("concat", args, 2)
		}
		var to int
		if arg(args, 3) != nil {
			to = r.integer("concat", args, 3)
		} else {
			to = t.border(r.budget)
		}
		return one(r.join(t, separator, from, to))
	},
}

func (r *run) writable(name string, args []value) *table {
	t := r.tableArg(name, args)
	if t.readonly {
		r.fail("Attempt to modify a readonly table")
	}
	return t
}

func (r *run) join(t *table, separator string, from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		v := t.get(float64(i))
		if kind := typeName(v); kind != "string" && kind != "number" {
			r.fail("invalid value (%s) at index %d in table for 'concat'", kind, i)
		}
		s := r.text(v)
		if i > from {
			s = separator + s
		}
		r.grow(len(s))
		b.WriteString(s)
	}
	return b.String()
}

var mathLibrary = map[string]function{
	"floor": func(r *run, args []value) []value { return r.rounded("floor", args, math.Floor) },
	"ceil":  func(r *run, args []value) []value { return r.rounded("ceil", args, math.Ceil) },
	"abs":   func(r *run, args []value) []value { return r.rounded("abs", args, math.Abs) },
	"pow": func(r *run, args []value) []value {
		return one(math.Pow(r.mathArg("pow", args, 0), r.mathArg("pow", args, 1)))
	},
	"max": func(r *run, args []value) []value {
		return r.fold("max", args, func(a, b float64) bool { return a > b })
	},
	"min": func(r *run, args []value) []value {
		return r.fold("min", args, func(a, b float64) bool { return a < b })
	},
}

func (r *run) mathArg(name string, args []value, i int) float64 {
	f, ok := r.number(r.reveal(arg(args, i)))
	if !ok {
		r.fail("bad argument #%d to '%s' (number expected, got %s)", i+1, name, typeName(arg(args, i)))
	}
	return f
}

// rounded keeps a sealed number sealed: it is an integer, and if positive,
// its own absolute value.
func (r *run) rounded(name string, args []value, round func(float64) float64) []value {
	if l, ok := r.operand(arg(args, 0)).(linear); ok {
		if lo, _ := l.bounds(); lo >= 0 || name != "abs" {
			return one(l)
		}
	}
	return one(round(r.mathArg(name, args, 0)))
}

func (r *run) fold(name string, args []value, better func(a, b float64) bool) []value {
	best := r.mathArg(name, args, 0)
	for i := 1; i < len(args); i++ {
		r.step(1)
		if f := r.mathArg(name, args, i); better(f, best) {
			best = f
		}
	}
	return one(best)
}
