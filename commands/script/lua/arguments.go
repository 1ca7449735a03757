package lua

import "math"

// What library functions do with their arguments. The name in each is the
// function's, for the error text; i counts from 0.

func arg(args []Value, i int) Value {
	if i < len(args) {
		return args[i]
	}
	return nil
}

func one(v Value) []Value { return []Value{v} }

// need is Lua's check that argument i is there.
func need(r *Run, name string, args []Value, i int) Value {
	if i >= len(args) {
		r.fail("bad argument #%d to '%s' (value expected)", i+1, name)
	}
	return args[i]
}

// tableArg is the first argument, which has to be a table.
func tableArg(r *Run, name string, args []Value) *Table {
	t, ok := arg(args, 0).(*Table)
	if !ok {
		got := TypeName(arg(args, 0))
		if len(args) == 0 {
			got = "no value"
		}
		r.fail("bad argument #1 to '%s' (table expected, got %s)", name, got)
	}
	return t
}

// StringArg is argument i as a string; looking at it reveals it.
func StringArg(r *Run, name string, args []Value, i int) string {
	v := r.Reveal(arg(args, i))
	if t := TypeName(v); t != "string" && t != "number" {
		if i >= len(args) {
			t = "no value"
		}
		r.fail("bad argument #%d to '%s' (string expected, got %s)", i+1, name, t)
	}
	s := Text(v)
	r.Step(1 + len(s)/16)
	return s
}

// numberArg is argument i as a number.
func numberArg(r *Run, name string, args []Value, i int) float64 {
	f, ok := r.number(r.Reveal(arg(args, i)))
	if !ok {
		r.fail("bad argument #%d to '%s' (number expected, got %s)", i+1, name, TypeName(arg(args, i)))
	}
	return f
}

// integerArg is argument i, cut to an integer.
func integerArg(r *Run, name string, args []Value, i int) int {
	f := numberArg(r, name, args, i)
	if math.Abs(f) > 1<<31 || math.IsNaN(f) {
		Refuse("passes %g to %s", f, name)
	}
	return int(f)
}
