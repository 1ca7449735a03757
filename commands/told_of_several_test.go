package commands

import (
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

// takeChild takes a lock for who has its parent, and tells who has the child already so.
const takeChild = `
	if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
	local v = redis.call('get', KEYS[2])
	if v == ARGV[1] then return 1 elseif v then return 0 end
	redis.call('set', KEYS[2], ARGV[1], 'PX', ARGV[2])
	return 1`

// takeOne takes the first of two places that is free, and tells who has one already so.
const takeOne = `
	for i, key in ipairs(KEYS) do
		if redis.call('get', key) == ARGV[1] then return i end
	end
	for i, key in ipairs(KEYS) do
		if redis.call('set', key, ARGV[1], 'NX', 'PX', ARGV[2]) then return i end
	end
	return 0`

// TestV6ToldOfOneOfSeveral checks that a script which tells a client that a lock is its own
// prolongs it, also where it would take it only if its other keys are as they are (V6).
func TestV6ToldOfOneOfSeveral(t *testing.T) {
	mine := found("t", 1500*time.Millisecond)
	for _, tt := range []struct {
		name, body  string
		a, b        quorum.State
		reply, want string
	}{
		{"child", takeChild, mine, mine, ":1", "b=t 1.5s"},
		{"second place", takeOne, found("x", time.Second), mine, ":2", "b=t 1.5s"},
		{"first place", takeOne, mine, quorum.State{}, ":1", "a=t 1.5s"},
	} {
		in := New(rejecting(), func() int64 { return fakeNow })
		req, _ := in.Understand(3, append([][]byte{[]byte("EVAL"), []byte(tt.body)}, line("2 a b t 500")...))
		var did []string
		for _, c := range req.Ops[0].DecideAll([]quorum.State{tt.a, tt.b}) {
			did = append(did, c.Key+"="+c.Token+" "+c.TTL.String())
		}
		reply := show(req.Reply([]*quorum.Outcome{{Verdict: quorum.Won, Done: quorum.Extend}}))
		if got := strings.Join(did, ", "); reply != tt.reply || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %s and %q, want %s and %q", tt.name, reply, got, tt.reply, tt.want)
		}
	}
}

// TestV6ToldByAnObject checks the same of a script that looks for the owner in an object, and
// would store it with another time. Who polls for another one's lock changes nothing.
func TestV6ToldByAnObject(t *testing.T) {
	const take = `
		local v = redis.call('get', KEYS[1])
		if v then
			if cjson.decode(v).owner ~= ARGV[1] then return 0 end
			if redis.call('pttl', KEYS[1]) > 1000 then return 1 end
		end
		redis.call('set', KEYS[1], cjson.encode({owner = ARGV[1], at = ARGV[2]}), 'PX', ARGV[3])
		return 1`
	// silent replies nothing that would tell whose the lock is.
	const silent = `
		local v = redis.call('get', KEYS[1])
		if v and cjson.decode(v).owner ~= ARGV[1] then return end
		if not v then redis.call('set', KEYS[1], cjson.encode({owner = ARGV[1], at = ARGV[2]}), 'PX', ARGV[3]) end`
	mine, theirs := `{"at":"1","owner":"A"}`, `{"at":"1","owner":"B"}`
	for _, tt := range []struct {
		name, body string
		found      quorum.State
		reply, did string
	}{
		{"mine", take, found(mine, 1500*time.Millisecond), ":1", "extend k " + mine + " 1.5s"},
		{"mine, that ends", take, found(mine, 500*time.Millisecond), ":1", `extend k ` + mine + `->{"at":"2","owner":"A"} 2s`},
		{"mine, over", take, lapsing(found(mine, 0)), ":1", `extend k ` + mine + `->{"at":"2","owner":"A"} 2s`},
		{"theirs", take, found(theirs, 1500*time.Millisecond), ":0", "read k"},
		{"no object", take, found("B", 1500*time.Millisecond), "-ERR user_script:4: Expected value but found invalid token at character 1", "read k"},
		{"theirs, nothing told", silent, found(theirs, 1500*time.Millisecond), "null", "read k"},
	} {
		in := New(rejecting(), func() int64 { return fakeNow })
		req, _ := in.Understand(3, append([][]byte{[]byte("EVAL"), []byte(tt.body)}, line("1 k A 2 2000")...))
		did, reply := decideOn(t, req, tt.found, quorum.Won)
		reply, _, _ = strings.Cut(reply, " script: ")
		if did != tt.did || reply != tt.reply {
			t.Errorf("%s: got %s, %s, want %s, %s", tt.name, did, reply, tt.did, tt.reply)
		}
	}
}
