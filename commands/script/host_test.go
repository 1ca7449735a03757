package script

import (
	"fmt"
	"testing"

	"github.com/redlockd/redlockd/commands/script/lua"
)

// askedOf is what a run that knows only its inputs answers, or how it ends.
func askedOf(do func() (value, bool)) (answer string) {
	defer func() {
		if p := recover(); p != nil {
			answer = fmt.Sprintf("%#v", p)
		}
	}()
	v, known := do()
	if !known {
		return "unknown"
	}
	return fmt.Sprintf("%v", v)
}

// TestC7SealedValues: what is told of a sealed value holds for all calls of the
// form; all else ends the run, and says which input was looked into.
func TestC7SealedValues(t *testing.T) {
	f := &form{inputs: []string{"lock", "tok", "5000"}, keys: 1}
	f.compare()
	tok, time, n := sealed{1}, sealed{2}, linear{2, 1, 0}
	compare := func(a value, operator string, b value) func(*run) (value, bool) {
		return func(r *run) (value, bool) { return r.Compare(operator, a, b), true }
	}
	arithmetic := func(a value, operator string, b value) func(*run) (value, bool) {
		return func(r *run) (value, bool) { return r.Arithmetic(operator, a, b) }
	}
	apply := func(function string, s lua.Symbol) func(*run) (value, bool) {
		return func(r *run) (value, bool) { return r.Apply(function, s) }
	}
	for _, c := range []struct {
		name  string
		do    func(*run) (value, bool)
		token int
		want  string
	}{
		{"two inputs", compare(tok, "==", time), 1, "false"},
		{"one input", compare(tok, "==", tok), 1, "true"},
		{"an input and a text", compare(tok, "==", "admin"), 1, "script.revealInput{class:1}"},
		{"the stored value and the token", compare(stored{}, "==", tok), 1, "false"},
		{"the stored value and what may be the token", compare(tok, "==", stored{}), -1, "script.tokenFound{class:1}"},
		{"the stored value and another input", compare(stored{}, "==", time), 1, "script.unproved{}"},
		{"a number and 0", compare(n, "<=", 0.0), 1, "false"},
		{"0 and a number", compare(0.0, "<", n), 1, "true"},
		{"a number and one within its bounds", compare(n, "<", 100.0), 1, "script.revealInput{class:2}"},
		{"milliseconds left are not 0", compare(remaining{}, "==", 0.0), 1, "false"},
		{"seconds left may be 0", compare(remaining{true}, "==", 0.0), 1, "script.unproved{}"},
		{"time left and a number", compare(n, "<", remaining{}), 1, "script.unproved{}"},
		{"times and plus", arithmetic(time, "*", 1000.0), 1, "{2 1000 0}"},
		{"a constant less a number", arithmetic(10.0, "-", n), 1, "{2 -1 10}"},
		{"half a number", arithmetic(n, "*", 0.5), 1, "unknown"},
		{"a quotient", arithmetic(n, "/", 2.0), 1, "unknown"},
		{"an input that is no number", arithmetic(tok, "+", 1.0), 1, "unknown"},
		{"a number and the time left", arithmetic(1.0, "+", remaining{}), 1, "script.unproved{}"},
		{"tonumber", apply("tonumber", time), 1, "{2 1 0}"},
		{"tonumber of a text", apply("tonumber", tok), 1, "unknown"},
		{"tostring of an input", apply("tostring", time), 1, "{2}"},
		{"tostring of its number", apply("tostring", n), 1, "{2}"},
		{"tostring of another number", apply("tostring", linear{2, 2, 0}), 1, "unknown"},
		{"floor", apply("floor", linear{2, -2, 1}), 1, "{2 -2 1}"},
		{"abs", apply("abs", n), 1, "{2 1 0}"},
		{"abs of what is negative", apply("abs", linear{2, -1, 0}), 1, "unknown"},
		{"what a look reveals", func(r *run) (value, bool) { return r.Reveal(n), true }, 1, "script.revealInput{class:2}"},
		{"a look at the stored value", func(r *run) (value, bool) { return r.Reveal(stored{}), true }, 1, "script.unproved{}"},
	} {
		r := &run{form: f, proving: true, token: c.token}
		if got := askedOf(func() (value, bool) { return c.do(r) }); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}
