package lua

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// standard are the globals of the tests: Lua's own, and a host's function.
var standard = func() *Globals {
	g := NewGlobals("json host.gone", "which no test needs")
	g.Add("host", map[string]Function{
		"fails": func(r *Run, _ []Value) []Value { r.Raise(Record(r.Budget, "err", "no")); return nil },
		"upper": func(r *Run, args []Value) []Value { return one(strings.ToUpper(StringArg(r, "upper", args, 0))) },
		"knows": func(r *Run, _ []Value) []Value { return one(r.Host() != nil) },
	}, map[string]Value{"LEVEL": 3.0})
	return g
}()

// answer runs source and writes what it came to on one line: its results, the
// error that it raised, or why it was refused.
func answer(source string, vars map[string]Value, h Host) (text string) {
	chunk, err := Parse("script", source)
	if err != nil {
		return "syntax: " + err.Error()
	}
	defer func() {
		p := recover()
		if err, ok := p.(error); ok && errors.As(err, new(*RefusedError)) {
			text = "refused: " + err.Error()
		} else if p != nil {
			text = fmt.Sprintf("host: %v", p)
		}
	}()
	results, raised := chunk.Call(NewBudget(), standard, vars, h)
	if raised != nil {
		return fmt.Sprintf("raised at %d: %s", raised.Line, shown(raised.Value))
	}
	var all []string
	for _, v := range results {
		all = append(all, shown(v))
	}
	return strings.Join(all, " ")
}

// shown is a value as a test writes it.
func shown(v Value) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case string:
		return fmt.Sprintf("%q", v)
	case bool:
		return fmt.Sprint(v)
	case float64:
		return FormatNumber(v, 14)
	case *Table:
		var items []string
		for _, item := range v.list {
			items = append(items, shown(item))
		}
		for key, item := range v.rest {
			items = append(items, fmt.Sprintf("%v=%s", key, shown(item)))
		}
		return "{" + strings.Join(items, " ") + "}"
	case Symbol:
		return fmt.Sprint(v)
	}
	return TypeName(v)
}

func check(t *testing.T, cases []struct{ source, want string }) {
	t.Helper()
	for _, c := range cases {
		if got := answer(c.source, nil, nil); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.source, got, c.want)
		}
	}
}

func TestStatements(t *testing.T) {
	check(t, []struct{ source, want string }{
		{``, ``},
		{`return`, ``},
		{`return 1, 'a', nil, true, {}`, `1 "a" nil true {}`},
		{`local a, b = 1 return a, b`, `1 nil`},
		{`local a, b = 1, 2 a, b = b, a return a, b`, `2 1`},
		{`local t = {} t.x, t[1] = 1, 2 return t.x, t[1]`, `1 2`},
		{`local a = 1 do local a = 2 end return a`, `1`},
		{`local a = 1 if a == 2 then return 'then' elseif a == 1 then return 'elseif' else return 'else' end`, `"elseif"`},
		{`local n = 0 while true do n = n + 1 if n == 3 then break end end return n`, `3`},
		{`local n = 0 repeat local done = n == 2 n = n + 1 until done return n`, `3`},
		{`local n = 0 for i = 1, 10, 3 do n = n + i end return n`, `22`},
		{`local n = 0 for i = 3, 1, -1 do n = n * 10 + i end return n`, `321`},
		{`for i = '1', 2 do return i end`, `1`},
		{`for i, v in ipairs({'a', 'b', nil, 'd'}) do if i == 2 then return v end end`, `"b"`},
		{`local n = 0 for k, v in pairs({5, 6}) do n = n + v end return n`, `11`},
		{`local function f() return 1, 2 end local a, b, c = f(), f() return a, b, c`, `1 1 2`},
		{`local function fact(n) if n < 2 then return 1 end return n * fact(n - 1) end return fact(10)`, `3628800`},
		{`local t = {} function t.f(x) return x end return t.f(4)`, `4`},
		{`local function f(...) local a, b = ... return select('#', ...), b, (...) end return f(7, 8, 9)`, `3 8 7`},
		{`local f do local n = 0 f = function() n = n + 1 return n end end f() return f()`, `2`},
	})
}

