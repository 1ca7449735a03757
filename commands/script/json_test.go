package script

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Scripts of locks whose value is a JSON object, in wordings of our own.
const (
	takeObject = `
		local mine = cjson.encode({owner = ARGV[1], version = ARGV[2], ms = ARGV[3]})
		if redis.call('SET', KEYS[1], mine, 'NX', 'PX', ARGV[3]) then return mine end
		return redis.call('GET', KEYS[1])`
	renewObject = `
		local text = redis.call('GET', KEYS[1])
		if not text then return nil end
		local held = cjson.decode(text)
		if held.owner ~= ARGV[1] or held.version ~= ARGV[2] then return nil end
		held.version = ARGV[3]
		redis.call('PSETEX', KEYS[1], ARGV[4], cjson.encode(held))
		return redis.call('GET', KEYS[1])`
	releaseObject = `
		local text = redis.call('GET', KEYS[1])
		if not text then return 'GONE' end
		local held = cjson.decode(text)
		if held.owner ~= ARGV[1] or held.version ~= ARGV[2] then return 'OTHER' end
		redis.call('DEL', KEYS[1])
		return 'DONE'`
	// swapObject has its key in ARGV, and compares a number in what it expects.
	swapObject = `
		local what = table.remove(ARGV, 1)
		local key, old, new, ttl = unpack(ARGV)
		if redis.call('exists', key) ~= 1 then error('not found') end
		if cjson.decode(redis.call('get', key)).Index ~= cjson.decode(old).Index then error('changed') end
		if what == 'del' then redis.call('del', key) else redis.call('set', key, new, 'ex', ttl) end
		return 'OK'`
	// dropSafely releases what it can read.
	dropSafely = `
		local ok, held = pcall(cjson.decode, redis.call('GET', KEYS[1]) or '')
		if not ok or held.owner ~= ARGV[1] then return {0, ok and '' or held} end
		return redis.call('DEL', KEYS[1])`
	// dropBoth uses its second key only where the first one holds an object of its own.
	dropBoth = `
		local text = redis.call('GET', KEYS[1])
		if text and cjson.decode(text).owner == ARGV[1] then return redis.call('DEL', KEYS[1], KEYS[2]) end
		return 0`
)

