package script

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

// held is a lock that others see.
func held(v string) State { return State{Found: true, Value: v, TTL: time.Second} }

func runSeveral(t *testing.T, c call, found map[string]State) (*Meaning, Result, error) {
	t.Helper()
	m, err := c.understand(NewLibrary())
	if err != nil {
		return nil, Result{}, err
	}
	var states []State
	for _, key := range m.Keys {
		states = append(states, found[key])
	}
	res, err := m.Run(states)
	return m, res, err
}

func TestC7KeysOfACall(t *testing.T) {
	for _, tt := range []struct {
		name, body, keys, args, want string
	}{
		{"all of KEYS", `for _, k in ipairs(KEYS) do redis.call('get', k) end return redis.call('del', unpack(KEYS))`, "a b c", "", "per call of a b c"},
		{"named in ARGV", `return redis.call('del', KEYS[1], ARGV[1])`, "a", "b", "per call of a b"},
		{"one named twice", `return redis.call('del', KEYS[1], ARGV[1])`, "a", "a", "per call of a"},
		{"made up", `return redis.call('del', KEYS[1], KEYS[1] .. ':2')`, "a", "", "per call of a a:2"},
		{"a second one by state", `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[2]) end return redis.call('get', 'c')`, "a b", "t", "per call of a c b"},
		{"KEYS that no dry run met", `if redis.call('get', KEYS[1]) == 'magic' then redis.call('del', KEYS[3]) end return redis.call('del', KEYS[2])`, "a b c", "", "per call of a b c"},
		{"KEYS as data", `return redis.call('set', KEYS[1], KEYS[3], 'PX', KEYS[2])`, "a 500 t", "", "per call of a"},
		{"a signal", `redis.call('lpush', KEYS[2], 1) redis.call('expire', KEYS[2], 1) return redis.call('del', KEYS[1])`, "a s", "", "per call of a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := call{tt.body, strings.Fields(tt.keys), strings.Fields(tt.args)}.understand(NewLibrary())
			if err != nil {
				t.Fatal(err)
			}
			if got := describeMeaning(m); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestRunOnSeveralKeys(t *testing.T) {
	first := `if redis.call('get', KEYS[1]) then return redis.call('del', KEYS[1]) end return redis.call('msetnx', KEYS[1], 'v', KEYS[2], 'w')`
	choose := `if redis.call('get', KEYS[1]) == 'magic' then return redis.call('del', 'z') end return redis.call('del', KEYS[1])`
	for _, tt := range []struct {
		name, body string
		found      map[string]State
		want       string
	}{
		{"all absent", first, nil, "[{2 v 0s false} {2 w 0s false}] 1"},
		{"first held", first, map[string]State{"a": held("x")}, "[{1  0s false} {0  0s false}] 1"},
		{"second held", first, map[string]State{"b": held("x")}, "[{0  0s false} {0  0s false}] 0"},
		{"one key", choose, nil, "[{0  0s false}] 0"},
		{"one key that chooses another", choose, map[string]State{"a": held("magic")},
			`uses the key "z" only if another key holds something`},
		{"a list by state", `if redis.call('get', KEYS[1]) == 'magic' then redis.call('rpush', KEYS[2], 1) end return 1`, map[string]State{"a": held("magic")},
			`uses the key "b" only if another key holds something`},
		{"a list by state, among several", `redis.call('get', KEYS[2]) if redis.call('get', KEYS[1]) == 'magic' then redis.call('rpush', KEYS[2], 1) end return 1`,
			map[string]State{"a": held("magic")}, `fills the list "b" by what a key holds`},
		{"an error after a write elsewhere", `redis.call('del', KEYS[1]) if redis.call('get', KEYS[2]) then error('x') end return 1`,
			map[string]State{"a": held("x")}, "fails after it has changed the key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, res, err := runSeveral(t, call{tt.body, []string{"a", "b"}, nil}, tt.found)
			got := fmt.Sprintf("%v %s", res.Effects, show(res.Reply))
			if err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestNotices(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		want       []Notice
	}{
		{"pushed left", `redis.call('lpush', 's', 1, 'b') redis.call('pexpire', 's', 700) return redis.call('del', KEYS[1])`,
			[]Notice{{Signal: "s", Items: []string{"b", "1"}, TTL: 700 * time.Millisecond}}},
		{"pushed right, twice", `redis.call('rpush', 's', 1) redis.call('rpush', 's', 2) redis.call('expire', 's', 7) return redis.call('del', KEYS[1])`,
			[]Notice{{Signal: "s", Items: []string{"1", "2"}, TTL: 7 * time.Second}}},
		{"trimmed", `redis.call('rpush', 's', 1, 2, 3, 4) redis.call('ltrim', 's', 1, -2) redis.call('expire', 's', 7) return redis.call('del', KEYS[1])`,
			[]Notice{{Signal: "s", Items: []string{"2", "3"}, TTL: 7 * time.Second}}},
		{"trimmed to its newest, without an end", `redis.call('lpush', 's', 1) redis.call('lpush', 's', 2) redis.call('ltrim', 's', 0, 0) return redis.call('del', KEYS[1])`,
			[]Notice{{Signal: "s", Items: []string{"2"}, TTL: math.MaxInt64}}},
		{"trimmed to its last, without an end", `redis.call('ltrim', 's', -15, -1) redis.call('rpush', 's', 1) return redis.call('del', KEYS[1])`,
			[]Notice{{Signal: "s", Items: []string{"1"}, TTL: math.MaxInt64}}},
		{"filled anew, without an end", `redis.call('del', 's') redis.call('rpush', 's', 1) return redis.call('del', KEYS[1])`,
			[]Notice{{Signal: "s", Items: []string{"1"}, TTL: math.MaxInt64}}},
		{"trimmed to nothing", `redis.call('rpush', 's', 1) redis.call('ltrim', 's', 0, -2) return redis.call('del', KEYS[1])`, nil},
		{"pushed and deleted", `redis.call('rpush', 's', 1) redis.call('del', 's') return redis.call('del', KEYS[1])`, nil},
		{"published", `redis.call('publish', 'c', KEYS[1]) redis.call('spublish', 'd', 7) return redis.call('del', KEYS[1])`,
			[]Notice{{Channel: "c", Message: "a"}, {Channel: "d", Message: "7", Sharded: true}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, res, err := runSeveral(t, call{tt.body, []string{"a"}, nil}, nil)
			if err != nil || !reflect.DeepEqual(res.Notices, tt.want) {
				t.Errorf("got %+v, %v, want %+v", res.Notices, err, tt.want)
			}
		})
	}
}

// A release that wakes others is proved as any other: it costs no look.
func TestC7ProvedNotices(t *testing.T) {
	signal := `if redis.call('get', KEYS[1]) ~= ARGV[1] then return 1 end
		redis.call('del', KEYS[2]) redis.call('lpush', KEYS[2], 1) redis.call('pexpire', KEYS[2], ARGV[2])
		redis.call('del', KEYS[1]) return 0`
	for _, tt := range []struct {
		name string
		call call
		want string
		ours []Notice
	}{
		{"signal", call{signal, []string{"a", "s"}, []string{"t", "900"}}, "releases a t: 1 0 1",
			[]Notice{{Signal: "s", Items: []string{"1"}, TTL: 900 * time.Millisecond}}},
		{"signal, of another call", call{signal, []string{"b", "z"}, []string{"u", "70"}}, "releases b u: 1 0 1",
			[]Notice{{Signal: "z", Items: []string{"1"}, TTL: 70 * time.Millisecond}}},
		{"signal of its own lock", call{signal, []string{"a", "a"}, []string{"t", "900"}}, `uses the list "a" for more than waking waiting clients, redlockd keeps locks only`, nil},
		{"message", call{`if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('unlink', KEYS[1]) redis.call('publish', ARGV[2], KEYS[1]) return 1 end`,
			lock, []string{"t", "c"}}, "releases lock t: nil 1 nil", []Notice{{Channel: "c", Message: "lock"}}},
		{"signal without an end", call{`if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('rpush', 's', 1) return redis.call('del', KEYS[1]) end`,
			lock, mine}, `keeps the list "s" without an expiry, redlockd keeps locks only`, nil},
		{"signal without an end, of one item", call{`if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
			redis.call('lpush', KEYS[2], 1) redis.call('ltrim', KEYS[2], 0, 0) return redis.call('del', KEYS[1])`,
			[]string{"a", "s"}, mine}, "releases a tok: 0 1 0", []Notice{{Signal: "s", Items: []string{"1"}, TTL: math.MaxInt64}}},
		{"a second lock", call{`if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[2]) return redis.call('del', KEYS[1]) end return 0`,
			[]string{"a", "b"}, mine}, "per call of a b", nil},
		{"a signal whose length matters", call{`if redis.call('get', KEYS[1]) == ARGV[1] then local n = redis.call('lpush', KEYS[2], 1) redis.call('expire', KEYS[2], 1) redis.call('del', KEYS[1]) return n end return 0`,
			[]string{"a", "s"}, mine}, "uses the length of a list, redlockd keeps locks only", nil},
		{"a signal that was there", call{`redis.call('get', KEYS[1]) if redis.call('del', KEYS[2]) == 0 then redis.call('lpush', KEYS[2], 1) redis.call('expire', KEYS[2], 1) end return redis.call('del', KEYS[1])`,
			[]string{"a", "s"}, nil}, "uses the length of a list, redlockd keeps locks only", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := NewLibrary()
			for range 2 {
				m, err := tt.call.understand(l)
				if err != nil {
					if err.Error() != tt.want {
						t.Errorf("got %v, want %s", err, tt.want)
					}
					return
				}
				if got := describeMeaning(m); got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
				if m.Kind != PerCall && (!reflect.DeepEqual(m.Notices[Ours], tt.ours) || m.Notices[Absent] != nil || m.Notices[Other] != nil) {
					t.Errorf("tells %+v, want %+v for ours", m.Notices, tt.ours)
				}
			}
		})
	}
}

// The database a script is in belongs to its meaning.
func TestSelectInAScript(t *testing.T) {
	l := NewLibrary()
	sha, _ := l.Load(`redis.pcall('SELECT', tonumber(ARGV[1])) if redis.call('get', KEYS[1]) == ARGV[2] then return redis.call('del', KEYS[1]) end return 0`)
	for _, tt := range []struct {
		db   int
		arg  string
		want string
	}{
		{0, "0", "releases lock tok: 0 1 0"},
		{5, "5", "releases lock tok: 0 1 0"},
		{5, "0", "selects another database"},
		{0, "5", "selects another database"},
		{0, "0", "releases lock tok: 0 1 0"},
	} {
		got := ""
		m, err := l.Understand(tt.db, sha, lock, []string{tt.arg, "tok"})
		if err != nil {
			got = err.Error()
		} else {
			got = describeMeaning(m)
		}
		if got != tt.want {
			t.Errorf("SELECT %s in database %d: got %s, want %s", tt.arg, tt.db, got, tt.want)
		}
	}
}

func TestTransact(t *testing.T) {
	l := NewLibrary()
	sha, _ := l.Load(`return redis.call('del', KEYS[1])`)
	words := func(s string) Command { return Command{Words: strings.Fields(s)} }
	many := make([]Command, 1024)
	for i := range many {
		many[i] = words("set a t px 500")
	}
	for _, tt := range []struct {
		name     string
		commands []Command
		want     string
	}{
		{"in order", []Command{words("SETNX a t"), words("EXPIRE a 9"), words("GET a")}, `[a] [{2 t 9s false}] [1 1 "t"]`},
		{"with a script", []Command{words("SET a t EX 9"), {SHA: sha, Keys: []string{"a"}}, words("TYPE b")}, `[a b] [{0  0s false} {0  0s false}] [+OK 1 +none]`},
		{"an error", []Command{words("SET a t EX 9"), words("EXPIRE b x")}, `[a b] [{0  0s false} {0  0s false}] -ERR value is not an integer or out of range`},
		{"many", many, ""},
		{"no key", []Command{{SHA: sha}}, "user_script:1: "},
		{"not known", []Command{{SHA: "x"}}, ErrNoScript.Error()},
		{"another type", []Command{words("ZADD a 1 c")}, "holds ZADD"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := l.Transact(0, tt.commands)
			got := ""
			switch {
			case err != nil:
				got = err.Error()
			case m.Kind == Nothing:
				got = show(m.Reply[Absent])
			default:
				res, err := m.Run(make([]State, len(m.Keys)))
				if err != nil {
					t.Fatal(err)
				}
				got = fmt.Sprintf("%v %v %s", m.Keys, res.Effects, show(res.Reply))
			}
			if tt.want != got && (tt.want == "" || !strings.Contains(got, tt.want)) && tt.name != "no key" && tt.name != "many" {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if tt.name == "many" && err != nil {
				t.Errorf("%d commands: %v", len(many), err)
			}
			if tt.name == "no key" && !strings.HasPrefix(got, "-ERR") {
				t.Errorf("got %s, want an error", got)
			}
		})
	}
}

// C4: a signal holds no data, whether a script or a call names it, and whether the form is
// known already.
func TestC4LongSignals(t *testing.T) {
	const release = `if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('lpush', KEYS[2], ARGV[2], 'x') redis.call('pexpire', KEYS[2], 9) return redis.call('del', KEYS[1]) end`
	for _, pads := range []string{"", " local once = redis.call('pttl', KEYS[1]) if once > 1e9 then return once end "} { // proved, and run in each call
		l := NewLibrary()
		for _, tt := range []struct {
			bytes int
			want  string
		}{
			{maxSignalBytes - 1, ""},
			{maxSignalBytes, `keeps data in the list "l", of more than 16 items or 1024 bytes, redlockd keeps locks only`},
			{900_000, `keeps data in the list "l", of more than 16 items or 1024 bytes, redlockd keeps locks only`},
			{1, ""},
		} {
			got := ""
			if _, err := (call{pads + release, []string{"a", "l"}, []string{"t", strings.Repeat("y", tt.bytes)}}).understand(l); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("%q and %d bytes: %q, want %q", pads, tt.bytes, got, tt.want)
			}
		}
	}
}

// A call that fills ever more lists ends.
func TestManySignals(t *testing.T) {
	body := `for i = 1, 1000 do redis.call('rpush', 's' .. i, 1) redis.call('expire', 's' .. i, 1) end return redis.call('del', KEYS[1])`
	_, err := call{body, lock, nil}.understand(NewLibrary())
	var refused *RefusedError
	if !errors.As(err, &refused) {
		t.Errorf("got %v, want a refusal", err)
	}
}
