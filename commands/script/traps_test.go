package script

import (
	"errors"
	"testing"
	"time"
)

// step is one call in a row of calls of one script, and what it must mean
// whatever was learned before.
type step struct {
	keys, args []string
	want       string
}

// traps for C7: what is learned from one call must not be told of another that
// means something else.
var traps = []struct {
	name, body string
	steps      []step
}{
	{"a flag that makes it additive", addOrReplace, []step{
		{lock, []string{"tok", "5000", "1"}, "extends lock tok 5s: 0 1 0"},
		{lock, []string{"tok", "5000", "0"}, "per call of lock"},
		{lock, []string{"t2", "900", "1"}, "extends lock t2 900ms: 0 1 0"},
		{lock, []string{"t2", "900", "0"}, "per call of lock"},
	}},
	{"a flag in words", reentrant, []step{
		{lock, []string{"tok", "5000", "yes"}, "acquires or extends lock tok 5s: +OK +OK nil"},
		{lock, []string{"tok", "5000", "no"}, "extends lock tok 5s: nil +OK nil"},
		{lock, []string{"tok", "5000", "yes"}, "acquires or extends lock tok 5s: +OK +OK nil"},
	}},
	{"a token that frees everything", `if redis.call('get', KEYS[1]) == ARGV[1] or ARGV[1] == 'admin' then return redis.call('del', KEYS[1]) end return 0`, []step{
		{lock, []string{"tok"}, "per call of lock"},
		{lock, []string{"admin"}, "per call of lock"},
		{lock, []string{"tok"}, "per call of lock"},
	}},
	{"a second argument that frees everything", `if redis.call('get', KEYS[1]) == ARGV[1] or ARGV[2] == 'force' then return redis.call('del', KEYS[1]) end return 0`, []step{
		{lock, []string{"tok", "no"}, "releases lock tok: 0 1 0"},
		{lock, []string{"tok", "force"}, "per call of lock"},
		{lock, []string{"tok", "no"}, "releases lock tok: 0 1 0"},
	}},
	{"the number of arguments", `if #ARGV == 2 then return redis.call('del', KEYS[1]) end if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`, []step{
		{lock, []string{"tok"}, "releases lock tok: 0 1 0"},
		{lock, []string{"tok", "x"}, "per call of lock"},
	}},
	{"the number of keys", `local k = KEYS[1] if KEYS[2] then k = KEYS[2] end if redis.call('get', k) == ARGV[1] then return redis.call('del', k) end return 0`, []step{
		{[]string{"a"}, mine, "releases a tok: 0 1 0"},
		{[]string{"a", "b"}, mine, "releases b tok: 0 1 0"},
	}},
	{"a key instead of an argument", `if #KEYS == 2 then return redis.call('del', KEYS[1]) end if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`, []step{
		{lock, mine, "releases lock tok: 0 1 0"},
		{[]string{"lock", "tok"}, nil, "per call of lock"},
		{lock, mine, "releases lock tok: 0 1 0"},
	}},
	{"two equal arguments", `if ARGV[1] == ARGV[2] then return redis.call('del', KEYS[1]) end if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`, []step{
		{lock, []string{"a", "b"}, "releases lock a: 0 1 0"},
		{lock, []string{"a", "a"}, "per call of lock"},
		{lock, []string{"c", "d"}, "releases lock c: 0 1 0"},
	}},
	{"a token equal to the key", `if ARGV[1] == KEYS[1] then return 7 end if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`, []step{
		{lock, []string{"a"}, "releases lock a: 0 1 0"},
		{lock, []string{"lock"}, "nothing  : 7 7 7"},
		{[]string{"a"}, []string{"a"}, "nothing  : 7 7 7"},
	}},
	{"a token equal to the time", `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0`, []step{
		{lock, []string{"5000", "5000"}, "extends lock 5000 5s: 0 1 0"},
		{lock, []string{"tok", "5000"}, "extends lock tok 5s: 0 1 0"},
		{lock, []string{"5000", "700"}, "extends lock 5000 700ms: 0 1 0"},
		{lock, []string{"5000", "-700"}, "releases lock 5000: 0 1 0"},
	}},
	{"a time that is not what it looks like", `if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('pexpire', KEYS[1], ARGV[2]) return 1 end return 0`, []step{
		{lock, []string{"tok", "100"}, "extends lock tok 100ms: 0 1 0"},
		{lock, []string{"tok", "0"}, "releases lock tok: 0 1 0"},
		{lock, []string{"tok", "-1"}, "releases lock tok: 0 1 0"},
		{lock, []string{"tok", "99999999999999999"}, "extends lock tok 2562047h47m16.854775807s: 0 1 0"},
	}},
	{"a time with a threshold", `if redis.call('get', KEYS[1]) == ARGV[1] then if tonumber(ARGV[2]) > 1000 then return redis.call('del', KEYS[1]) end return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0`, []step{
		{lock, []string{"tok", "100"}, "extends lock tok 100ms: 0 1 0"},
		{lock, []string{"tok", "5000"}, "releases lock tok: 0 1 0"},
		{lock, []string{"tok", "200"}, "extends lock tok 200ms: 0 1 0"},
	}},
	{"a token as a table key", `local t = {admin = true} if t[ARGV[1]] or redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`, []step{
		{lock, []string{"tok"}, "per call of lock"},
		{lock, []string{"admin"}, "per call of lock"},
	}},
	{"a flag as a command", `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call(ARGV[2], KEYS[1]) end return 0`, []step{
		{lock, []string{"tok", "del"}, "releases lock tok: 0 1 0"},
		{lock, []string{"tok", "pttl"}, "reads lock tok: 0 <pttl> 0"},
		{lock, []string{"tok", "get"}, `reads lock tok: 0 "tok" 0`},
	}},
	{"a flag as an option", `return redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2], ARGV[3])`, []step{
		{lock, []string{"tok", "5000", "NX"}, "acquires lock tok 5s: +OK nil nil"},
		{lock, []string{"tok", "5000", "XX"}, "per call of lock"},
		{lock, []string{"tok", "5000", "nx"}, "acquires lock tok 5s: +OK nil nil"},
	}},
	{"a token of digits", `local n = tonumber(ARGV[1]) if n and n > 5 then return redis.call('del', KEYS[1]) end if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`, []step{
		{lock, []string{"3"}, "per call of lock"},
		{lock, []string{"6"}, "per call of lock"},
		{lock, []string{"tok"}, "per call of lock"},
	}},
}

