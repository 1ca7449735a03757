package integration

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// jsonScripts use cjson in each way. ARGV[1] is a text.
var jsonScripts = []string{
	`return cjson.encode(cjson.decode(ARGV[1]))`,
	`return cjson.decode(ARGV[1])`,
	`local ok, v = pcall(cjson.decode, ARGV[1]) return {tostring(ok), type(v), ok and 'read' or v}`,
	`local ok, v = pcall(function() local t = cjson.decode(ARGV[1]) return cjson.encode({t, t}) end) return {tostring(ok), v}`,
	`local v = cjson.decode(ARGV[1]) return {type(v), v == cjson.null and 'null' or '', type(v) == 'table' and type(v.a) or ''}`,
	`return cjson.encode({ARGV[1], #ARGV[1], {[ARGV[1]] = ARGV[1] == '1'}})`,
}

// TestC7JSONAsOnRedis: cjson reads, writes and rejects what Redis's cjson does, but for the
// order of the keys of an object.
func TestC7JSONAsOnRedis(t *testing.T) {
	t.Parallel()
	one := DialWire(t, StartRedis(t).Addr)
	r, _ := StartCluster(t, 3)
	lockd := DialWire(t, r.Addr)
	g := lua{rand.New(rand.NewPCG(seedOfScripts(t), 36)), 1}
	commands := [][]string{
		{"EVAL", jsonScripts[0], "0", strings.Repeat("[", 1000) + strings.Repeat("]", 1000)},
		{"EVAL", jsonScripts[0], "0", strings.Repeat("[", 1001) + strings.Repeat("]", 1001)},
		{"EVAL", jsonScripts[0], "0", strings.Repeat(`{"a":`, 1001)},
		{"EVAL", `local t = {} t.a = t return cjson.encode(t)`, "0"},
		{"EVAL", `return cjson.encode(cjson)`, "0"},
		{"EVAL", `return {cjson.null, cjson._VERSION, type(cjson.nothing)}`, "0"},
		{"EVAL", `return cjson.encode()`, "0"},
		{"EVAL", `return cjson.decode('1', '2')`, "0"},
		{"EVAL", `return {pcall(cjson.decode)}`, "0"},
	}
	for range cmp.Or(*scripts, 1000) { // a thousand take 0.1 s
		commands = append(commands,
			[]string{"EVAL", jsonScripts[g.IntN(len(jsonScripts))], "0", g.json(3)},
			[]string{"EVAL", "return cjson.encode(" + g.table(3) + ")", "0"})
	}
	want, err := one.batch(commands)
	if err != nil {
		t.Fatal(err)
	}
	got, err := lockd.batch(commands)
	if err != nil {
		t.Fatal(err)
	}
	read, rejected, refused := 0, 0, 0
	for i, args := range commands {
		switch {
		case scriptRefused(got[i]):
			refused++
		case want[i][0] == '-' && (sameError(want[i], got[i]) || cannotWrite(want[i]) && cannotWrite(got[i])):
			rejected++
		case want[i] == got[i] || sameJSON(want[i], got[i]):
			read++
		default:
			t.Errorf("%s\nARGV %q\nredis    %q\nredlockd %q", args[1], args[3:], want[i], got[i])
		}
	}
	t.Logf("%d read, %d rejected, %d refused", read, rejected, refused)
	if few := len(commands) / 20; read < 10*few || rejected < few || refused > few {
		t.Errorf("of %d commands %d read, %d rejected, %d refused: the texts are too alike", len(commands), read, rejected, refused)
	}
}

// cannotWrite reports whether a reply names something that JSON does not have. Of two such
// things either may be named.
func cannotWrite(reply string) bool {
	return strings.HasPrefix(reply, "-ERR user_script:1: Cannot serialise ")
}

// sameJSON reports whether two replies are the same but for the order of keys in JSON.
func sameJSON(want, got string) bool {
	a, b := strings.Split(want, "\r\n"), strings.Split(got, "\r\n") // JSON has no line breaks
	return slices.EqualFunc(a, b, func(x, y string) bool {
		var v, w any
		return x == y || len(x) == len(y) && json.Unmarshal([]byte(x), &v) == nil && json.Unmarshal([]byte(y), &w) == nil && reflect.DeepEqual(v, w)
	})
}

