package commands

import (
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

// Scripts that take what is absent and tell a client of what it has already, in wordings of
// our own.
const (
	takeAllOrMine = `
		for _, key in ipairs(KEYS) do
			local v = redis.call('get', key)
			if v and v ~= ARGV[1] then return 0 end
		end
		for _, key in ipairs(KEYS) do redis.call('set', key, ARGV[1], 'NX', 'PX', ARGV[2]) end
		return #KEYS`
	// takeUntil is not proved, since it uses an absolute time.
	takeUntil = `
		local v = redis.call('get', KEYS[1])
		if v then return v == ARGV[1] and 2 or 0 end
		redis.call('set', KEYS[1], ARGV[1], 'PXAT', ARGV[2])
		return 1`
	takeOrSay = `
		local v = redis.call('get', KEYS[1])
		if v == ARGV[1] then return 2 elseif v then return 0 end
		redis.call('psetex', KEYS[1], ARGV[2], ARGV[1])
		return 1`
	takeAndLook = `
		redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
		return redis.call('get', KEYS[1])`
	prolongToAtLeast = `
		for _, key in ipairs(KEYS) do
			if redis.call('get', key) ~= ARGV[1] then return 0 end
		end
		for _, key in ipairs(KEYS) do
			if redis.call('pttl', key) < tonumber(ARGV[2]) then redis.call('pexpire', key, ARGV[2]) end
		end
		return 1`
)

// TestV6ToldOfItsOwnLocks checks that a script which does nothing to a lock, but tells the
// client that it is its own, prolongs the lock by the TTL that it has: its copies may be
// those of an attempt whose rollback is under way (V6). What is over is taken again (V15).
func TestV6ToldOfItsOwnLocks(t *testing.T) {
	mine, lapsed := found("t", 1500*time.Millisecond+time.Microsecond), quorum.State{Lapsed: true, Token: "t"}
	until := itoa(fakeNow + 500)
	for _, tt := range []struct {
		name, body, words string
		a, b              quorum.State
		reply, changes    string
	}{
		{"both", takeAllOrMine, "2 a b t 500", mine, mine, ":2", "a=t 1.5s, b=t 1.5s"},
		{"one", takeAllOrMine, "2 a b t 500", quorum.State{}, mine, ":2", "a=t 500ms, b=t 1.5s"},
		{"over", takeAllOrMine, "2 a b t 500", lapsed, lapsed, ":2", "a=t 500ms, b=t 500ms"},
		{"one over", takeAllOrMine, "2 a b t 500", mine, lapsed, ":2", "b=t 500ms, a=t 1.5s"},
		{"another's", takeAllOrMine, "2 a b u 500", mine, mine, ":0", ""},
		{"another's over", takeAllOrMine, "2 a b u 500", lapsed, lapsed, ":0", ""},
		{"one another's", takeAllOrMine, "2 a b t 500", mine, found("u", time.Second), ":0", ""},
		{"unproved", takeUntil, "1 a t " + until, mine, quorum.State{}, ":2", "a=t 1.5s"},
		{"unproved, over", takeUntil, "1 a t " + until, lapsed, quorum.State{}, ":1", "a=t 500ms"},
		{"unproved, another's", takeUntil, "1 a u " + until, mine, quorum.State{}, ":0", ""},
		{"said", takeOrSay, "1 a t 500", mine, quorum.State{}, ":2", "a=t 1.5s"},
		{"said, over", takeOrSay, "1 a t 500", lapsed, quorum.State{}, ":1", "a=t 500ms"},
		{"said, another's", takeOrSay, "1 a u 500", mine, quorum.State{}, ":0", ""},
		{"looked at", takeAndLook, "1 a t 500", mine, quorum.State{}, "$t", "a=t 1.5s"},
		{"looked at, over", takeAndLook, "1 a t 500", lapsed, quorum.State{}, "$t", "a=t 500ms"},
		{"looked at, another's", takeAndLook, "1 a u 500", mine, quorum.State{}, "$t", ""},
		{"enough is left", prolongToAtLeast, "1 a t 500", mine, quorum.State{}, ":1", "a=t 1.5s"},
		{"enough is left of both", prolongToAtLeast, "2 a b t 500", mine, mine, ":1", "a=t 1.5s, b=t 1.5s"},
		{"enough is left of one", prolongToAtLeast, "2 a b t 500", mine, found("t", 200*time.Millisecond), ":1", "b=t 500ms, a=t 1.5s"},
		{"enough, over", prolongToAtLeast, "1 a t 500", lapsed, quorum.State{}, ":0", ""},
		{"enough, another's", prolongToAtLeast, "1 a u 500", mine, quorum.State{}, ":0", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := New(rejecting(), func() int64 { return fakeNow })
			req, _ := in.Understand(3, append([][]byte{[]byte("EVAL"), []byte(tt.body)}, line(tt.words)...))
			op := req.Ops[0]
			var did []string
			if op.Kind == quorum.DecideAll {
				for _, c := range op.DecideAll([]quorum.State{tt.a, tt.b}) {
					did = append(did, c.Key+"="+c.Token+" "+c.TTL.String())
				}
			} else if next := op.Decide(tt.a); next.Kind != quorum.Read {
				did = append(did, next.Key+"="+next.Token+" "+next.TTL.String())
			}
			reply := show(req.Reply([]*quorum.Outcome{{Verdict: quorum.Won, Done: quorum.Extend}}))
			if got := strings.Join(did, ", "); got != tt.changes || reply != tt.reply {
				t.Errorf("got %s and %q, want %s and %q", reply, got, tt.reply, tt.changes)
			}
		})
	}
}

// TestV6ToldOfItsOwnToken checks that SET NX GET, whose reply tells a client that it has the
// lock already, prolongs the lock by the TTL that it has: its copies may be those of an attempt
// whose rollback is under way (V6). What is over is taken again (V15).
func TestV6ToldOfItsOwnToken(t *testing.T) {
	in, _ := fakeWith(rejecting(), nil, nil)
	for _, tt := range []struct {
		name      string
		state     quorum.State
		op, reply string
	}{
		{"absent", quorum.State{}, "acquire k t 10s", "null"},
		{"its own", found("t", 1500*time.Millisecond+time.Microsecond), "extend k t 1.5s", "$t"},
		{"its own, over", quorum.State{Lapsed: true, Token: "t"}, "extend k t 10s", "null"},
		{"another's", found("x", 1500*time.Millisecond), "read k", "$x"},
		{"another's, over", quorum.State{Lapsed: true, Token: "x"}, "read k", "$x"},
	} {
		op, reply := decideOn(t, understand(t, in, "SET k t NX PX 10000 GET"), tt.state, quorum.Won)
		if op != tt.op || reply != tt.reply {
			t.Errorf("%s: got %s, %s, want %s, %s", tt.name, op, reply, tt.op, tt.reply)
		}
	}
}

// TestV6ToldUnderWatch checks that the same holds in a transaction under WATCH (V6, why 30).
func TestV6ToldUnderWatch(t *testing.T) {
	in, _ := fakeWith(rejecting(), nil, nil)
	mine := found("t", 1500*time.Millisecond)
	watched := []Watched{{DB: 3, Key: "k", Outcome: &quorum.Outcome{Verdict: quorum.Held, State: mine}}}
	req := in.Exec(3, watched, queue("SET k t NX PX 10000 GET"))
	if op, reply := decideOn(t, req, mine, quorum.Won); op != "extend k t 1.5s" || reply != "[$t]" {
		t.Errorf("got %s, %s", op, reply)
	}
}
