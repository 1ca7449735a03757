package lua

import "math"

var mathLibrary = map[string]Function{
	"floor": func(r *Run, args []Value) []Value { return rounded(r, "floor", args, math.Floor) },
	"ceil":  func(r *Run, args []Value) []Value { return rounded(r, "ceil", args, math.Ceil) },
	"abs":   func(r *Run, args []Value) []Value { return rounded(r, "abs", args, math.Abs) },
	"pow": func(r *Run, args []Value) []Value {
		return one(math.Pow(numberArg(r, "pow", args, 0), numberArg(r, "pow", args, 1)))
	},
	"max": func(r *Run, args []Value) []Value {
		return fold(r, "max", args, func(a, b float64) bool { return a > b })
	},
	"min": func(r *Run, args []Value) []Value {
		return fold(r, "min", args, func(a, b float64) bool { return a < b })
	},
}

// rounded asks the host first if the argument is a symbol, because the result may stay
// sealed.
func rounded(r *Run, name string, args []Value, round func(float64) float64) []Value {
	if s, ok := arg(args, 0).(Symbol); ok {
		if v, ok := r.host.Apply(name, s); ok {
			return one(v)
		}
	}
	return one(round(numberArg(r, name, args, 0)))
}

func fold(r *Run, name string, args []Value, better func(a, b float64) bool) []Value {
	best := numberArg(r, name, args, 0)
	for i := 1; i < len(args); i++ {
		r.Step(1)
		if f := numberArg(r, name, args, i); better(f, best) {
			best = f
		}
	}
	return one(best)
}