// json is a random text that is nearly JSON, or is.
func (g lua) json(depth int) string {
	space := g.pick("", "", "", " ", "\n\t ")
	if g.one(40) {
		return g.pick("}", "]", ",", ":", "\x00", "x", "tru", "'a'", "", "[", "{", "\"", "\\", "\xff", "nulll", "[1}")
	}
	switch n := g.IntN(9); {
	case n < 2 && depth > 0:
		var items []string
		for range g.IntN(4) {
			items = append(items, g.json(depth-1))
		}
		return space + "[" + strings.Join(items, g.separator(",")) + "]" + space
	case n < 4 && depth > 0:
		var items []string
		for i := range g.IntN(4) {
			items = append(items, fmt.Sprintf("%s%s%s", g.pick(`"a"`, `"b"`, `"é"`, `"\u0061b"`, `"1"`, `""`, fmt.Sprintf(`"k%d"`, i)), g.separator(":"), g.json(depth-1)))
		}
		return space + "{" + strings.Join(items, g.separator(",")) + "}" + space
	case n < 6:
		return g.pick("0", "-0", "1", "-1.5", "1e3", "1E-7", "123456789012345678", "0.1", "1e15", "99999999999999", "007", "+5", "0x1F", "0x1.8p1", "-.5", "1.", "0x",
			"1e", "1e+", "-", "--1", "+-1", "inf", "-inf", "Infinity", "NaN", "-nan", "infinit", "1e999", "-1e999", "1e-999", "3.14159265358979", "12345678901234567890", "0x1p", ".5")
	case n < 8:
		var b strings.Builder
		for range g.IntN(5) {
			b.WriteString(g.pick("a", "tok", " ", "é", "\xff", "\x01", "\x7f", `\n`, `\"`, `\\`, `\/`, `\b`, `\u0041`, `\u00e9`, `\u20AC`, `\ud83d\ude00`, `\u0000`, "/",
				"a", "b", "c", "d", g.pick(`\ud83d`, `\ude00`, `\ud83d\u0041`, `\u12g4`, `\u12`, `\x`, "\x00")))
		}
		return `"` + b.String() + `"`
	}
	return g.pick("true", "false", "null")
}

// separator is what belongs between two items, and rarely something else.
func (g lua) separator(s string) string {
	if g.one(60) {
		return g.pick("", " ", ",,", ";", "::")
	}
	return s + g.pick("", "", " ")
}

// table is a random value of Lua, rarely one that JSON does not have.
func (g lua) table(depth int) string {
	if g.one(25) {
		return g.pick("1/0", "-1/0", "0/0", "type", "{[true] = 1}", "{[11] = 1}", "{[1] = 1, [40] = 2}", "{[{}] = 1}", "{f = type}", "nil, 1")
	}
	switch n := g.IntN(8); {
	case n < 2 && depth > 0:
		var items []string
		for range g.IntN(4) {
			items = append(items, g.table(depth-1))
		}
		return "{" + strings.Join(items, ", ") + "}"
	case n < 4 && depth > 0:
		var items []string
		for i := range g.IntN(4) {
			items = append(items, g.pick(`["a b"]`, `["/"]`, `["\\"]`, `x`, `["k"]`, `[-1]`, `[0]`, `[1.5]`, `[2]`, `[3]`, `[10]`, fmt.Sprintf("[%d]", i+1))+" = "+g.table(depth-1))
		}
		return "{" + strings.Join(items, ", ") + "}"
	case n < 6: // not -0.0, which Lua takes for a 0 elsewhere in the script
		return g.pick("0", "1", "1/3", "2^53", "1e15", "123456789", "-2.5e-10", "1e14", "99999999999999", "1e300")
	}
	return g.pick("true", "false", "nil", "cjson.null", "'text'", `"\0\31\127\255"`, `'/"\\'`, `'\n\t\b\f\r'`, "{}", "{{}}", "{nil, 2}")
}

// objectLock is a lock whose value is an object: how it is taken, renewed and released by
// its owner, with ARGV owner, version, milliseconds.
var objectLock = struct{ take, renew, release string }{
	`local mine = cjson.encode({owner = ARGV[1], version = ARGV[2]})
if redis.call('SET', KEYS[1], mine, 'NX', 'PX', ARGV[3]) then return 1 end
return 0`,
	`local text = redis.call('GET', KEYS[1])
local held = text and cjson.decode(text) or {}
if held.owner ~= ARGV[1] then return 0 end
held.version = ARGV[2]
redis.call('PSETEX', KEYS[1], ARGV[3], cjson.encode(held))
return 1`,
	`local text = redis.call('GET', KEYS[1])
if not text or cjson.decode(text).owner ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`,
}

