package script

import (
	"fmt"
	"strings"
	"testing"
)

// call is one call of a script in a test.
type call struct {
	body string
	keys []string
	args []string
}

func (c call) understand(l *Library) (*Meaning, error) {
	sha, err := l.Load(c.body)
	if err != nil {
		return nil, err
	}
	return l.Understand(0, sha, c.keys, c.args)
}

// show writes a reply as redis-cli would, on one line.
func show(v Value) string {
	switch v.Kind {
	case Null:
		return "nil"
	case Int:
		return fmt.Sprint(v.Int)
	case Bulk:
		return fmt.Sprintf("%q", v.Text)
	case Status:
		return "+" + v.Text
	case Error:
		return "-" + v.Text
	case StoredValue:
		return "<value>"
	case StoredPTTL:
		return "<pttl>"
	case StoredTTL:
		return "<ttl>"
	}
	var items []string
	for _, item := range v.Items {
		items = append(items, show(item))
	}
	return "[" + strings.Join(items, " ") + "]"
}

func (k Kind) String() string {
	return []string{"nothing", "reads", "acquires", "acquires or extends", "releases", "extends", "per call"}[k]
}

// describeMeaning is a meaning on one line: kind, TTL, and the replies where the key is
// absent, ours, and another's.
func describeMeaning(m *Meaning) string {
	if m.Kind == PerCall {
		return fmt.Sprintf("%v of %s", m.Kind, strings.Join(m.Keys, " "))
	}
	s := fmt.Sprintf("%v %s %s", m.Kind, m.Key, m.Token)
	if m.TTL != 0 {
		s += " " + m.TTL.String()
	}
	return fmt.Sprintf("%s: %s %s %s", s, show(m.Reply[Absent]), show(m.Reply[Ours]), show(m.Reply[Other]))
}

var (
	lock  = []string{"lock"}
	mine  = []string{"tok"}
	timed = []string{"tok", "5000"}
)

