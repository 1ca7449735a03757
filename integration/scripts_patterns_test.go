package integration

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// patternScripts use each function that takes a Lua pattern: ARGV[1] is the
// string, ARGV[2] the pattern, ARGV[3] a replacement.
var patternScripts = []string{
	`local t = {} for i, v in ipairs({string.find(ARGV[1], ARGV[2])}) do t[i] = tostring(v) end return table.concat(t, '|')`,
	`local t = {} for i, v in ipairs({string.find(ARGV[1], ARGV[2], -2)}) do t[i] = tostring(v) end return table.concat(t, '|')`,
	`local t = {} for i, v in ipairs({ARGV[1]:match(ARGV[2], 2)}) do t[i] = tostring(v) end return table.concat(t, '|')`,
	`local t = {} for a, b in string.gmatch(ARGV[1], ARGV[2]) do t[#t + 1] = tostring(a) .. '/' .. tostring(b) end return table.concat(t, '|')`,
	`local s, n = string.gsub(ARGV[1], ARGV[2], ARGV[3]) return s .. '|' .. n`,
	`local s, n = ARGV[1]:gsub(ARGV[2], {a = 'x', b = 1, ['1'] = false}, 2) return s .. '|' .. n`,
	`local s, n = ARGV[1]:gsub(ARGV[2], function(a, b) if a == 'a' then return nil end return (b or 'none') .. tostring(a) end) return s .. '|' .. n`,
}

// TestC7PatternsAsOnRedis: string.find, match, gmatch and gsub find what
// Redis's Lua finds, or the script is refused with the pattern's name.
func TestC7PatternsAsOnRedis(t *testing.T) {
	one := DialWire(t, StartRedis(t).Addr)
	r, _ := StartCluster(t, 3)
	lockd := DialWire(t, r.Addr)
	g := lua{rand.New(rand.NewPCG(seedOfScripts(t), 7)), 1}
	compared, refused := 0, 0
	for range max(1, scriptCount()/100) {
		var commands [][]string
		for range 100 {
			commands = append(commands, []string{"EVAL", patternScripts[g.IntN(len(patternScripts))], "0",
				g.word(10, "a", "b", "1", " ", ":", "-", "ab", "]"), g.pattern(), g.pick("x", "%1", "<%0>", "%2%1", "", "%%", "%a")})
		}
		want, err := one.batch(commands)
		if err != nil {
			t.Fatal(err)
		}
		got, err := lockd.batch(commands)
		if err != nil {
			t.Fatal(err)
		}
		for i, args := range commands {
			switch {
			case scriptRefused(got[i]):
				refused++
			case sameError(want[i], got[i]):
				compared++
			default:
				t.Errorf("%s\nARGV %q\nredis    %q\nredlockd %q", args[1], args[3:], want[i], got[i])
			}
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d compared, %d refused", compared, refused)
	if refused > compared {
		t.Errorf("%d refused and only %d compared", refused, compared)
	}
}

// sameError lets an error differ in where in the script it was raised.
func sameError(want, got string) bool {
	if want == got {
		return true
	}
	text := func(reply string) string { text, _, _ := strings.Cut(reply, " script: "); return text }
	return want[0] == '-' && text(want) == text(got)
}

func (g lua) word(most int, letters ...string) string {
	var b strings.Builder
	for range g.IntN(most) {
		b.WriteString(g.pick(letters...))
	}
	return b.String()
}

// pattern is a pattern that is often a good one.
func (g lua) pattern() string {
	if g.one(6) {
		return g.word(8, "a", "b", "%", "[", "]", "(", ")", "^", "$", "*", "-", ".", "+", "?")
	}
	items := []string{"a", "b", ".", "%a", "%d", "%s", "%W", "%.", "%-", "[ab]", "[^a]", "[%d:]", "[a-b1]", "[]a]", "[%w-]", "[a-z%s]",
		":", " ", "-", "%]", "$", "ab", "(a)", "()", "%x", "%u"}
	text := g.pick("", "", "^")
	depth := 0
	for range 1 + g.IntN(4) {
		if g.one(4) {
			text, depth = text+"(", depth+1
		}
		text += items[g.IntN(len(items))] + g.pick("", "", "*", "+", "-", "?")
		if depth > 0 && g.one(2) {
			text, depth = text+")", depth-1
		}
	}
	text += strings.Join(slices.Repeat([]string{")"}, depth), "")
	return text + g.pick("", "", "", "$")
}
