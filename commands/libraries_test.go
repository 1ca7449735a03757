package commands

import (
	"testing"
	"time"

	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// The scripts of real clients, understood by the real library of scripts.
const (
	compareDelete = `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`
	compareExpire = `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("pexpire",KEYS[1],ARGV[2]) else return 0 end`
	acquireUntil  = `if redis.call("SET",KEYS[1],ARGV[1],"NX","PXAT",ARGV[2]) then return redis.status_reply("OK") end return nil`
	// addTTL is the extend of redis-py, which adds or replaces by ARGV[3].
	addTTL = `
		local token = redis.call('get', KEYS[1])
		if not token or token ~= ARGV[1] then return 0 end
		local expiration = redis.call('pttl', KEYS[1])
		if not expiration then expiration = 0 end
		if expiration < 0 then return 0 end
		local newttl = ARGV[2]
		if ARGV[3] == "0" then newttl = ARGV[2] + expiration end
		redis.call('pexpire', KEYS[1], newttl)
		return 1`
	// ownerAndTTL is the query of redlock-rb.
	ownerAndTTL = `return { redis.call("get", KEYS[1]), redis.call("pttl", KEYS[1]) }`
)

func evalText(t *testing.T, in *Interpreter, body string, words ...string) Request {
	t.Helper()
	args := [][]byte{[]byte("EVAL"), []byte(body), []byte("1")}
	for _, word := range words {
		args = append(args, []byte(word))
	}
	req, known := in.Understand(3, args)
	if !known {
		t.Fatal("EVAL is not known")
	}
	return req
}

func TestScriptsOfRealClients(t *testing.T) {
	in := New(rejecting(), func() int64 { return fakeNow })
	for _, tt := range []struct {
		name    string
		req     Request
		op      string
		outcome *quorum.Outcome
		reply   string
	}{
		{"release", evalText(t, in, compareDelete, "k", "t"), "release k t", won(), ":1"},
		{"release, not ours", evalText(t, in, compareDelete, "k", "u"), "release k u", held("t"), ":0"},
		{"extend", evalText(t, in, compareExpire, "k", "t", "100"), "extend k t 100ms", won(), ":1"},
		{"extend to nothing", evalText(t, in, compareExpire, "k", "t", "0"), "release k t", won(), ":1"},
		{"redis-py, replacing", evalText(t, in, addTTL, "k", "t", "100", "1"), "extend k t 100ms", won(), ":1"},
		{"redlock-rb, query", evalText(t, in, ownerAndTTL, "k"), "read k", held("t"), "[$t :1500]"},
		{"redlock-rb, query of none", evalText(t, in, ownerAndTTL, "k"), "read k", absent(), "[null :-2]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := showOps(tt.req.Ops); got != tt.op {
				t.Errorf("operation: got %s, want %s", got, tt.op)
			}
			if got := show(tt.req.Reply([]*quorum.Outcome{tt.outcome})); got != tt.reply {
				t.Errorf("reply: got %s, want %s", got, tt.reply)
			}
		})
	}
}

func TestScriptsOfRealClientsThatLookFirst(t *testing.T) {
	in := New(rejecting(), func() int64 { return fakeNow })
	for _, tt := range []struct {
		name      string
		req       Request
		state     quorum.State
		op, reply string
	}{
		{"redis-py, adding", evalText(t, in, addTTL, "k", "t", "100", "0"), found("t", 2*time.Second), "extend k t 2.1s", ":1"},
		{"redis-py, adding too much", evalText(t, in, addTTL, "k", "t", "299000", "0"), found("t", 2*time.Second), "read k",
			"-ERR invalid expire time in 'eval' command: above max_ttl of 300000 ms"},
		{"redis-py, adding to another's", evalText(t, in, addTTL, "k", "t", "100", "0"), found("x", 2*time.Second), "read k", ":0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			op, reply := decideOn(t, tt.req, tt.state, quorum.Won)
			if op != tt.op || reply != tt.reply {
				t.Errorf("got %s, %s, want %s, %s", op, reply, tt.op, tt.reply)
			}
		})
	}
}

// rueidislock gives its expiry as an absolute time, by its own clock.
func TestAbsoluteExpiryInAScript(t *testing.T) {
	in := New(rejecting(), func() int64 { return fakeNow })
	req := evalText(t, in, acquireUntil, "k", "t", itoa(fakeNow+100))
	got, reply := showOps(req.Ops), ""
	if req.Ops[0].Kind == quorum.Decide {
		got, reply = decideOn(t, req, quorum.State{}, quorum.Won)
	} else {
		reply = show(req.Reply([]*quorum.Outcome{won()}))
	}
	if got != "acquire k t 100ms" || reply != "+OK" {
		t.Errorf("got %s, %s, want acquire k t 100ms, +OK", got, reply)
	}
}

// BenchmarkEvalshaOfARealScript is a release with all that it costs.
func BenchmarkEvalshaOfARealScript(b *testing.B) {
	in := New(rejecting(), func() int64 { return fakeNow })
	load, _ := in.Understand(0, [][]byte{[]byte("SCRIPT"), []byte("LOAD"), []byte(compareDelete)})
	args, outs := line("EVALSHA sha 1 lock:orders 0123456789abcdef0123"), []*quorum.Outcome{won()}
	args[1] = []byte(load.Reply(nil).Text)
	b.ReportAllocs()
	for b.Loop() {
		req, _ := in.Understand(0, args)
		if req.Reply(outs).Kind != resp.KindInt {
			b.Fatal("not an integer")
		}
	}
}