// behaviours is what lock libraries' scripts do, in wordings of our own.
var behaviours = []struct {
	name string
	call
	want string
}{
	{"release, 1/0", call{`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`, lock, mine},
		"releases lock tok: 0 1 0"},
	{"release, negated, with locals", call{"local key, who = KEYS[1], ARGV[1]\nlocal v = redis.call('GET', key)\nif v ~= who then\n return 0\nelse\n return redis.call('UNLINK', key)\nend", lock, mine},
		"releases lock tok: 0 1 0"},
	{"release through a function and a loop", call{`local function drop(k, t) if redis.call('get', k) == t then return redis.call('del', k) else return 0 end end
		local n = 0 for _, k in ipairs(KEYS) do n = n + drop(k, ARGV[1]) end return n`, lock, mine},
		"releases lock tok: 0 1 0"},
	{"release, -1 where absent", call{`local v = redis.call('get', KEYS[1]) if v == ARGV[1] then redis.call('del', KEYS[1]) return 1 elseif v == false then return -1 else return 0 end`, lock, mine},
		"releases lock tok: -1 1 0"},
	{"release, OK/nil", call{`if redis.call('get', KEYS[1]) ~= ARGV[1] then return nil end redis.call('del', KEYS[1]) return redis.status_reply('OK')`, lock, mine},
		"releases lock tok: nil +OK nil"},
	{"release, true/false", call{`return redis.call('get', KEYS[1]) == ARGV[1] and redis.call('del', KEYS[1]) == 1`, lock, mine},
		"releases lock tok: nil 1 nil"},
	{"release, words", call{`if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) return 'true' end return 'false'`, lock, mine},
		`releases lock tok: "false" "true" "false"`},
	{"release, OK/1/error", call{`local v = redis.call('get', KEYS[1]) if not v then return {ok = 'OK'} end if v == ARGV[1] then return redis.call('del', KEYS[1]) end return redis.error_reply('ERROR')`, lock, mine},
		"releases lock tok: +OK 1 -ERR ERROR"},
	{"release, 0 is success", call{`if redis.call('get', KEYS[1]) ~= ARGV[1] then return 1 end redis.call('del', KEYS[1]) return 0`, lock, mine},
		"releases lock tok: 1 0 1"},
	{"release, the key in ARGV too", call{`if redis.call('get', ARGV[1]) == ARGV[2] then return redis.call('del', ARGV[1]) else return 0 end`, lock, []string{"lock", "tok"}},
		"releases lock tok: 0 1 0"},
	{"release, token in KEYS", call{`if redis.call('get', KEYS[1]) == KEYS[2] then return redis.call('del', KEYS[1]) end return 0`, []string{"lock", "tok"}, nil},
		"releases lock tok: 0 1 0"},
	{"release by an expiry of 0", call{`if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], 0) end return 0`, lock, mine},
		"releases lock tok: 0 1 0"},

	{"extend, 1/0", call{`if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0`, lock, timed},
		"extends lock tok 5s: 0 1 0"},
	{"extend, seconds", call{`if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('expire', KEYS[1], ARGV[2]) end return 0`, lock, []string{"tok", "7"}},
		"extends lock tok 7s: 0 1 0"},
	{"extend, arithmetic on the time", call{`if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], tonumber(ARGV[2]) * 1000 + 500) end return 0`, lock, []string{"tok", "7"}},
		"extends lock tok 7.5s: 0 1 0"},
	{"extend, 1/nil", call{`if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('pexpire', KEYS[1], ARGV[2]) return true end return false`, lock, timed},
		"extends lock tok 5s: nil 1 nil"},
	{"extend by set", call{`if redis.call('get', KEYS[1]) == ARGV[1] then if redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2]) then return 1 end end return 0`, lock, timed},
		"extends lock tok 5s: 0 1 0"},
	{"extend by set XX, all in KEYS", call{`if redis.call('get', KEYS[1]) == KEYS[3] then return redis.call('set', KEYS[1], KEYS[3], 'px', KEYS[2], 'xx') end return 0`, []string{"lock", "5000", "tok"}, nil},
		"extends lock tok 5s: 0 +OK 0"},
	{"extend, with persist as a second choice", call{`if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end if redis.call('expire', KEYS[1], ARGV[2]) == 0 then redis.call('persist', KEYS[1]) end return 1`, lock, []string{"tok", "7"}},
		"extends lock tok 7s: 0 1 0"},
	{"extend, refuses no TTL, code 2", call{`if redis.call('get', KEYS[1]) ~= ARGV[1] then return 1 elseif redis.call('ttl', KEYS[1]) < 0 then return 2 else redis.call('expire', KEYS[1], ARGV[2]) return 0 end`, lock, []string{"tok", "7"}},
		"extends lock tok 7s: 1 0 1"},
	{"extend or add, replace", call{addOrReplace, lock, []string{"tok", "5000", "1"}}, "extends lock tok 5s: 0 1 0"},
	{"extend or add, add", call{addOrReplace, lock, []string{"tok", "5000", "0"}}, "per call of lock"},
	{"extend only if longer", call{`if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2], 'GT') end return 0`, lock, timed},
		"per call of lock"},

	{"acquire, OK/nil", call{`return redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])`, lock, timed},
		"acquires lock tok 5s: +OK nil nil"},
	{"acquire, 1/0 by exists", call{`if redis.call('exists', KEYS[1]) == 1 then return 0 end redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1`, lock, timed},
		"acquires lock tok 5s: 1 0 0"},
	{"acquire by setnx and pexpire", call{`if redis.call('setnx', KEYS[1], ARGV[1]) == 1 then redis.call('pexpire', KEYS[1], ARGV[2]) return 1 else return 0 end`, lock, timed},
		"acquires lock tok 5s: 1 0 0"},
	{"acquire without a TTL", call{`return redis.call('setnx', KEYS[1], ARGV[1])`, lock, mine},
		"acquires lock tok: 1 0 0"},
	{"acquire, tells the holder", call{`return redis.call('set', KEYS[1], ARGV[1], 'nx', 'get', 'ex', 9)`, lock, mine},
		`acquires lock tok 9s: nil "tok" <value>`},
	{"acquire, tells the time left", call{`if redis.call('set', KEYS[1], ARGV[1], 'nx', 'px', ARGV[2]) then return {1, ARGV[2]} end return {0, redis.call('pttl', KEYS[1])}`, lock, timed},
		`acquires lock tok 5s: [1 "5000"] [0 <pttl>] [0 <pttl>]`},
	{"acquire or extend, set", call{`local v = redis.call('get', KEYS[1]) if not v or v == ARGV[1] then return redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2]) end`, lock, timed},
		"acquires or extends lock tok 5s: +OK +OK nil"},
	{"acquire or extend, pexpire", call{`local v = redis.call('get', KEYS[1]) if v == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) elseif v then return -1 end redis.call('psetex', KEYS[1], ARGV[2], ARGV[1]) return 1`, lock, timed},
		"acquires or extends lock tok 5s: 1 1 -1"},
	{"acquire, flag yes", call{reentrant, lock, []string{"tok", "5000", "yes"}}, "acquires or extends lock tok 5s: +OK +OK nil"},
	{"acquire, flag no", call{reentrant, lock, []string{"tok", "5000", "no"}}, "extends lock tok 5s: nil +OK nil"},

	{"time left if mine", call{`if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pttl', KEYS[1]) end return -3`, lock, mine},
		"reads lock tok: -3 <pttl> -3"},
	{"time left if mine, never negative", call{`if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end local t = redis.call('pttl', KEYS[1]) if t < 0 then t = 0 end return t`, lock, mine},
		"reads lock tok: 0 <pttl> 0"},
	{"value and time left", call{`return {redis.call('get', KEYS[1]), redis.call('ttl', KEYS[1])}`, lock, nil},
		"reads lock : [nil -2] [<value> <ttl>] [<value> <ttl>]"},
	{"no key at all", call{`return {ARGV[1], 1.9, false, 'x'}`, nil, mine}, `nothing  : ["tok" 1 nil "x"] ["tok" 1 nil "x"] ["tok" 1 nil "x"]`},

	{"release by a number", call{`return redis.call('delifeq', KEYS[1], tonumber(ARGV[1]))`, lock, []string{"77"}},
		"releases lock 77: 0 1 0"},
	{"extend by a number", call{`return redis.call('set', KEYS[1], ARGV[1], 'IFEQ', tonumber(ARGV[1]), 'PX', ARGV[2])`, lock, []string{"77", "5000"}},
		"extends lock 77 5s: nil +OK nil"},
	{"release by another number", call{`return redis.call('delifeq', KEYS[1], ARGV[1] + 1)`, lock, []string{"77"}}, "per call of lock"},
	{"release by the time left", call{`return redis.call('delifeq', KEYS[1], redis.call('pttl', KEYS[1]))`, lock, nil}, "per call of lock"},
	{"a time of its own for the extend", call{`local v = redis.call('get', KEYS[1]) if not v then return redis.call('psetex', KEYS[1], 1000, ARGV[1]) elseif v == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end`, lock, timed}, "per call of lock"},
	{"milliseconds left are more than 0", call{`return redis.call('pttl', KEYS[1]) > 0`, lock, nil}, "reads lock : nil 1 1"},
	{"seconds left may be 0", call{`return redis.call('ttl', KEYS[1]) > 0`, lock, nil}, "per call of lock"},
	{"seconds left are not negative", call{`return redis.call('ttl', KEYS[1]) >= 0`, lock, nil}, "reads lock : nil 1 1"},
	{"overwrite", call{`return redis.call('set', KEYS[1], ARGV[1], 'XX', 'PX', ARGV[2])`, lock, timed}, "per call of lock"},
	{"delete without asking", call{`return redis.call('del', KEYS[1])`, lock, nil}, "per call of lock"},
	{"prefix of the token", call{`local v = redis.call('get', KEYS[1]) if v and string.sub(v, 1, 2) == string.sub(ARGV[1], 1, 2) then return redis.call('del', KEYS[1]) end return 0`, lock, mine}, "per call of lock"},
	{"a literal that frees everything", call{`local v = redis.call('get', KEYS[1]) if v == ARGV[1] or ARGV[1] == 'admin' then return redis.call('del', KEYS[1]) end return 0`, lock, mine}, "per call of lock"},
	{"the same, asked first", call{`if ARGV[1] == 'admin' or redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`, lock, mine}, "per call of lock"},
	{"a time that is no number", call{`if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0`, lock, []string{"tok", "+10"}},
		"reads lock tok: 0 -ERR value is not an integer or out of range script: SHA, on @user_script:1. 0"},
	{"a time of 0", call{`if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0`, lock, []string{"tok", "0"}},
		"releases lock tok: 0 1 0"},
}

const (
	addOrReplace = `
		local held = redis.call('get', KEYS[1])
		if not held or held ~= ARGV[1] then return 0 end
		local left = redis.call('pttl', KEYS[1])
		if not left then left = 0 end
		if left < 0 then return 0 end
		local ms = ARGV[2]
		if ARGV[3] == "0" then ms = ARGV[2] + left end
		redis.call('pexpire', KEYS[1], ms)
		return 1`
	reentrant = `
		local held = redis.call('get', KEYS[1])
		if (not held and ARGV[3] == 'yes') or held == ARGV[1] then
			return redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
		end`
)

func TestC7Behaviours(t *testing.T) {
	for _, b := range behaviours {
		t.Run(b.name, func(t *testing.T) {
			l := NewLibrary()
			for range 2 { // proved, then remembered
				m, err := b.understand(l)
				if err != nil {
					t.Fatalf("%v", err)
				}
				sha, _ := l.Load(b.body)
				got := strings.ReplaceAll(describeMeaning(m), sha, "SHA")
				if want := b.want; got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			}
		})
	}
}
