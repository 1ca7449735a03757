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
