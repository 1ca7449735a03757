package commands

import (
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/commands/grammar"
)

// Digests of the tokens t and u, and one of neither.
var (
	digestT = grammar.Digest("t")
	digestU = grammar.Digest("u")
	noOne   = "0123456789abcdef"
)

// What Redis 8.4 adds for strings, on a lock k of the token t with a second
// left. Each is asked alone, inside MULTI with another command, and by a
// script, and answers the same.
func TestConditions(t *testing.T) {
	const kept = "k=t 1s, "
	const badDigest = "-ERR digest must be exactly 16 hexadecimal characters"
	for _, tt := range []struct{ command, reply, holds string }{
		{"SET k u IFEQ t PX 9", "+OK", "k=u 9ms, "},
		{"SET k u IFEQ x PX 9", "null", kept},
		{"SET n u IFEQ t PX 9", "null", kept},
		{"SET k u IFNE x PX 9", "+OK", "k=u 9ms, "},
		{"SET k u IFNE t PX 9", "null", kept},
		{"SET n u IFNE t PX 9", "+OK", kept + "n=u 9ms, "},
		{"SET k u IFDEQ " + digestT + " PX 9", "+OK", "k=u 9ms, "},
		{"SET k u IFDEQ " + strings.ToUpper(digestT) + " PX 9", "+OK", "k=u 9ms, "},
		{"SET k u IFDEQ " + digestU + " PX 9", "null", kept},
		{"SET n u IFDEQ " + digestT + " PX 9", "null", kept},
		{"SET k u IFDNE " + noOne + " PX 9", "+OK", "k=u 9ms, "},
		{"SET k u IFDNE " + digestT + " PX 9", "null", kept},
		{"SET n u IFDNE " + digestT + " PX 9", "+OK", kept + "n=u 9ms, "},
		{"SET k u IFDEQ 12 PX 9", badDigest, kept},
		{"SET k u IFDNE 12 PX 9", badDigest, kept},
		{"SET n u IFDEQ 12 PX 9", "null", kept},
		{"SET k u IFNE x PX 9 GET", "$t", "k=u 9ms, "},
		{"SET k u IFNE t PX 9 GET", "$t", kept},
		{"SET n u IFNE t PX 9 GET", "null", kept + "n=u 9ms, "},
		{"SET k u GET IFDNE " + digestT + " PX 9", "$t", kept},
		{"SET k u IFNE x KEEPTTL", "+OK", "k=u 1s, "},
		{"SET k u IFDEQ " + digestT + " KEEPTTL", "+OK", "k=u 1s, "},

		{"DELEX k", ":1", ""},
		{"DELEX k IFEQ t", ":1", ""},
		{"DELEX k IFEQ x", ":0", kept},
		{"DELEX k IFNE x", ":1", ""},
		{"DELEX k IFNE t", ":0", kept},
		{"DELEX n IFNE t", ":0", kept},
		{"delex k ifdeq " + digestT, ":1", ""},
		{"DELEX k IFDEQ " + digestU, ":0", kept},
		{"DELEX k IFDNE " + digestU, ":1", ""},
		{"DELEX k IFDNE " + digestT, ":0", kept},
		{"DELEX n IFDNE " + digestT, ":0", kept},
		{"DELEX k IFDNE 12", badDigest, kept},
		{"DELEX n IFDEQ 12", ":0", kept},

		{"DIGEST k", "$" + digestT, kept},
		{"DIGEST n", "null", kept},
		{"GETEX k", "$t", kept},
		{"GETEX n PX 9", "null", kept},
		{"GETEX k PX 9", "$t", "k=t 9ms, "},
		{"GETEX k EX 3", "$t", "k=t 3s, "},
		{"GETEX k PXAT " + itoa(fakeNow+9), "$t", "k=t 9ms, "},
		{"GETEX k EXAT 1", "-ERR invalid expire time in 'getex' command: it is in the past", kept},

		{"MSETEX 2 a u n u NX PX 9", ":1", kept + "a=u 9ms, n=u 9ms, "},
		{"MSETEX 2 a u k u NX PX 9", ":0", kept},
		{"MSETEX 2 k u k v XX EX 2", ":1", "k=v 2s, "},
		{"MSETEX 2 a u k u XX EX 2", ":0", kept},
		{"MSETEX 2 a u k u EX 2", ":1", "k=u 2s, a=u 2s, "},
		{"MSETEX 1 k u KEEPTTL", ":1", "k=u 1s, "},
	} {
		for name, ask := range map[string]func(*testing.T, *Interpreter, *store) string{
			"alone": func(t *testing.T, in *Interpreter, s *store) string {
				return s.ask(t, in, strings.Fields(tt.command)...)
			},
			"in MULTI": func(_ *testing.T, in *Interpreter, s *store) string {
				reply, _ := s.transact(in, nil, "GET other", tt.command)
				return strings.TrimSuffix(strings.TrimPrefix(reply, "[null "), "]")
			},
			"by a script": func(t *testing.T, in *Interpreter, s *store) string {
				reply := s.ask(t, in, append([]string{"EVAL", "return redis.call(unpack(ARGV))", "0"}, strings.Fields(tt.command)...)...)
				reply, _, _ = strings.Cut(reply, " script: ")
				return reply
			},
		} {
			in, s := New(rejecting(), func() int64 { return fakeNow }), newStore()
			s.locks["k"] = found("t", time.Second)
			if got := ask(t, in, s); got != tt.reply || s.holds("k", "a", "n") != tt.holds {
				t.Errorf("%s, %s: got %s and %s, want %s and %s", tt.command, name, got, s.holds("k", "a", "n"), tt.reply, tt.holds)
			}
		}
	}
}

