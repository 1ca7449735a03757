package lua

// baseLibrary are the global functions.
var baseLibrary = map[string]Function{
	"type": func(r *Run, args []Value) []Value {
		return one(TypeName(need(r, "type", args, 0)))
	},
	"tostring": func(r *Run, args []Value) []Value {
		return one(toString(r, need(r, "tostring", args, 0)))
	},
	"tonumber": func(r *Run, args []Value) []Value {
		return one(toNumber(r, need(r, "tonumber", args, 0), arg(args, 1)))
	},
	"rawequal": func(r *Run, args []Value) []Value {
		need(r, "rawequal", args, 1)
		return one(r.equal(args[0], args[1]))
	},
	"unpack": func(r *Run, args []Value) []Value { return unpack(r, args) },
	"select": func(r *Run, args []Value) []Value { return selectFrom(r, args) },
	"ipairs": func(r *Run, args []Value) []Value {
		t := tableArg(r, "ipairs", args)
		return []Value{ipairsNext, t, 0.0}
	},
	"pairs": func(r *Run, args []Value) []Value {
		t := tableArg(r, "pairs", args)
		return []Value{pairsNext, t, nil}
	},
	"next": func(r *Run, args []Value) []Value {
		t := tableArg(r, "next", args)
		return t.next(r.Reveal(arg(args, 1)))
	},
	"assert": func(r *Run, args []Value) []Value {
		if truth(need(r, "assert", args, 0)) {
			return args
		}
		text := "assertion failed!"
		if arg(args, 1) != nil {
			text = StringArg(r, "assert", args, 1)
		}
		r.Fail("%s", text)
		return nil
	},
	"error": func(r *Run, args []Value) []Value {
		v := r.Reveal(arg(args, 0))
		if arg(args, 1) != nil && arg(args, 1) != 1.0 && arg(args, 1) != 0.0 {
			Refuse("calls error with a level")
		}
		if t := TypeName(v); (t == "string" || t == "number") && arg(args, 1) != 0.0 {
			r.Fail("%s", r.text(v))
		}
		r.Raise(v)
		return nil
	},
	"pcall": func(r *Run, args []Value) []Value {
		return protected(r, need(r, "pcall", args, 0), args[1:])
	},
}

// protected is pcall. What a script receives for an error that is not a string differs
// between the servers that run Lua, so it is refused.
func protected(r *Run, f Value, args []Value) (results []Value) {
	direct := r.direct
	defer func() {
		r.direct = direct
		switch p := recover().(type) {
		case nil:
		case *Raised:
			if _, isText := p.Value.(string); !isText {
				Refuse("catches an error that is not a string")
			}
			results = []Value{false, p.Value}
		default:
			panic(p)
		}
	}()
	if _, isClosure := f.(*closure); !isClosure {
		r.direct = r.depth + 1
	}
	return append([]Value{true}, r.call(f, args, "")...)
}

var (
	ipairsNext = &builtin{"ipairs", func(r *Run, args []Value) []Value {
		t, isTable := arg(args, 0).(*Table)
		i, isNumber := arg(args, 1).(float64)
		if !isTable || !isNumber {
			Refuse("calls what ipairs returns by itself")
		}
		if v := t.Get(i + 1); v != nil {
			return []Value{i + 1, v}
		}
		return one(nil)
	}}
	pairsNext = &builtin{"pairs", func(r *Run, args []Value) []Value {
		t, isTable := arg(args, 0).(*Table)
		if !isTable {
			Refuse("calls what pairs returns by itself")
		}
		return t.next(r.Reveal(arg(args, 1)))
	}}
)

func toString(r *Run, v Value) Value {
	switch v := v.(type) {
	case nil:
		return "nil"
	case bool:
		if v {
			return "true"
		}
		return "false"
	case *Table, *closure, *builtin, *Userdata:
		Refuse("converts a %s to a string", TypeName(v))
	case Symbol:
		if text, ok := r.host.Apply("tostring", v); ok {
			return text
		}
	}
	return r.text(v)
}

func toNumber(r *Run, v, base Value) Value {
	if base != nil && base != 10.0 {
		Refuse("calls tonumber with a base")
	}
	if s, ok := v.(Symbol); ok {
		if n, ok := r.host.Apply("tonumber", s); ok {
			return n
		}
	}
	if TypeName(v) == "number" {
		return v
	}
	if f, ok := r.number(r.Reveal(v)); ok {
		return f
	}
	return nil
}

func unpack(r *Run, args []Value) []Value {
	t := tableArg(r, "unpack", args)
	from, to := 1, 0
	if v := arg(args, 1); v != nil {
		from = integerArg(r, "unpack", args, 1)
	}
	if v := arg(args, 2); v != nil {
		to = integerArg(r, "unpack", args, 2)
	} else {
		to = t.Border(r.Budget)
	}
	if to-from >= 8000 {
		r.Fail("too many results to unpack")
	}
	var results []Value
	for i := from; i <= to; i++ {
		r.Grow(16)
		results = append(results, t.Get(float64(i)))
	}
	return results
}

func selectFrom(r *Run, args []Value) []Value {
	if arg(args, 0) == Value("#") {
		return one(float64(len(args) - 1))
	}
	n := integerArg(r, "select", args, 0)
	if n < 0 {
		n += len(args)
	}
	if n < 1 {
		r.BadArgument("select", 0, "index out of range")
	}
	if n >= len(args) {
		return nil
	}
	return args[n:]
}
