package lua

import (
	"fmt"
	"testing"
)

// sym is a symbol of the tests, by its type.
type sym string

func (s sym) Type() string { return string(s) }

// recorder is a host that ends a run with the question that it was asked, or
// answers what it knows.
type recorder struct{ known map[string]Value }

func (h recorder) ask(question string) (Value, bool) {
	v, ok := h.known[question]
	return v, ok
}

func (h recorder) Reveal(s Symbol) Value { panic("reveal " + s.Type()) }

func (h recorder) Compare(operator string, a, b Value) bool {
	question := fmt.Sprint(a, " ", operator, " ", b)
	v, ok := h.ask(question)
	if !ok {
		panic(question)
	}
	return v.(bool)
}

func (h recorder) Arithmetic(operator string, a, b Value) (Value, bool) {
	return h.ask(fmt.Sprint(a, " ", operator, " ", b))
}

func (h recorder) Apply(function string, s Symbol) (Value, bool) {
	return h.ask(function + " " + s.Type())
}

// TestSymbols: what the interpreter knows of a symbol by itself, and what it
// asks the host about.
func TestSymbols(t *testing.T) {
	vars := map[string]Value{"S": sym("string"), "N": sym("number"), "T": List(NewBudget(), sym("string"))}
	known := map[string]Value{
		"string == tok": true, "number < 5": true, "5 <= number": false,
		"number + 1": sym("number"), "number * -1": sym("number"), "1 - number": 7.0,
		"tonumber string": sym("number"), "tostring string": sym("string"), "floor number": sym("number"),
	}
	for _, c := range []struct{ source, want string }{
		// By itself.
		{`return S, N, T[1]`, `string number string`},
		{`return type(S), type(N), S and 1, not N, S == 1, N == 'x', S == nil`, `"string" "number" 1 false false false false`},
		{`local t = {S, x = N} return t[1], t.x, select('#', S, N), #t`, `string number 2 1`},
		// By what the host knows.
		{`return S == 'tok', S ~= 'tok', N < 5, N >= 5, 5 > N`, `true false true false true`},
		{`return N + 1, -N, 1 - N`, `number number 7`},
		{`return tonumber(S), tonumber(N), tostring(S), math.floor(N)`, `number number string number`},
		// What looks into one.
		{`return S == 'other'`, `host: string == other`},
		{`return S .. 'x'`, `host: reveal string`},
		{`return #S`, `host: reveal string`},
		{`return N * 2`, `host: reveal number`},
		{`return N + S`, `host: reveal number`},
		{`return ({})[S]`, `host: reveal string`},
		{`return {[S] = 1}`, `host: reveal string`},
		{`return S:sub(1, 2)`, `host: reveal string`},
		{`return math.abs(N), 1`, `host: reveal number`},
		{`return tostring(N)`, `host: reveal number`},
		{`for i = 1, N do end`, `host: reveal number`},
		{`error(S)`, `host: reveal string`},
		{`return pcall(function() return #S end)`, `host: reveal string`},
		{`return table.concat(T)`, `host: reveal string`},
		// What no value of the type allows.
		{`return S < S`, `refused: orders strings with < or >`},
		{`return S < 1`, `raised at 1: "script:1: attempt to compare string with number"`},
		{`return N.x`, `raised at 1: "script:1: attempt to index global 'N' (a number value)"`},
		{`return S()`, `raised at 1: "script:1: attempt to call global 'S' (a string value)"`},
	} {
		if got := answer(c.source, vars, recorder{known}); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.source, got, c.want)
		}
	}
}