func TestOperators(t *testing.T) {
	check(t, []struct{ source, want string }{
		{`return 7 % 3, -7 % 3, 2 ^ 10, 1 / 4, -2 ^ 2`, `1 2 1024 0.25 -4`},
		{`return '10' + 1, '0x10' * 1, ' 5 ' - 0`, `11 16 5`},
		{`return 1 == '1', 'a' == 'a', nil == false, {} == {}`, `false true false false`},
		{`return 1 < 2, 2 <= 2, 3 > 4, 3 >= 4, 1 ~= 1`, `true true false false false`},
		{`return nil and 1, false or 'x', 0 and 'zero', not nil, not 0`, `nil "x" "zero" true false`},
		{`return 1 .. 2, 'a' .. 1.5, 1e15 .. '', 0.1 .. ''`, `"12" "a1.5" "1e+15" "0.1"`},
		{`return #'abc', #{1, 2, 3}`, `3 3`},
		{`local t = {a = 1, [2] = 'x', b = {c = 3}} return t.a, t[2], t.b.c, t.none`, `1 "x" 3 nil`},
		{`return ('x'):rep(3), ('abc').len`, `"xxx" function`},
		{`return host.upper('a'), host.LEVEL, host.none`, `"A" 3 nil`},
	})
}

func TestLibraries(t *testing.T) {
	check(t, []struct{ source, want string }{
		{`return type(nil), type(1), type('') , type({}), type(type), type(true)`, `"nil" "number" "string" "table" "function" "boolean"`},
		{`return tostring(1e3), tostring(nil), tostring(true), tonumber('12'), tonumber('x'), tonumber('1e2')`, `"1000" "nil" "true" 12 nil 100`},
		{`return select(2, 'a', 'b', 'c'), select(-1, 'a', 'b')`, `"b" "b"`},
		{`return unpack({1, 2, 3}, 2)`, `2 3`},
		{`return pcall(function(x) return x end, 5)`, `true 5`},
		{`return pcall(function() error('x') end)`, `false "script:1: x"`},
		{`return pcall(error, 'x')`, `false "x"`},
		{`return pcall(string.rep)`, `false "bad argument #1 to '?' (string expected, got no value)"`},
		{`return pcall(string.gsub, 'a', 'a', function() string.rep() end)`, `false "script:1: bad argument #1 to 'rep' (string expected, got no value)"`},
		{`return pcall(pcall, pcall, error, 'x')`, `true true false "x"`},
		{`return pcall(pcall, function() error('x') end)`, `true false "script:1: x"`},
		{`pcall(error, 'x') return ('x'):rep('y')`, `raised at 1: "script:1: bad argument #2 to 'rep' (number expected, got string)"`},
		{`return pcall(nil)`, `false "attempt to call a nil value"`},
		{`return assert(1, 'no'), rawequal('a', 'a'), next({9})`, `1 true 1 9`},
		{`return ('hello'):sub(2, -2), ('Ab'):lower(), ('Ab'):upper(), ('abc'):reverse(), ('abc'):byte(2), string.char(72, 105)`, `"ell" "ab" "AB" "cba" 98 "Hi"`},
		{`return string.format('%s=%d%%', 'a', 3.7)`, `"a=3%"`},
		{`return ('a.b'):find('.', 1, true), ('key:42'):match('(%a+):(%d+)')`, `2 "key" "42"`},
		{`return ('key:42'):find('%d+')`, `5 6`},
		{`return ('a-b-c'):gsub('-', '+', 1)`, `"a+b-c" 1`},
		{`return ('ab'):gsub('%w', '<%0>')`, `"<a><b>" 2`},
		{`return ('ab'):gsub('%w', {a = 'x'})`, `"xb" 2`},
		{`local s = '' for w in ('a bc d'):gmatch('%a+') do s = s .. #w end return s`, `"121"`},
		{`local t = {1, 2} table.insert(t, 3) table.insert(t, 1, 0) return table.concat(t, ','), table.remove(t), #t`, `"0,1,2,3" 3 3`},
		{`return math.floor(1.7), math.ceil(1.2), math.abs(-3), math.max(1, 5, 2), math.min(4, 2), math.pow(2, 3), math.huge > 1e300`, `1 2 3 5 2 8 true`},
	})
}