// TestC7ObjectsContest: of many that want a lock whose value is an object, through two
// redlockd, one has it at a time; each renews and releases its own, and never another's.
func TestC7ObjectsContest(t *testing.T) {
	t.Parallel()
	masters := StartMasters(t, 3)
	cfg := overFive(masters)
	first := StartRedlockd(t, cfg, masters)
	second := JoinRedlockd(t, cfg)
	var wires []*Wire
	for i := range 4 {
		wires = append(wires, DialWire(t, []string{first.Addr, second.Addr}[i%2]))
	}
	ask := func(w *Wire, script, owner string, version int) (string, error) {
		replies, err := w.batch([][]string{{"EVAL", script, "1", "object", owner, fmt.Sprint(version), "20000"}})
		return strings.Join(replies, ""), err
	}
	for round := range 6 {
		owner := func(w *Wire) string { return fmt.Sprintf("%p", w) }
		took := allAtOnce(wires, func(w *Wire) (string, error) { return ask(w, objectLock.take, owner(w), round) })
		if took[":1\r\n"] > 1 {
			t.Fatalf("round %d: taken %v", round, took)
		}
		var holder *Wire
		for _, w := range wires {
			eventually(t, "it is known whose the lock is", func() (bool, string) {
				reply, err := ask(w, objectLock.renew, owner(w), round+1)
				if reply == ":1\r\n" {
					holder = w
				}
				return err == nil && !strings.HasPrefix(reply, "-NOQUORUM"), reply
			})
		}
		if took[":1\r\n"] == 1 && holder == nil {
			t.Fatalf("round %d: taken %v and renewed by nobody", round, took)
		}
		released := 0
		for _, w := range wires {
			eventually(t, "it is known who releases the lock", func() (bool, string) {
				reply, err := ask(w, objectLock.release, owner(w), 0)
				if reply == ":1\r\n" {
					released++
					if w != holder {
						t.Errorf("round %d: released by who could not renew", round)
					}
				}
				return err == nil && !strings.HasPrefix(reply, "-NOQUORUM"), reply
			})
		}
		if holder != nil && released != 1 {
			t.Fatalf("round %d: released %d times", round, released)
		}
	}
}

// TestC7ObjectIsOver: an object whose TTL is over is renewed and released by nobody, and
// one master that is away changes nothing.
func TestC7ObjectIsOver(t *testing.T) {
	t.Parallel()
	r, masters := StartCluster(t, 3)
	w := DialWire(t, r.Addr)
	eval := func(script string, args ...string) []string {
		return append([]string{"EVAL", script, "1", "object"}, args...)
	}
	masters[2].Kill()
	w.want(t, ":1\r\n", eval(objectLock.take, "A", "1", "30000")...)
	w.want(t, ":0\r\n", eval(objectLock.take, "B", "1", "30000")...)
	w.want(t, ":0\r\n", eval(objectLock.renew, "B", "2", "30000")...)
	w.want(t, ":0\r\n", eval(objectLock.release, "B")...)
	w.want(t, "$27\r\n{\"owner\":\"A\",\"version\":\"1\"}\r\n", "GET", "object")
	w.want(t, ":1\r\n", eval(objectLock.renew, "A", "2", "200")...)
	w.want(t, "$27\r\n{\"owner\":\"A\",\"version\":\"2\"}\r\n", "GET", "object")
	eventually(t, "the lock is over", func() (bool, string) {
		reply := w.Ask("GET", "object")
		return reply == "$-1\r\n", reply
	})
	w.want(t, ":0\r\n", eval(objectLock.renew, "A", "3", "30000")...)
	w.want(t, ":0\r\n", eval(objectLock.release, "A")...)
	eventually(t, "the lock is free", func() (bool, string) {
		reply := w.Ask(eval(objectLock.take, "B", "1", "30000")...)
		return reply == ":1\r\n", reply
	})
	w.want(t, ":1\r\n", eval(objectLock.release, "B")...)
}