// TestC7Objects: a lock whose value is an object is taken, renewed and released by its
// owner, and by no other.
func TestC7Objects(t *testing.T) {
	mine, mineToo := `{"ms":"5000","owner":"A","version":"1"}`, `{"ms":"5000","owner":"A","version":"2"}`
	theirs := `{"ms":"5000","owner":"B","version":"1"}`
	take := call{takeObject, lock, []string{"A", "1", "5000"}}
	renew := call{renewObject, lock, []string{"A", "1", "2", "7000"}}
	release := call{releaseObject, lock, []string{"A", "1"}}
	swap := call{swapObject, nil, []string{"set", "lock", `{"Index":7}`, `{"Index":8}`, "5"}}
	drop := call{swapObject, nil, []string{"del", "lock", `{"Index":7}`}}
	safely := call{dropSafely, lock, []string{"A"}}
	held := func(v string) State { return State{Found: true, Value: v, TTL: time.Second} }
	for _, c := range []struct {
		name  string
		call  call
		found State
		want  string
	}{
		{"take, absent", take, State{}, "set " + mine + " 5s: " + fmt.Sprintf("%q", mine)},
		{"take, held", take, held(theirs), "nothing: " + fmt.Sprintf("%q", theirs)},
		{"renew, absent", renew, State{}, "nothing: nil"},
		{"renew, mine", renew, held(`{"version":"1","owner":"A","ms":"5000"}`), "set " + mineToo + " 7s: " + fmt.Sprintf("%q", mineToo)},
		{"renew, theirs", renew, held(theirs), "nothing: nil"},
		{"renew, renewed elsewhere", renew, held(mineToo), "nothing: nil"},
		{"renew, no object", renew, held("7"), "nothing: -ERR user_script:5: attempt to index local 'held' (a number value)"},
		{"renew, no JSON", renew, held("A"), "nothing: -ERR user_script:4: Expected value but found invalid token at character 1"},
		{"release, absent", release, State{}, `nothing: "GONE"`},
		{"release, mine", release, held(mine), `delete: "DONE"`},
		{"release, theirs", release, held(theirs), `nothing: "OTHER"`},
		{"release, renewed elsewhere", release, held(mineToo), `nothing: "OTHER"`},
		{"swap, absent", swap, State{}, "nothing: -ERR user_script:4: not found"},
		{"swap, expected", swap, held(`{"x":null,"Index":7.0}`), `set {"Index":8} 5s: "OK"`},
		{"swap, changed", swap, held(`{"Index":"7"}`), "nothing: -ERR user_script:5: changed"},
		{"drop, expected", drop, held(`{"Index":7}`), `delete: "OK"`},
		{"drop, changed", drop, held(`{"Index":8}`), "nothing: -ERR user_script:5: changed"},
		{"safely, mine", safely, held(mine), "delete: 1"},
		{"safely, theirs", safely, held(theirs), `nothing: [0 ""]`},
		{"safely, no JSON", safely, held("A"), `nothing: [0 "Expected value but found invalid token at character 1"]`},
	} {
		m, err := c.call.understand(NewLibrary())
		if err != nil || m.Kind != PerCall || m.Key != "lock" {
			t.Errorf("%s: %+v, %v", c.name, m, err)
			continue
		}
		if got := ran(m, c.found); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// ran is what a run did to its only key, and its reply without where an error was.
func ran(m *Meaning, found ...State) string {
	res, err := m.Run(found)
	if err != nil {
		return err.Error()
	}
	if res.Reply.Kind == Error {
		res.Reply.Text, _, _ = strings.Cut(res.Reply.Text, " script: ")
	}
	e := res.Effects[0]
	did := []string{"nothing", "delete", "set " + e.Value + " " + e.TTL.String(), "expire " + e.TTL.String()}[e.Kind]
	return did + ": " + show(res.Reply)
}

// TestC7ObjectsAreNotRemembered: what a script does that looks into the token is found out
// anew for each call, also once many calls of its form are known.
func TestC7ObjectsAreNotRemembered(t *testing.T) {
	const sameOwner = `
		local v = redis.call('get', KEYS[1])
		if v == ARGV[1] then return redis.call('del', KEYS[1]) end
		if v and cjson.decode(v).owner == cjson.decode(ARGV[1]).owner then return redis.call('del', KEYS[1]) end
		return 0`
	l := NewLibrary()
	object := func(owner string, n int) string { return fmt.Sprintf(`{"owner":"%s","n":%d}`, owner, n) }
	for n := range 3 * maxUnproved {
		for _, owner := range []string{"A", "B"} {
			m, err := call{sameOwner, lock, []string{object(owner, n)}}.understand(l)
			if err != nil || m.Kind != PerCall {
				t.Fatalf("call %d of %s: %+v, %v", n, owner, m, err)
			}
			for holder, want := range map[string]string{owner: "delete: 1", "C": "nothing: 0"} {
				if got := ran(m, State{Found: true, Value: object(holder, -1), TTL: time.Second}); got != want {
					t.Errorf("call %d of %s, held by %s: %s, want %s", n, owner, holder, got, want)
				}
			}
		}
	}
}

// TestC7ObjectOfOptions: an argument that is decoded and is not the token is a part of what
// the meaning is remembered by.
func TestC7ObjectOfOptions(t *testing.T) {
	const takeWith = `
		local options = cjson.decode(ARGV[2])
		if options.dry then return redis.call('exists', KEYS[1]) end
		return redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', options.ms)`
	l := NewLibrary()
	for range 2 {
		for _, c := range []struct{ options, want string }{
			{`{"ms":5000}`, "acquires lock tok 5s: +OK nil nil"},
			{`{"ms":7000}`, "acquires lock tok 7s: +OK nil nil"},
			{`{"ms":7000,"dry":true}`, "reads lock : 0 1 1"},
		} {
			m, err := call{takeWith, lock, []string{"tok", c.options}}.understand(l)
			if err != nil || describeMeaning(m) != c.want {
				t.Errorf("%s: %v %v, want %s", c.options, m, err, c.want)
			}
		}
	}
}

// TestC7EncodedKeysAreSorted: a run that encodes an object stores the same each time.
func TestC7EncodedKeysAreSorted(t *testing.T) {
	m, err := call{`return redis.call('set', KEYS[1], cjson.encode({c = 1, a = 2, e = ARGV[1], b = {y = 1, x = 2}, d = 4}), 'NX', 'PX', 5000)`, lock, mine}.understand(NewLibrary())
	if err != nil {
		t.Fatal(err)
	}
	const want = `set {"a":2,"b":{"x":2,"y":1},"c":1,"d":4,"e":"tok"} 5s: +OK`
	for range 20 {
		if got := ran(m, State{}); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	}
}

// TestC7ObjectShowsASecondKey: a key that only an object leads to is one of the call's.
func TestC7ObjectShowsASecondKey(t *testing.T) {
	m, err := call{dropBoth, []string{"a", "b"}, []string{"A"}}.understand(NewLibrary())
	if err != nil || describeMeaning(m) != "per call of a b" {
		t.Fatalf("%v, %v", m, err)
	}
	res, err := m.Run([]State{{Found: true, Value: `{"owner":"A"}`, TTL: time.Second}, {Found: true, Value: "x", TTL: time.Second}})
	if err != nil || res.Effects[0].Kind != Delete || res.Effects[1].Kind != Delete || show(res.Reply) != "2" {
		t.Errorf("%+v, %v, want both deleted", res, err)
	}
}