// TestRaised: errors have Lua's words, the chunk's name and the line.
func TestRaised(t *testing.T) {
	check(t, []struct{ source, want string }{
		{"\nlocal x = nil\nreturn x.y", `raised at 3: "script:3: attempt to index local 'x' (a nil value)"`},
		{`local t = {} return t.a.b`, `raised at 1: "script:1: attempt to index field 'a' (a nil value)"`},
		{`local t = {} t.f()`, `raised at 1: "script:1: attempt to call field 'f' (a nil value)"`},
		{`return ('x'):nope()`, `raised at 1: "script:1: attempt to call method 'nope' (a nil value)"`},
		{`return 1 + {}`, `raised at 1: "script:1: attempt to perform arithmetic on a table value"`},
		{`return 'a' .. {}`, `raised at 1: "script:1: attempt to concatenate a table value"`},
		{`return 1 < 'x'`, `raised at 1: "script:1: attempt to compare number with string"`},
		{`return {} < {}`, `raised at 1: "script:1: attempt to compare two table values"`},
		{`return #nil`, `raised at 1: "script:1: attempt to get length of a nil value"`},
		{`return nothing`, `raised at 1: "script:1: Script attempted to access nonexistent global variable 'nothing'"`},
		{`x = 1`, `raised at 1: "script:1: Attempt to modify a readonly table"`},
		{`string.x = 1`, `raised at 1: "script:1: Attempt to modify a readonly table"`},
		{`local t = {} t[nil] = 1`, `raised at 1: "script:1: table index is nil"`},
		{`for i = 'a', 2 do end`, `raised at 1: "script:1: 'for' initial value must be a number"`},
		{`return ('x'):rep('y')`, `raised at 1: "script:1: bad argument #2 to 'rep' (number expected, got string)"`},
		{`return string.len()`, `raised at 1: "script:1: bad argument #1 to 'len' (string expected, got no value)"`},
		{`return ipairs(1)`, `raised at 1: "script:1: bad argument #1 to 'ipairs' (table expected, got number)"`},
		{`error('mine')`, `raised at 1: "script:1: mine"`},
		{`error('mine', 0)`, `raised at 1: "mine"`},
		{`error({err = 'mine'})`, `raised at 1: {err="mine"}`},
		{`assert(false, 'so')`, `raised at 1: "script:1: so"`},
		{"\nhost.fails()", `raised at 2: {err="no"}`},
	})
}

// TestRefusedByName: what is not done as Lua 5.1 does it is not done at all.
func TestRefusedByName(t *testing.T) {
	check(t, []struct{ source, want string }{
		{`return math.random()`, `refused: uses math.random, which no test needs`},
		{`return json`, `refused: uses json, which no test needs`},
		{`return host.gone`, `refused: uses host.gone, which no test needs`},
		{`return setmetatable({}, {})`, `refused: uses setmetatable, which no test needs`},
		{`return 'a' < 'b'`, `refused: orders strings with < or >`},
		{`return #{1, nil, 3}`, `refused: asks for the length of a table with gaps`},
		{`for k in pairs({a = 1, b = 2}) do end`, `refused: iterates over a table that is not a list`},
		{`return tostring({})`, `refused: converts a table to a string`},
		{`return tonumber('ff', 16)`, `refused: calls tonumber with a base`},
		{`return '0x1p3' + 1`, `refused: reads "0x1p3" as a number`},
		{`return (0 / 0) .. ''`, `refused: converts a number that is not finite to a string`},
		{`return string.format('%5d', 1)`, `refused: uses string.format with more than %s and %d`},
		{`return ('x'):match('%f[%a]x')`, `refused: uses string.match with the pattern "%f[%a]x"`},
		{`return ('x'):gsub('[a', '')`, `refused: uses string.gsub with the pattern "[a"`},
		{`return string.gmatch('x', '^a')`, `refused: uses string.gmatch with ^, which is no anchor there`},
		{`return pcall(error, {})`, `refused: catches an error that is not a string`},
		{`return pcall(host.fails)`, `refused: catches an error that is not a string`},
		{`error('x', 2)`, `refused: calls error with a level`},
		{`return {'a', [1] = 'b'}`, `refused: mixes numbered and listed entries in one table`},
		{`local t = {} function t:f() end`, `refused: defines a method`},
		{`local f = ipairs({}) return f()`, `refused: calls what ipairs returns by itself`},
		{`local f = ipairs({}) return f({}, 'x')`, `refused: calls what ipairs returns by itself`},
		{`for _ in ipairs({}), 1, 2 do end`, `refused: calls what ipairs returns by itself`},
		{`local f = pairs({}) return f(1)`, `refused: calls what pairs returns by itself`},
	})
}

func TestVariablesOfTheCall(t *testing.T) {
	vars := map[string]Value{"ITEMS": List(NewBudget(), "a", 2.0), "string": "mine"}
	if got := answer(`return #ITEMS, ITEMS[1] .. ITEMS[2], string`, vars, nil); got != `2 "a2" "mine"` {
		t.Error(got)
	}
	if got := answer(`ITEMS[1] = 'b' return ITEMS[1]`, vars, nil); got != `"b"` {
		t.Error(got)
	}
}