func TestC7Traps(t *testing.T) {
	for _, trap := range traps {
		t.Run(trap.name, func(t *testing.T) {
			l := NewLibrary()
			for range 2 {
				for _, s := range trap.steps {
					m, err := call{trap.body, s.keys, s.args}.understand(l)
					if err != nil {
						t.Fatalf("%q: %v", s.args, err)
					}
					if got := describeMeaning(m); got != s.want {
						t.Errorf("%q\ngot  %s\nwant %s", s.args, got, s.want)
					}
				}
			}
		})
	}
}

// TestManyUnproved: a script whose token was revealed does not push out what
// others have learned, and stays per call.
func TestManyUnproved(t *testing.T) {
	l := NewLibrary()
	body := `if ARGV[1] == 'admin' or redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`
	for i := range 10 * maxUnproved {
		m, err := call{body, lock, []string{string(rune('a'+i%26)) + string(rune('a'+i/26))}}.understand(l)
		if err != nil || m.Kind != PerCall {
			t.Fatalf("%v %v", m, err)
		}
	}
	if n := len(l.shapes.entries); n != 1 {
		t.Errorf("%d shapes, want 1", n)
	}
	for _, e := range l.shapes.entries {
		if n := e.Value.(*lruEntry[*memory]).v.unproved; n != maxUnproved+1 {
			t.Errorf("tried to prove it %d times, want %d", n, maxUnproved+1)
		}
	}
}

