package commands

import (
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

// meansCase is a command without a Decide: its operations, or the reply when
// it needs none.
type meansCase struct{ command, want string }

func checkMeans(t *testing.T, cfg Config, cases []meansCase) {
	t.Helper()
	in, _ := fakeWith(cfg, nil, nil)
	for _, tt := range cases {
		t.Run(tt.command, func(t *testing.T) {
			req := understand(t, in, tt.command)
			got := showOps(req.Ops)
			if len(req.Ops) == 0 {
				got = show(req.Reply(nil))
			}
			for _, op := range req.Ops {
				if op.DB != 3 {
					t.Errorf("database: got %d, want 3", op.DB)
				}
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

const (
	noTTL  = `-ERR a lock needs a TTL: redlockd refuses locks without one (no_expiry = "reject")`
	badSet = "-ERR invalid expire time in 'set' command"
	noInt  = "-ERR value is not an integer or out of range"
	syntax = "-ERR syntax error"
)

func TestSetWithReject(t *testing.T) {
	checkMeans(t, rejecting(), []meansCase{
		{"SET k t NX PX 100", "acquire k t 100ms"},
		{"set k t px 100 nx", "acquire k t 100ms"},
		{"sEt k t Ex 3 nX", "acquire k t 3s"},
		{"SET k t GET PX 100 NX", "acquire k t 100ms"},
		{"SET k t NX NX PX 100", "acquire k t 100ms"},
		{"SET k t NX PX 50 PX 100", "acquire k t 100ms"},
		{"SET k t NX PXAT 1700000000100", "acquire k t 100ms"},
		{"SET k t NX EXAT 1700000002", "acquire k t 2s"},
		{"SET <> <> NX PX 1", "acquire  1ms"},
		{"SET k t NX PX 300000", "acquire k t 5m0s"},
		{"SET k t PX 100", "store k t 100ms"},
		{"SET k t XX PX 100", "store k t if present 100ms"},
		{"SET k t IFEQ t PX 100", "extend k t 100ms"},
		{"SET k t PX 100 ifeq t", "extend k t 100ms"},
		{"SET k t XX IFEQ t PX 100", "extend k t 100ms"},
		{"SET k t IFEQ old PX 100", "extend k old->t 100ms"},
		{"SET k <> IFEQ old PX 100", "extend k old-> 100ms"},

		{"SET k t", noTTL},
		{"SET k t NX", noTTL},
		{"SET k t NX KEEPTTL", noTTL},
		{"SET k t XX", noTTL},
		{"SET k t IFEQ t", noTTL},
		{"SETNX k t", noTTL},
		{"GETSET k t", noTTL},

		{"SET k", "-ERR wrong number of arguments for 'set' command"},
		{"SET k t NX XX", syntax},
		{"SET k t XX NX", syntax},
		{"SET k t NX IFEQ t PX 1", syntax},
		{"SET k t IFEQ t NX PX 1", syntax},
		{"SET k t IFEQ a IFEQ b PX 1", syntax},
		{"SET k t IFEQ", syntax},
		{"SET k t IFEQ t IFNE t PX 1", syntax},
		{"SET k t XX IFNE t PX 1", syntax},
		{"SET k t IFDEQ t XX PX 1", syntax},
		{"SET k t NX IFDNE t PX 1", syntax},
		{"SET k t IFNE", syntax},
		{"SET k t IFNE u", noTTL},
		{"SET k t EX", syntax},
		{"SET k t EX 1 PX 1", syntax},
		{"SET k t KEEPTTL PX 1", syntax},
		{"SET k t PX 1 KEEPTTL", syntax},
		{"SET k t FOO", syntax},
		{"SET k t PX abc FOO", syntax},
		{"SET k t PERSIST", syntax},

		{"SET k t NX PX 0100", noInt},
		{"SET k t NX PX +100", noInt},
		{"SET k t NX PX 1e3", noInt},
		{"SET k t NX PX ~1", noInt},
		{"SET k t NX PX <>", noInt},
		{"SET k t NX EX 9223372036854775808", noInt},
		{"SET k t NX EX 0", badSet},
		{"SET k t NX PX -1", badSet},
		{"SET k t NX EXAT 0", badSet},
		{"SET k t NX EX 9223372036854775807", badSet},
		{"SET k t NX PX 9223372036854775807", badSet + ": above max_ttl of 300000 ms"},
		{"SET k t NX PX 300001", badSet + ": above max_ttl of 300000 ms"},
		{"SET k t NX EX 301", badSet + ": above max_ttl of 300000 ms"},
		{"SET k t NX EXAT 1", badSet + ": it is in the past"},
		{"SET k t NX PXAT 1700000000000", badSet + ": it is in the past"},

		{"SETEX k 2 t", "store k t 2s"},
		{"psetex k 200 t", "store k t 200ms"},
		{"SETEX k 0 t", "-ERR invalid expire time in 'setex' command"},
		{"PSETEX k -1 t", "-ERR invalid expire time in 'psetex' command"},
		{"SETEX k a t", noInt},
		{"SETEX k 301 t", "-ERR invalid expire time in 'setex' command: above max_ttl of 300000 ms"},
		{"SETNX k", "-ERR wrong number of arguments for 'setnx' command"},
	})
}

func TestC2SetWithMaxTTLInstead(t *testing.T) {
	checkMeans(t, lenient(), []meansCase{
		{"SET k t", "store k t 5m0s"},
		{"SET k t NX", "acquire k t 5m0s"},
		{"SET k t NX KEEPTTL", "acquire k t 5m0s"},
		{"SET k t IFEQ t", "extend k t 5m0s"},
		{"SETNX k t", "acquire k t 5m0s"},
		{"SET k t NX PX 300001", badSet + ": above max_ttl of 300000 ms"},
	})
}

func TestDeny(t *testing.T) {
	no := func(name string) string { return "-ERR '" + name + "' is denied by redlockd's configuration (deny)" }
	checkMeans(t, rejecting(deniable()...), []meansCase{
		{"SET k t PX 1", no("set")},
		{"SET k t XX PX 1", no("set")},
		{"SET k t PX 1 GET", no("set")},
		{"SET k t KEEPTTL", no("set")},
		{"SETEX k 1 t", no("setex")},
		{"PSETEX k 1 t", no("psetex")},
		{"GETSET k t", no("getset")},
		{"GETDEL k", no("getdel")},
		{"DEL k", no("del")},
		{"DEL k l", no("del")},
		{"UNLINK k", no("unlink")},
		{"EXPIRE k 1", no("expire")},
		{"PEXPIRE k 0", no("pexpire")},
		{"EXPIREAT k 1", no("expireat")},
		{"PEXPIREAT k 1 GT", no("pexpireat")},
		{"PERSIST k", no("persist")},
		{"DELEX k", no("delex")},
		{"DELEX k IFNE t", no("delex")},
		{"DELEX k IFDNE 0123456789abcdef", no("delex")},
		{"SET k t IFNE t PX 1", no("set")},
		{"SET k t IFDNE 0123456789abcdef PX 1", no("set")},
		{"GETEX k PX 1", no("getex")},
		{"MSETEX 1 k t PX 1", no("msetex")},
		{"MSETEX 1 k t XX PX 1", no("msetex")},

		{"MSETEX 1 k t NX PX 1", "decide k"},
		{"SET k t IFDEQ 0123456789abcdef PX 1", "decide k"},
		{"DELEX k IFDEQ 0123456789abcdef", "decide k"},
		{"GETEX k", "read k"},
		{"SET k t NX PX 1", "acquire k t 1ms"},
		{"SET k t IFEQ t PX 1", "extend k t 1ms"},
		{"DELEX k IFEQ t", "release k t"},
		{"DELIFEQ k t", "release k t"},
		{"GET k", "read k"},
	})
}

// replyCase is a reply by the outcome of the command's one operation.
type replyCase struct {
	command string
	outcome *quorum.Outcome
	want    string
}

func checkReplies(t *testing.T, cases []replyCase) {
	t.Helper()
	in, _ := fakeWith(lenient(), nil, nil)
	for _, tt := range cases {
		got := show(understand(t, in, tt.command).Reply([]*quorum.Outcome{tt.outcome}))
		if got != tt.want {
			t.Errorf("%s, verdict %d: got %s, want %s", tt.command, tt.outcome.Verdict, got, tt.want)
		}
	}
}

const noQuorum = "-NOQUORUM 2 of 5 masters answered, 3 needed"

func TestSetReplies(t *testing.T) {
	checkReplies(t, []replyCase{
		{"SET k t NX PX 1", won(), "+OK"},
		{"SET k t NX PX 1", held("x"), "null"},
		{"SET k t NX PX 1", held("t"), "null"},
		{"SET k t NX PX 1", undecided(), noQuorum},
		{"SET k t NX PX 1 GET", won(), "null"},
		{"SET k t NX PX 1 GET", held("x"), "$x"},
		{"SET k t NX PX 1 GET", held("t"), "-" + errMoved},
		{"SET k t NX PX 1 GET", held(""), "$"},
		{"SET k t NX PX 1 GET", &quorum.Outcome{Verdict: quorum.Held, Done: quorum.Acquire}, "-" + errMoved},
		{"SET k t NX PX 1 GET", undecided(), noQuorum},
		{"SET k t PX 1", won(), "+OK"},
		{"SET k t PX 1 XX", won(), "+OK"},
		{"SET k t PX 1 XX", absent(), "null"},
		{"SET k t PX 1 IFEQ t", won(), "+OK"},
		{"SET k t PX 1 IFEQ t", held("x"), "null"},
		{"SET k t PX 1 IFEQ t", absent(), "null"},
		{"SET k t PX 1 IFEQ t", undecided(), noQuorum},
		{"SETNX k t", won(), ":1"},
		{"SETNX k t", held("x"), ":0"},
		{"SETNX k t", undecided(), noQuorum},
		{"SETEX k 1 t", won(), "+OK"},
	})
}

func TestSetThatLooksFirst(t *testing.T) {
	none, there := quorum.State{}, found("old", 1500*time.Millisecond+time.Microsecond)
	for _, tt := range []struct {
		command   string
		cfg       Config
		state     quorum.State
		end       quorum.Verdict
		op, reply string
	}{
		{"SET k t PX 9 GET", rejecting(), none, quorum.Won, "acquire k t 9ms", "null"},
		{"SET k t PX 9 GET", rejecting(), there, quorum.Won, "extend k old->t 9ms", "$old"},
		{"SET k old PX 9 GET", rejecting(), there, quorum.Won, "extend k old 9ms", "$old"},
		{"SET k t PX 9 GET", rejecting(), there, quorum.Held, "extend k old->t 9ms", "-" + errMoved},
		{"SET k t PX 9 GET", rejecting(), none, quorum.Held, "acquire k t 9ms", "-" + errMoved},
		{"SET k t PX 9 GET XX", rejecting(), none, quorum.Won, "read k", "null"},
		{"SET k t PX 9 GET XX", rejecting(), there, quorum.Won, "extend k old->t 9ms", "$old"},
		{"SET k t PX 9 GET IFEQ old", rejecting(), there, quorum.Won, "extend k old->t 9ms", "$old"},
		{"SET k t PX 9 GET IFEQ x", rejecting(), there, quorum.Won, "read k", "$old"},
		{"SET k t PX 9 GET IFEQ x", rejecting(), none, quorum.Won, "read k", "null"},
		{"SET k t PX 9 GET IFEQ <>", rejecting(), none, quorum.Won, "read k", "null"},
		{"SET k t KEEPTTL", rejecting(), there, quorum.Won, "extend k old->t 1.5s", "+OK"},
		{"SET k t KEEPTTL", rejecting(), none, quorum.Won, "read k", noTTL},
		{"SET k t KEEPTTL", lenient(), none, quorum.Won, "acquire k t 5m0s", "+OK"},
		{"SET k t KEEPTTL XX", rejecting(), none, quorum.Won, "read k", "null"},
		{"SET k t KEEPTTL IFEQ old", rejecting(), there, quorum.Won, "extend k old->t 1.5s", "+OK"},
		{"SET k t KEEPTTL IFEQ x", rejecting(), there, quorum.Won, "read k", "null"},
		{"GETSET k t", lenient(), none, quorum.Won, "acquire k t 5m0s", "null"},
		{"GETSET k t", lenient(), there, quorum.Won, "extend k old->t 5m0s", "$old"},
		{"GETSET k t", lenient(), there, quorum.Absent, "extend k old->t 5m0s", "-" + errMoved},
		{"GETDEL k", rejecting(), none, quorum.Won, "read k", "null"},
		{"GETDEL k", rejecting(), there, quorum.Won, "release k old", "$old"},
		{"GETDEL k", rejecting(), there, quorum.Absent, "release k old", "null"},
	} {
		in, _ := fakeWith(tt.cfg, nil, nil)
		op, reply := decideOn(t, understand(t, in, tt.command), tt.state, tt.end)
		if op != tt.op || reply != tt.reply {
			t.Errorf("%s on %+v: got %s, %s, want %s, %s", tt.command, tt.state, op, reply, tt.op, tt.reply)
		}
	}
}

func TestUndecidedLookIsToldAsSuch(t *testing.T) {
	in, _ := fakeWith(rejecting(), nil, nil)
	req := understand(t, in, "SET k t PX 9 GET")
	if got := show(req.Reply([]*quorum.Outcome{undecided()})); got != noQuorum {
		t.Errorf("got %s, want %s", got, noQuorum)
	}
}
