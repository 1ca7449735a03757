package lua

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// hostile scripts want to end the process, or to keep it busy.
var hostile = []struct{ name, body string }{
	{"endless loop", `while true do end`},
	{"endless repeat", `repeat until false`},
	{"endless for", `for i = 1, 2, 0 do end`},
	{"endless for by infinity", `for i = 1, math.huge do end`},
	{"endless in pcall", `while true do pcall(function() while true do end end) end`},
	{"deep recursion", `local function f(n) return 1 + f(n + 1) end return f(1)`},
	{"deep recursion through pcall", `local function f() return pcall(f) end return f()`},
	{"endless tail calls", `local function f() return f() end return f()`},
	{"doubling", `local s = 'x' while true do s = s .. s end`},
	{"rep", `return string.rep('x', 1e9)`},
	{"rep of nothing", `return string.rep('', 2e9)`},
	{"rep in a loop", `for i = 1, 1e9 do local s = string.rep('x', 100000) end`},
	{"format width", `return string.format('%99999999d', 1)`},
	{"concat of a table", `local t = {} for i = 1, 1e6 do t[i] = string.rep('x', 100) end return table.concat(t)`},
	{"big table", `local t = {} for i = 1, 1e9 do t[i] = i end`},
	{"sparse table", `local t = {} for i = 1, 1e9 do t[i * 7] = i end`},
	{"table that is torn", `local t = {} for i = 1, 5000 do t[i] = i end while true do t[1] = nil t[1] = 1 end`},
	{"unpack", `return unpack({}, 1, 1e8)`},
	{"unpack in a loop", `local t = {} while true do t = {unpack(t), unpack(t)} t[#t + 1] = 1 end`},
	{"varargs that grow", `local function f(...) return f(1, 2, 3, ...) end return f()`},
	{"pattern", `return string.find(string.rep('a', 5000), string.rep('a*', 30) .. 'b')`},
	{"plain find", `local s = string.rep('a', 100000) while true do string.find(s, 'aaab', 1, true) end`},
	{"many locals", strings.Repeat("local a = 1 ", 2000)},
	{"closures", `local f = function() end while true do local g = f f = function() return g() end end`},
	{"upvalue chain", `local function f(n) local a, b, c, d = 1, 2, 3, 4 if n > 0 then return f(n - 1) end return a end while true do f(90) end`},
	{"long error", `error(string.rep('x', 1e6))`},
	{"error of a table", `error({})`},
	{"not a number", `return 0 / 0`},
	{"file", `return io.open('/etc/passwd')`},
	{"load", `return loadstring('return 1')()`},
	{"require", `return require('os')`},
	{"globals", `return _G`},
	{"metatables", `return setmetatable({}, {})`},
	{"a library overwritten", `string.rep = nil`},
	{"deep parentheses", "return " + strings.Repeat("(", 15000) + "1" + strings.Repeat(")", 15000)},
	{"deep tables", "return " + strings.Repeat("{", 15000) + strings.Repeat("}", 15000)},
	{"deep nots", "return " + strings.Repeat("not ", 8000) + "1"},
	{"deep minus", "return " + strings.Repeat("- ", 15000) + "1"},
	{"long sum", "return 1" + strings.Repeat("+1", 16000)},
	{"long concatenation", "return 'a'" + strings.Repeat("..'a'", 6000)},
	{"deep functions", strings.Repeat("return function() ", 1500) + strings.Repeat(" end", 1500)},
	{"deep blocks", strings.Repeat("do ", 8000) + strings.Repeat("end ", 3000)},
	{"long elseif", "if a then " + strings.Repeat("elseif a then ", 2000) + "end"},
	{"long call chain", "return f" + strings.Repeat("()", 15000)},
	{"long index chain", "return f" + strings.Repeat(".a", 15000)},
	{"nested to the limit, and recursive", `local function f(n) return ` + strings.Repeat("(1 + ", 60) + "f(n)" + strings.Repeat(")", 60) + ` end return f(1)`},
	{"too long", "return 1 --" + strings.Repeat("x", maxSource)},
	{"nothing", ``},
	{"zero bytes", "return '\x00' == \x00"},
	{"odd numbers", `return tonumber('nan'), tonumber('0x1p3'), 1e999`},
}

