package commands

import (
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

func TestReadRemoveExpire(t *testing.T) {
	const pastEnd, past = ": above max_ttl of 300000 ms", ": it is in the past"
	bad := func(name string) string { return "-ERR invalid expire time in '" + name + "' command" }
	checkMeans(t, rejecting(), []meansCase{
		{"GET k", "read k"},
		{"MGET k l k", "read k, read l, read k"},
		{"EXISTS k k", "read k, read k"},
		{"TOUCH k", "read k"},
		{"GET", "-ERR wrong number of arguments for 'get' command"},
		{"get a b", "-ERR wrong number of arguments for 'get' command"},

		{"DEL k", "remove k"},
		{"DEL k l k", "remove k, remove l"},
		{"unlink k", "remove k"},
		{"DELEX k", "remove k"},
		{"DELEX k IFEQ t", "release k t"},
		{"delex k ifeq <>", "release k"},
		{"DELEX k IF t", "-ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE"},
		{"DIGEST k", "read k"},
		{"GETEX k", "read k"},
		{"GETEX k FOO", syntax},
		{"GETEX k EX", syntax},
		{"GETEX k EX 1 PX 1", syntax},
		{"GETEX k PERSIST 1", syntax},
		{"GETEX k EX 0", bad("getex")},
		{"GETEX k PX x", noInt},
		{"GETEX k PX 300001", bad("getex") + pastEnd},
		{"GETEX k PERSIST", noTTL},
		{"MSETNX a t b t", noTTL},
		{"MSETNX a t b", "-ERR wrong number of arguments for 'msetnx' command"},
		{"MSETEX 0 a t", "-ERR invalid numkeys value"},
		{"MSETEX 2 a t NX", "-ERR wrong number of key-value pairs"},
		{"MSETEX x a t", noInt},
		{"MSETEX 1 a t GET", syntax},
		{"MSETEX 1 a t NX EX 0", bad("msetex")},
		{"DELEX k IFEQ", "-ERR wrong number of arguments for 'delex' command"},
		{"DELEX k IFEQ a b", "-ERR wrong number of arguments for 'delex' command"},
		{"DELIFEQ k t", "release k t"},

		{"EXPIRE k 10", "expire k 10s"},
		{"PEXPIRE k 10 xx", "expire k 10ms"},
		{"EXPIREAT k 1700000010", "expire k 10s"},
		{"PEXPIREAT k 1700000000010", "expire k 10ms"},
		{"EXPIRE k 0", "remove k"},
		{"PEXPIRE k -5", "remove k"},
		{"PEXPIRE k -5 LT", "remove k"},
		{"PEXPIRE k -5 GT", ":0"},
		{"PEXPIRE k -5 NX", ":0"},
		{"EXPIREAT k 1", bad("expireat") + past},
		{"PEXPIREAT k 1700000000000", bad("pexpireat") + past},
		{"PEXPIREAT k 1700000000000 NX", bad("pexpireat") + past},
		{"EXPIRE k 10 NX", ":0"},
		{"EXPIRE k 300", "expire k 5m0s"},
		{"EXPIRE k 301", bad("expire") + pastEnd},
		{"PEXPIRE k 9223372036854775807", bad("pexpire") + pastEnd},
		{"EXPIRE k 9223372036854775807", bad("expire")},
		{"EXPIRE k -9223372036854775807", bad("expire")},
		{"PEXPIREAT k -9223372036854775808", bad("pexpireat") + past},
		{"EXPIREAT k -9223372036854775807", bad("expireat")},
		{"EXPIRE k 010", noInt},
		{"EXPIRE k a foo", "-ERR Unsupported option foo"},
		{"EXPIRE k a NX XX", "-ERR NX and XX, GT or LT options at the same time are not compatible"},
		{"EXPIRE k 10 NX GT", "-ERR NX and XX, GT or LT options at the same time are not compatible"},
		{"EXPIRE k 10 GT LT", "-ERR GT and LT options at the same time are not compatible"},
		{"PERSIST k", noTTL},
	})
	checkMeans(t, lenient(), []meansCase{{"PERSIST k", "expire k 5m0s"}})
}

func TestReadReplies(t *testing.T) {
	checkReplies(t, []replyCase{
		{"GET k", held("tok"), "$tok"},
		{"GET k", held(""), "$"},
		{"GET k", absent(), "null"},
		{"GET k", undecided(), noQuorum},
		{"MGET k", held("tok"), "[$tok]"},
		{"EXISTS k", held("tok"), ":1"},
		{"EXISTS k", absent(), ":0"},
		{"EXISTS k", undecided(), noQuorum},
		{"STRLEN k", held("tok"), ":3"},
		{"STRLEN k", absent(), ":0"},
		{"TYPE k", held("tok"), "+string"},
		{"TYPE k", absent(), "+none"},
		{"TTL k", held("tok"), ":2"},
		{"TTL k", absent(), ":-2"},
		{"PTTL k", held("tok"), ":1500"},
		{"PTTL k", absent(), ":-2"},
		{"PTTL k", undecided(), noQuorum},
		{"PEXPIRETIME k", held("tok"), ":1700000001500"},
		{"EXPIRETIME k", held("tok"), ":1700000002"},
		{"EXPIRETIME k", absent(), ":-2"},

		{"DEL k", won(), ":1"},
		{"DEL k", absent(), ":0"},
		{"DEL k", undecided(), noQuorum},
		{"DELEX k IFEQ t", won(), ":1"},
		{"DELEX k IFEQ t", held("x"), ":0"},
		{"DELEX k IFEQ t", absent(), ":0"},
		{"DELIFEQ k t", undecided(), noQuorum},
		{"EXPIRE k 1", won(), ":1"},
		{"EXPIRE k 1", absent(), ":0"},
		{"EXPIRE k 0", won(), ":1"},
		{"PERSIST k", won(), ":1"},
	})
}

func TestRepliesOverSeveralKeys(t *testing.T) {
	for _, tt := range []struct {
		command string
		outs    []*quorum.Outcome
		want    string
	}{
		{"MGET a b", []*quorum.Outcome{held("x"), absent()}, "[$x null]"},
		{"MGET a b", []*quorum.Outcome{held("x"), undecided()}, noQuorum},
		{"EXISTS a a", []*quorum.Outcome{held("x"), held("x")}, ":2"},
		{"DEL a b c", []*quorum.Outcome{won(), absent(), won()}, ":2"},
		{"DEL a b", []*quorum.Outcome{won(), undecided()}, noQuorum},
	} {
		in, _ := fakeWith(rejecting(), nil, nil)
		if got := show(understand(t, in, tt.command).Reply(tt.outs)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.command, got, tt.want)
		}
	}
}

