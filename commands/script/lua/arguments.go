package lua

import "math"

// How library functions read their arguments. name is the function's name, for error
// texts; i counts from 0.

func arg(args []Value, i int) Value {
	if i < len(args) {
		return args[i]
	}
	return nil
}

func one(v Value) []Value { return []Value{v} }

// BadArgument raises Lua's error for argument i of a library function.
func (r *Run) BadArgument(name string, i int, problem string) {
	if r.byPcall() {
		name = "?"
	}
	r.Fail("bad argument #%d to '%s' (%s)", i+1, name, problem)
}

// need returns argument i, and raises Lua's error if it is missing.
func need(r *Run, name string, args []Value, i int) Value {
	if i >= len(args) {
		r.BadArgument(name, i, "value expected")
	}
	return args[i]
}

// tableArg returns the first argument, which must be a table.
func tableArg(r *Run, name string, args []Value) *Table {
	t, ok := arg(args, 0).(*Table)
	if !ok {
		got := TypeName(arg(args, 0))
		if len(args) == 0 {
			got = "no value"
		}
		r.BadArgument(name, 0, "table expected, got "+got)
	}
	return t
}

// StringArg returns argument i as a string, and reveals it.
func StringArg(r *Run, name string, args []Value, i int) string {
	v := r.Reveal(arg(args, i))
	if t := TypeName(v); t != "string" && t != "number" {
		if i >= len(args) {
			t = "no value"
		}
		r.BadArgument(name, i, "string expected, got "+t)
	}
	s := Text(v)
	r.Step(1 + len(s)/16)
	return s
}

// numberArg returns argument i as a number.
func numberArg(r *Run, name string, args []Value, i int) float64 {
	f, ok := r.number(r.Reveal(arg(args, i)))
	if !ok {
		r.BadArgument(name, i, "number expected, got "+TypeName(arg(args, i)))
	}
	return f
}

// integerArg returns argument i, cut to an integer.
func integerArg(r *Run, name string, args []Value, i int) int {
	f := numberArg(r, name, args, i)
	if math.Abs(f) > 1<<31 || math.IsNaN(f) {
		Refuse("passes %g to %s", f, name)
	}
	return int(f)
}