// TestPerCall runs meanings that were not proved.
func TestPerCall(t *testing.T) {
	held := func(v string, ttl time.Duration) State { return State{Found: true, Value: v, TTL: ttl} }
	overwrite := `return redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])`
	until := `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpireat', KEYS[1], ARGV[2]) end return 0`
	longer := `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2], 'GT') end return 0`
	takeAt := `return redis.call('set', KEYS[1], ARGV[1], 'NX', 'PXAT', ARGV[2])`
	for _, c := range []struct {
		name  string
		call  call
		state State
		want  Effect
		reply string
	}{
		{"add, ours", call{addOrReplace, lock, []string{"tok", "5000", "0"}}, held("tok", 300*time.Millisecond), Effect{Kind: SetTTL, TTL: 5300 * time.Millisecond}, "1"},
		{"add, other", call{addOrReplace, lock, []string{"tok", "5000", "0"}}, held("x", time.Second), Effect{}, "0"},
		{"add, absent", call{addOrReplace, lock, []string{"tok", "5000", "0"}}, State{}, Effect{}, "0"},
		{"overwrite, absent", call{overwrite, lock, timed}, State{}, Effect{Kind: Set, Value: "tok", TTL: 5 * time.Second}, "+OK"},
		{"overwrite, other", call{overwrite, lock, timed}, held("x", time.Second), Effect{Kind: Set, Value: "tok", TTL: 5 * time.Second}, "+OK"},
		{"overwrite, the same", call{overwrite, lock, timed}, held("tok", time.Second), Effect{Kind: SetTTL, TTL: 5 * time.Second}, "+OK"},
		{"keepttl", call{`return redis.call('set', KEYS[1], ARGV[1], 'keepttl')`, lock, mine}, held("x", time.Second), Effect{Kind: Set, Value: "tok", TTL: time.Second, Keeps: true}, "+OK"},
		{"persist", call{`return redis.call('persist', KEYS[1])`, lock, nil}, held("x", time.Second), Effect{Kind: SetTTL}, "1"},
		{"getset", call{`return redis.call('getset', KEYS[1], ARGV[1])`, lock, mine}, held("x", time.Second), Effect{Kind: Set, Value: "tok"}, `"x"`},
		{"a part of the value", call{`local k = KEYS[1] return {redis.call('getrange', k, 0, 1), redis.call('getrange', k, -2, -1), redis.call('getrange', k, 1, 99), redis.call('substr', k, 3, 1), redis.call('getrange', k, -1, -3), redis.call('getrange', k, -99, 0)}`, lock, nil},
			held("abcde", time.Second), Effect{}, `["ab" "de" "bcde" "" "" "a"]`},
		{"time left in seconds, rounded", call{`return {redis.call('ttl', KEYS[1]), redis.call('del', KEYS[1])}`, lock, nil}, held("x", 1600*time.Millisecond), Effect{Kind: Delete}, "[2 1]"},
		{"until, later", call{until, lock, []string{"tok", "1000700"}}, held("tok", time.Second), Effect{Kind: SetTTL, TTL: 700 * time.Millisecond}, "1"},
		{"until, past", call{until, lock, []string{"tok", "1000000"}}, held("tok", time.Second), Effect{}, "-ERR invalid expire time in 'pexpireat' command: it is in the past script: 50971a49b68931ab888301943d1b1c507d1f9a1e, on @user_script:1."},
		{"take until, later", call{takeAt, lock, []string{"tok", "1000700"}}, State{}, Effect{Kind: Set, Value: "tok", TTL: 700 * time.Millisecond}, "+OK"},
		{"take until, past", call{takeAt, lock, []string{"tok", "999999"}}, State{}, Effect{}, "-ERR invalid expire time in 'set' command: it is in the past script: 78f77202af3015acbbcc9bbddddcf021247d946a, on @user_script:1."},
		{"longer only, shorter", call{longer, lock, timed}, held("tok", time.Minute), Effect{}, "0"},
		{"longer only, longer", call{longer, lock, timed}, held("tok", time.Second), Effect{Kind: SetTTL, TTL: 5 * time.Second}, "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := NewLibrary()
			l.Clock(func() int64 { return 1_000_000 })
			m, err := c.call.understand(l)
			if err != nil || m.Kind != PerCall || m.Key != "lock" {
				t.Fatalf("%+v, %v", m, err)
			}
			res, err := m.Run([]State{c.state})
			if err != nil || res.Effects[0] != c.want || show(res.Reply) != c.reply {
				t.Errorf("got  %+v %v\nwant %+v %s", res, err, c.want, c.reply)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"another type", `return redis.call('hincrbyfloat', KEYS[1], 'a', 1)`, "calls HINCRBYFLOAT, which is not a lock command"},
		{"another type, in one state", `if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('sadd', 'c', 1) end`, "calls SADD, which is not a lock command: redlockd keeps no sets"},
		{"the time", `return redis.call('TIME')`, "calls TIME, which is not a lock command"},
		{"too many keys", `for i = 1, 129 do redis.call('get', KEYS[1] .. i) end`, "uses more than 128 keys"},
		{"another database", `redis.call('select', 1) return redis.call('del', KEYS[1])`, "selects another database"},
		{"a queue", `redis.call('lpush', KEYS[1], ARGV[1])`, "keeps the list \"lock\" without an expiry, redlockd keeps locks only"},
		{"a queue with an end and no lock", `redis.call('lpush', KEYS[1], ARGV[1]) return redis.call('pexpire', KEYS[1], 9)`, "fills a list and names no lock"},
		{"a list and a string", `redis.call('get', KEYS[1]) redis.call('rpush', 'l', 1) return redis.call('get', 'l')`, "uses the list \"l\" for more than waking waiting clients, redlockd keeps locks only"},
		{"a list that is set", `redis.call('get', KEYS[1]) redis.call('rpush', 'l', 1) return redis.call('set', 'l', 1, 'px', 9)`, "uses the list \"l\" for more than waking waiting clients, redlockd keeps locks only"},
		{"a list that may be there", `redis.call('pexpire', 'l', 9) redis.call('rpush', 'l', 1) return redis.call('del', KEYS[1])`, "uses the list \"l\" for more than waking waiting clients, redlockd keeps locks only"},
		{"a list's length", `redis.call('del', KEYS[1]) return redis.call('rpush', 'l', 1)`, "uses the length of a list, redlockd keeps locks only"},
		{"a list of much", `redis.call('get', KEYS[1]) for i = 1, 17 do redis.call('rpush', 'l', 1) end`, "keeps data in the list \"l\", of more than 16 items or 1024 bytes, redlockd keeps locks only"},
		{"a list of the latest", `redis.call('get', KEYS[1]) redis.call('lpush', 'l', ARGV[1]) redis.call('ltrim', 'l', 0, 16)`, "keeps the list \"l\" without an expiry, redlockd keeps locks only"},
		{"a list that is not trimmed", `redis.call('get', KEYS[1]) redis.call('lpush', 'l', ARGV[1]) redis.call('ltrim', 'l', 0, -1)`, "keeps the list \"l\" without an expiry, redlockd keeps locks only"},
		{"a list that is trimmed, and no lock", `redis.call('lpush', KEYS[1], ARGV[1]) redis.call('ltrim', KEYS[1], 0, 0)`, "fills a list and names no lock"},
		{"a message without a lock", `return redis.call('publish', KEYS[1], ARGV[1]) and 1`, "publishes and names no lock"},
		{"how many hear a message", `redis.call('del', KEYS[1]) return redis.call('publish', 'c', ARGV[1])`, "uses the number of receivers of its PUBLISH"},
		{"an error after a write", `redis.call('set', KEYS[1], ARGV[1]) error('x')`, "fails after it has changed the key"},
		{"chance", `return math.random()`, "uses math.random, which no lock needs"},
		{"settings of json", `cjson.encode_keep_buffer(false)`, "uses cjson.encode_keep_buffer, which no lock needs"},
		{"another type by another library", `return cmsgpack.pack({})`, "uses cmsgpack, which no lock needs"},
		{"a caught error of a command", `return {pcall(redis.call, 'set', KEYS[1])}`, "catches an error that is not a string"},
		{"an absolute time without a clock", `return redis.call('set', KEYS[1], ARGV[1], 'PXAT', ARGV[2])`, "uses an absolute time, which is not kept here"},
		{"a name of several lines", "return redis.call('a\\nb')", "calls A B, which is not a lock command"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := call{c.body, lock, timed}.understand(NewLibrary())
			var refused *RefusedError
			if !errors.As(err, &refused) || refused.Did != c.want {
				t.Errorf("got %v %v\nwant %s", m, err, c.want)
			}
		})
	}
}