func TestExpireThatLooksFirst(t *testing.T) {
	there := found("t", 10*time.Second)
	for _, tt := range []struct {
		command   string
		state     quorum.State
		end       quorum.Verdict
		op, reply string
	}{
		{"EXPIRE k 11 GT", there, quorum.Won, "extend k t 11s", ":1"},
		{"EXPIRE k 11 XX GT", there, quorum.Won, "extend k t 11s", ":1"},
		{"EXPIRE k 10 GT", there, quorum.Won, "read k", ":0"},
		{"EXPIRE k 11 GT", quorum.State{}, quorum.Won, "read k", ":0"},
		{"EXPIRE k 9 LT", there, quorum.Won, "extend k t 9s", ":1"},
		{"EXPIRE k 10 LT", there, quorum.Won, "read k", ":0"},
		{"EXPIRE k 11 GT", there, quorum.Held, "extend k t 11s", "-" + errMoved},
	} {
		in, _ := fakeWith(rejecting(), nil, nil)
		op, reply := decideOn(t, understand(t, in, tt.command), tt.state, tt.end)
		if op != tt.op || reply != tt.reply {
			t.Errorf("%s: got %s, %s, want %s, %s", tt.command, op, reply, tt.op, tt.reply)
		}
	}
}

func TestMarkKeyIsReserved(t *testing.T) {
	const want = "-ERR this key is reserved: 'redlockd:mark' and 'redlockd:change' are redlockd's own"
	for _, command := range []string{
		"GET redlockd:mark", "SET redlockd:mark t NX PX 1", "DEL a redlockd:mark", "SET redlockd:mark t PX 1 GET",
		"MGET a redlockd:mark b", "SET redlockd:change t NX PX 1",
	} {
		in, _ := fakeWith(lenient(), nil, nil)
		req := understand(t, in, command)
		if len(req.Ops) != 0 || show(req.Reply(nil)) != want {
			t.Errorf("%s: got operations %s, want the refusal", command, showOps(req.Ops))
		}
	}
}
