package script

import "math"

// baseLibrary are the global functions.
var baseLibrary = map[string]function{
	"type": func(r *run, args []value) []value {
		return one(typeName(r.need("type", args, 0)))
	},
	"tostring": func(r *run, args []value) []value {
		return one(r.toString(r.need("tostring", args, 0)))
	},
	"tonumber": func(r *run, args []value) []value {
		return one(r.toNumber(r.need("tonumber", args, 0), arg(args, 1)))
	},
	"rawequal": func(r *run, args []value) []value {
		r.need("rawequal", args, 1)
		return one(r.equal(args[0], args[1]))
	},
	"unpack": func(r *run, args []value) []value { return r.unpack(args) },
	"select": func(r *run, args []value) []value { return r.selectFrom(args) },
	"ipairs": func(r *run, args []value) []value {
		t := r.tableArg("ipairs", args)
		return []value{ipairsNext, t, 0.0}
	},
	"pairs": func(r *run, args []value) []value {
		t := r.tableArg("pairs", args)
		return []value{pairsNext, t, nil}
	},
	"next": func(r *run, args []value) []value {
		t := r.tableArg("next", args)
		return t.next(r, r.reveal(arg(args, 1)))
	},
	"assert": func(r *run, args []value) []value {
		if truth(r.need("assert", args, 0)) {
			return args
		}
		text := "assertion failed!"
		if arg(args, 1) != nil {
			text = r.stringArg("assert", args, 1)
		}
		r.fail("%s", text)
		return nil
	},
	"error": func(r *run, args []value) []value {
		v := r.reveal(arg(args, 0))
		if arg(args, 1) != nil && arg(args, 1) != 1.0 && arg(args, 1) != 0.0 {
			refuse("calls error with a level")
		}
		if t := typeName(v); (t == "string" || t == "number") && arg(args, 1) != 0.0 {
			r.fail("%s", r.text(v))
		}
		panic(&luaError{value: v, line: r.line})
	},
	"pcall": func(r *run, args []value) []value {
		return r.protected(r.need("pcall", args, 0), args[1:])
	},
}

// protected is pcall. What it hands to the script for a caught error differs
// between versions of Redis, so an error inside is refused.
func (r *run) protected(f value, args []value) []value {
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(*luaError); ok {
				p = &RefusedError{Did: "catches an error with pcall"}
			}
			panic(p)
		}
	}()
	return append([]value{true}, r.call(f, args, "")...)
}

var (
	ipairsNext = &builtin{"ipairs", func(r *run, args []value) []value {
		i := args[1].(float64) + 1
		if v := args[0].(*table).get(i); v != nil {
			return []value{i, v}
		}
		return one(nil)
	}}
	pairsNext = &builtin{"pairs", func(r *run, args []value) []value {
		return args[0].(*table).next(r, args[1])
	}}
)

// next gives the entry after key: of a list by number, else the only entry.
// The order of other tables is Lua's secret.
func (t *table) next(r *run, key value) []value {
	if len(t.rest) > 0 && len(t.rest)+len(t.list) > 1 {
		refuse("iterates over a table that is not a list")
	}
	i := 0
	if key != nil {
		n, ok := listIndex(key)
		if !ok || len(t.rest) > 0 {
			return one(nil)
		}
		i = n
	}
	if i < len(t.list) {
		return []value{float64(i + 1), t.list[i]}
	}
	for k, v := range t.rest {
		return []value{k, v}
	}
	return one(nil)
}

func (r *run) tableArg(name string, args []value) *table {
	t, ok := arg(args, 0).(*table)
	if !ok {
		got := typeName(arg(args, 0))
		if len(args) == 0 {
			got = "no value"
		}
		r.fail("bad argument #1 to '%s' (table expected, got %s)", name, got)
	}
	return t
}

func (r *run) toString(v value) value {
	switch v := v.(type) {
	case nil:
		return "nil"
	case bool:
		if v {
			return "true"
		}
		return "false"
	case sealed, stored:
		return v
	case linear:
		if v.mul == 1 && v.add == 0 { // the text of a number up to maxNumeric is the input's own
			return sealed{v.class}
		}
	case *table, *closure, *builtin:
		refuse("converts a %s to a string", typeName(v))
	}
	return r.text(v)
}

func (r *run) toNumber(v, base value) value {
	if base != nil && base != 10.0 {
		refuse("calls tonumber with a base")
	}
	v = r.operand(v)
	if typeName(v) == "number" {
		return v
	}
	if f, ok := r.number(r.reveal(v)); ok {
		return f
	}
	return nil
}

func (r *run) unpack(args []value) []value {
	t := r.tableArg("unpack", args)
	from, to := 1, 0
	if v := arg(args, 1); v != nil {
		from = r.integer("unpack", args, 1)
	}
	if v := arg(args, 2); v != nil {
		to = r.integer("unpack", args, 2)
	} else {
		to = t.border(r.budget)
	}
	if to-from >= 8000 {
		r.fail("too many results to unpack")
	}
	var results []value
	for i := from; i <= to; i++ {
		r.grow(16)
		results = append(results, t.get(float64(i)))
	}
	return results
}

func (r *run) selectFrom(args []value) []value {
	if arg(args, 0) == value("#") {
		return one(float64(len(args) - 1))
	}
	n := r.integer("select", args, 0)
	if n < 0 {
		n += len(args)
	}
	if n < 1 {
		r.fail("bad argument #1 to 'select' (index out of range)")
	}
	if n >= len(args) {
		return nil
	}
	return args[n:]
}

// integer is argument i of a library function, cut to an integer.
func (r *run) integer(name string, args []value, i int) int {
	f, ok := r.number(r.reveal(arg(args, i)))
	if !ok {
		r.fail("bad argument #%d to '%s' (number expected, got %s)", i+1, name, typeName(arg(args, i)))
	}
	if math.Abs(f) > 1<<31 || math.IsNaN(f) {
		refuse("passes %g to %s", f, name)
	}
	return int(f)
}
