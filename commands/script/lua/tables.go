package lua

import "strings"

var tableLibrary = map[string]Function{
	"getn": func(r *Run, args []Value) []Value {
		return one(float64(tableArg(r, "getn", args).Border(r.Budget)))
	},
	"insert": func(r *Run, args []Value) []Value {
		t := writable(r, "insert", args)
		n := t.Border(r.Budget)
		switch len(args) {
		case 2:
			t.Set(r.Budget, float64(n+1), args[1])
			return nil
		case 3:
			at := integerArg(r, "insert", args, 1)
			if at < 1 || at > n+1 {
				Refuse("inserts outside of a list")
			}
			r.Step(n)
			for i := n; i >= at; i-- {
				t.Set(r.Budget, float64(i+1), t.Get(float64(i)))
			}
			t.Set(r.Budget, float64(at), args[2])
			return nil
		}
		r.Fail("wrong number of arguments to 'insert'")
		return nil
	},
	"remove": func(r *Run, args []Value) []Value {
		t := writable(r, "remove", args)
		n := t.Border(r.Budget)
		at := n
		if arg(args, 1) != nil {
			at = integerArg(r, "remove", args, 1)
		}
		if at < 1 || at > n {
			return nil
		}
		r.Step(n)
		gone := t.Get(float64(at))
		for i := at; i < n; i++ {
			t.Set(r.Budget, float64(i), t.Get(float64(i+1)))
		}
		t.Set(r.Budget, float64(n), nil)
		return one(gone)
	},
	"concat": func(r *Run, args []Value) []Value {
		t, separator, from := tableArg(r, "concat", args), "", 1
		if arg(args, 1) != nil {
			separator = StringArg(r, "concat", args, 1)
		}
		if arg(args, 2) != nil {
			from = integerArg(r, "concat", args, 2)
		}
		var to int
		if arg(args, 3) != nil {
			to = integerArg(r, "concat", args, 3)
		} else {
			to = t.Border(r.Budget)
		}
		return one(join(r, t, separator, from, to))
	},
}

func writable(r *Run, name string, args []Value) *Table {
	t := tableArg(r, name, args)
	if t.readonly {
		r.Fail("Attempt to modify a readonly table")
	}
	return t
}

func join(r *Run, t *Table, separator string, from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		v := t.Get(float64(i))
		if kind := TypeName(v); kind != "string" && kind != "number" {
			r.Fail("invalid value (%s) at index %d in table for 'concat'", kind, i)
		}
		s := r.text(v)
		if i > from {
			s = separator + s
		}
		r.Grow(len(s))
		b.WriteString(s)
	}
	return b.String()
}