// MSETNX takes all or none, with the greatest TTL (C2).
func TestTakeSeveral(t *testing.T) {
	in, s := New(lenient(), func() int64 { return fakeNow }), newStore()
	for _, tt := range []struct{ command, reply, holds string }{
		{"MSETNX a t b t", ":1", "a=t 5m0s, b=t 5m0s, "},
		{"MSETNX b u c u", ":0", "a=t 5m0s, b=t 5m0s, "},
		{"MSETNX c u", ":1", "a=t 5m0s, b=t 5m0s, c=u 5m0s, "},
		{"DEL a b c", ":3", ""},
		{"GETEX c PERSIST", "null", ""},
		{"MSETNX a t a u", ":1", "a=u 5m0s, "},
		{"GETEX a PX 9", "$u", "a=u 9ms, "},
		{"GETEX a PERSIST", "$u", "a=u 5m0s, "},
		{"MSETNX" + strings.Repeat(" x y", 40) + manyKeys(258), "-ERR 'msetnx' cannot be carried out: it uses more than 128 keys", "a=u 5m0s, "},
		{"MSETNX c t " + "redlockd:mark t", "-ERR this key is reserved: 'redlockd:mark' and 'redlockd:change' are redlockd's own", "a=u 5m0s, "},
	} {
		if got := s.ask(t, in, strings.Fields(tt.command)...); got != tt.reply || s.holds("a", "b", "c") != tt.holds {
			t.Errorf("%s: got %s and %s, want %s and %s", tt.command, got, s.holds("a", "b", "c"), tt.reply, tt.holds)
		}
	}
}

// Who denies set or pexpire denies what does the same.
func TestDenyIsOfTheKind(t *testing.T) {
	in := New(rejecting("set", "pexpire", "persist"), func() int64 { return fakeNow })
	for _, command := range []string{"MSETEX 1 k t PX 9", "GETEX k PX 9", "GETEX k PERSIST"} {
		if got := show(understand(t, in, command).Reply(nil)); !strings.HasSuffix(got, "is denied by redlockd's configuration (deny)") &&
			got != noTTL {
			t.Errorf("%s: got %s", command, got)
		}
		if req := in.Exec(3, nil, queue("GET n", command)); len(req.Ops) != 0 {
			t.Errorf("%s in MULTI: got %s", command, showOps(req.Ops))
		}
	}
}