// TestHostile claims that every script ends, soon, with an answer that is no
// panic of Go, and takes little memory.
func TestHostile(t *testing.T) {
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			text := answer(h.body, nil, nil)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if strings.HasPrefix(text, "host:") {
				t.Error(text)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 100<<20 && !raceEnabled { // the detector allocates itself
				t.Errorf("allocated %d MiB", used>>20)
			}
			limit := 2 * time.Second // for tens of milliseconds
			if raceEnabled {
				limit *= 10
			}
			if took > limit {
				t.Errorf("took %v", took)
			}
			t.Logf("%v, %d KiB: %.200s", took, (after.TotalAlloc-before.TotalAlloc)>>10, text)
		})
	}
}

func TestBounds(t *testing.T) {
	check(t, []struct{ source, want string }{
		{`while true do end`, "refused: does not end within 200000 steps"},
		{`local s = 'x' while true do s = s .. s end`, "refused: uses more than 8388608 bytes of memory"},
		{`local function f() return f() end return f()`, "refused: nests more than 100 calls"},
		{strings.Repeat("local a = 1 ", 500), "refused: has more than 400 local variables in scope"},
		{`return string.find(string.rep('a', 5000), string.rep('a*', 30) .. 'b')`, "refused: matches a pattern that may take more than 200000 steps"},
	})
}

// TestBudgetIsShared: what one run has used, the next one does not have.
func TestBudgetIsShared(t *testing.T) {
	chunk, err := Parse("script", `for i = 1, 20000 do end`)
	if err != nil {
		t.Fatal(err)
	}
	b, runs := NewBudget(), 0
	defer func() {
		if _, refused := recover().(*RefusedError); !refused || runs == 0 || runs > 10 {
			t.Errorf("%d runs on one budget", runs)
		}
	}()
	for ; runs < 100; runs++ {
		chunk.Call(b, standard, nil, nil)
	}
}

func TestParseErrors(t *testing.T) {
	for source, want := range map[string]string{
		"return foo(":                "script:1: syntax error near '<eof>'",
		"local x = 1\nlocal y = = 2": "script:2: syntax error near '='",
		"break":                      "script:1: no loop to break",
		"while true do local f = function() break end end": "script:1: no loop to break",
		"goto x ::x::": "script:1: '=' expected",
		"return " + strings.Repeat("not ", 1000) + "1": "script:1: chunk has too many syntax levels",
		"--" + strings.Repeat("x", maxSource):          "script:1: script is longer than 32768 bytes",
	} {
		if _, err := Parse("script", source); err == nil || err.Error() != want {
			t.Errorf("%.40q: got %v, want %s", source, err, want)
		}
	}
}

// FuzzCall: whatever the text is, a run ends, with results, an error of Lua's or a
// refusal, and never with a panic of Go or of the host.
func FuzzCall(f *testing.F) {
	for _, h := range hostile {
		f.Add(h.body)
	}
	for _, source := range []string{
		`local f, t, i = ipairs({1}) return f(t, i)`, `local f, t = pairs({1}) return f(t)`, `return next({a = 1})`,
		`return ('a.b'):gsub('%.', {['.'] = '-'})`, `return string.format('%s %d', 'a', 1), select(-1, unpack({1, 2}))`,
		`return ITEMS[1] .. #ITEMS, tostring(tonumber('0x10')), math.floor(-0.5)`,
	} {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		watchdog := time.AfterFunc(10*time.Second, func() { panic("does not end: " + source) })
		defer watchdog.Stop()
		vars := map[string]Value{"ITEMS": List(NewBudget(), "a", 2.0)}
		if text := answer(source, vars, nil); strings.HasPrefix(text, "host:") {
			t.Errorf("%s\n%s", source, text)
		}
	})
}
