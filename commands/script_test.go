package commands

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/commands/script"
	"github.com/redlockd/redlockd/quorum"
)

// byState is a reply table whose replies tell the states apart.
var byState = [4]script.Value{
	script.Absent: {Kind: script.Status, Text: "absent"},
	script.Ours:   {Kind: script.Status, Text: "ours"},
	script.Other:  {Kind: script.Status, Text: "other"},
}

func meaningOf(kind script.Kind, ttl time.Duration) *script.Meaning {
	replies := byState
	return &script.Meaning{Kind: kind, Key: "k", Token: "t", TTL: ttl, Reply: &replies}
}

// acquiring is a script that does not tell its own token from another one.
func acquiring(ttl time.Duration) *script.Meaning {
	m := meaningOf(script.Acquires, ttl)
	m.Reply[script.Ours] = m.Reply[script.Other]
	return m
}

func releasing() *script.Meaning {
	m := meaningOf(script.Releases, 0)
	m.Reply = &[4]script.Value{{Kind: script.Int}, {Kind: script.Int, Int: 1}, {Kind: script.Int}}
	return m
}

func understandScript(t *testing.T, in *Interpreter, command string) Request {
	t.Helper()
	args := line(command)
	if grammar.Is(args[1], "sha") {
		args[1] = []byte(fakeSHA("s"))
	}
	req, known := in.Understand(3, args)
	if !known {
		t.Fatalf("%s: not known", command)
	}
	return req
}

func TestScriptArguments(t *testing.T) {
	const noScript = "-NOSCRIPT No matching script. Please use EVAL."
	for _, tt := range []struct{ command, want string }{
		{"EVALSHA sha 1 k t", "release k t"},
		{"evalsha sha 1 k t", "release k t"},
		{"EVAL s 1 k t", "release k t"},
		{"EVAL s a", noInt},
		{"EVAL s 01 k", noInt},
		{"EVAL s -1", "-ERR Number of keys can't be negative"},
		{"EVAL s 1", "-ERR Number of keys can't be greater than number of args"},
		{"EVAL s 9223372036854775807 k", "-ERR Number of keys can't be greater than number of args"},
		{"EVAL s", "-ERR wrong number of arguments for 'eval' command"},
		{"EVAL foo~bar 3", "-ERR Number of keys can't be greater than number of args"},
		{"EVAL foo~bar 0", "-ERR Error compiling script (new function): user_script:1: '=' expected near 'bar'"},
		{"EVALSHA abc 0", noScript},
		{"EVALSHA abc x", noScript},
		{"EVALSHA ffffffffffffffffffffffffffffffffffffffff x", noInt},
		{"EVALSHA ffffffffffffffffffffffffffffffffffffffff 0", noScript},
		{"EVALSHA_RO ffffffffffffffffffffffffffffffffffffffff 0", noScript},
		{"EVAL_RO s 1 k t", "-ERR Write commands are not allowed from read-only scripts."},
		{"EVALSHA_RO sha 1 k t", "-ERR Write commands are not allowed from read-only scripts."},
	} {
		in, _ := fakeWith(rejecting(), releasing(), nil)
		req := understandScript(t, in, tt.command)
		got := showOps(req.Ops)
		if len(req.Ops) == 0 {
			got = show(req.Reply(nil))
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.command, got, tt.want)
		}
	}
}

func TestScriptGetsKeysAndArguments(t *testing.T) {
	in, f := fakeWith(rejecting(), releasing(), nil)
	understandScript(t, in, "EVALSHA sha 2 a b c ~ <>")
	if got := strings.Join(f.keys, ",") + "|" + strings.Join(f.args, ","); got != "a,b|c, ," {
		t.Errorf("got %q, want %q", got, "a,b|c, ,")
	}
}

func TestScriptCommand(t *testing.T) {
	in, _ := fakeWith(rejecting(), releasing(), nil)
	for _, tt := range []struct{ command, want string }{
		{"SCRIPT EXISTS nope", "[:0]"},
		{"script load s", "$" + fakeSHA("s")},
		{"SCRIPT LOAD foo~bar", "-ERR Error compiling script (new function): user_script:1: '=' expected near 'bar'"},
		{"SCRIPT FLUSH x", "-ERR SCRIPT FLUSH only support SYNC|ASYNC option"},
		{"SCRIPT FLUSH SYNC x", "-ERR SCRIPT FLUSH only support SYNC|ASYNC option"},
		{"SCRIPT FLUSH async", "+OK"},
		{"SCRIPT FLUSH", "+OK"},
		{"SCRIPT KILL", "-NOTBUSY No scripts in execution right now."},
		{"SCRIPT KILL 1", "-ERR wrong number of arguments for 'script|kill' command"},
		{"SCRIPT DEBUG YES", "-ERR redlockd does not debug scripts"},
		{"SCRIPT", "-ERR wrong number of arguments for 'script' command"},
		{"SCRIPT LOAD", "-ERR wrong number of arguments for 'script|load' command"},
		{"SCRIPT EXISTS", "-ERR wrong number of arguments for 'script|exists' command"},
		{"SCRIPT fO\no", "-ERR unknown subcommand 'fO o'. Try SCRIPT HELP."},
	} {
		if got := show(understand(t, in, tt.command).Reply(nil)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.command, got, tt.want)
		}
	}
	if got := show(understand(t, in, "SCRIPT HELP").Reply(nil)); !strings.HasPrefix(got, "[+SCRIPT <subcommand>") {
		t.Errorf("SCRIPT HELP: got %s", got)
	}
}

func TestEvalLoadsAndFlushForgets(t *testing.T) {
	in, f := fakeWith(rejecting(), releasing(), nil)
	f.Flush()
	exists := func() string {
		req, _ := in.Understand(0, [][]byte{[]byte("SCRIPT"), []byte("EXISTS"), []byte(fakeSHA("s")), []byte("x")})
		return show(req.Reply(nil))
	}
	understand(t, in, "EVAL s 1 k t")
	if got := exists(); got != "[:1 :0]" {
		t.Errorf("after EVAL: got %s, want [:1 :0]", got)
	}
	understand(t, in, "SCRIPT FLUSH")
	if got := exists(); got != "[:0 :0]" {
		t.Errorf("after SCRIPT FLUSH: got %s, want [:0 :0]", got)
	}
}

func TestScriptErrors(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&script.RefusedError{Did: "called\nLPUSH"}, "-ERR This script is not a lock script: it called LPUSH"},
		{script.ErrNoScript, "-NOSCRIPT No matching script. Please use EVAL."},
		{errors.New("ERR a\r\nb"), "-ERR a  b"},
	} {
		in, _ := fakeWith(rejecting(), nil, tt.err)
		if got := show(understandScript(t, in, "EVALSHA sha 1 k").Reply(nil)); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func TestMeaningIsOneOperation(t *testing.T) {
	prolonged := won()
	prolonged.Prolonged = true
	for _, tt := range []struct {
		name    string
		meaning *script.Meaning
		outcome *quorum.Outcome
		op      string
		reply   string
	}{
		{"release won", meaningOf(script.Releases, 0), won(), "release k t", "+ours"},
		{"release held", meaningOf(script.Releases, 0), held("x"), "release k t", "+other"},
		{"release absent", meaningOf(script.Releases, 0), absent(), "release k t", "+absent"},
		{"release undecided", meaningOf(script.Releases, 0), undecided(), "release k t", noQuorum},
		{"extend won", meaningOf(script.Extends, time.Second), won(), "extend k t 1s", "+ours"},
		{"extend held", meaningOf(script.Extends, time.Second), held("x"), "extend k t 1s", "+other"},
		{"extend absent", meaningOf(script.Extends, time.Second), absent(), "extend k t 1s", "+absent"},
		{"acquire won", acquiring(time.Second), won(), "acquire k t 1s", "+absent"},
		{"acquire held by another", acquiring(time.Second), held("x"), "acquire k t 1s", "+other"},
		{"acquire held by the same token", acquiring(time.Second), held("t"), "acquire k t 1s", "+other"},
		{"acquire undecided", acquiring(time.Second), undecided(), "acquire k t 1s", noQuorum},
		{"acquire or extend, new", meaningOf(script.AcquiresOrExtends, time.Second), won(), "acquire-or-extend k t 1s", "+absent"},
		{"acquire or extend, again", meaningOf(script.AcquiresOrExtends, time.Second), prolonged, "acquire-or-extend k t 1s", "+ours"},
		{"acquire or extend, held", meaningOf(script.AcquiresOrExtends, time.Second), held("x"), "acquire-or-extend k t 1s", "+other"},
		{"read, ours", meaningOf(script.Reads, 0), held("t"), "read k", "+ours"},
		{"read, other", meaningOf(script.Reads, 0), held("x"), "read k", "+other"},
		{"read, absent", meaningOf(script.Reads, 0), absent(), "read k", "+absent"},
		{"read, undecided", meaningOf(script.Reads, 0), undecided(), "read k", noQuorum},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, _ := fakeWith(rejecting(), tt.meaning, nil)
			req := understandScript(t, in, "EVALSHA sha 1 k t")
			if got := showOps(req.Ops); got != tt.op {
				t.Errorf("operation: got %s, want %s", got, tt.op)
			}
			if got := show(req.Reply([]*quorum.Outcome{tt.outcome})); got != tt.reply {
				t.Errorf("reply: got %s, want %s", got, tt.reply)
			}
		})
	}
}

func TestScriptThatTouchesNoKey(t *testing.T) {
	m := &script.Meaning{Kind: script.Nothing, Reply: &[4]script.Value{{Kind: script.Int, Int: 1}}}
	in, _ := fakeWith(rejecting(), m, nil)
	req := understandScript(t, in, "EVAL s 0")
	if len(req.Ops) != 0 || show(req.Reply(nil)) != ":1" {
		t.Errorf("got %s and %s, want no operation and :1", showOps(req.Ops), show(req.Reply(nil)))
	}
}

func TestC3ScriptTTL(t *testing.T) {
	const above = "-ERR invalid expire time in 'eval' command: above max_ttl of 300000 ms"
	for _, tt := range []struct {
		kind script.Kind
		ttl  time.Duration
		cfg  Config
		want string
	}{
		{script.Acquires, 0, rejecting(), noTTL},
		{script.Acquires, 0, lenient(), "acquire k t 5m0s"},
		{script.Extends, 0, lenient(), "extend k t 5m0s"},
		{script.Acquires, -time.Second, lenient(), "-ERR invalid expire time in 'eval' command"},
		{script.Acquires, 5*time.Minute + time.Millisecond, rejecting(), above},
		{script.AcquiresOrExtends, time.Hour, lenient(), above},
		{script.Extends, 5 * time.Minute, rejecting(), "extend k t 5m0s"},
	} {
		m := meaningOf(tt.kind, tt.ttl)
		m.Reply[script.Ours] = m.Reply[script.Other]
		in, _ := fakeWith(tt.cfg, m, nil)
		req := understandScript(t, in, "EVALSHA sha 1 k t")
		got := showOps(req.Ops)
		if len(req.Ops) == 0 {
			got = show(req.Reply(nil))
		}
		if got != tt.want {
			t.Errorf("%d with %v: got %s, want %s", tt.kind, tt.ttl, got, tt.want)
		}
	}
}

// redlock-rb asks with one script for [value, pttl].
func TestReadFillsThePlaces(t *testing.T) {
	m := meaningOf(script.Reads, 0)
	places := script.Value{Kind: script.Array, Items: []script.Value{
		{Kind: script.StoredValue}, {Kind: script.StoredPTTL}, {Kind: script.StoredTTL}, {Kind: script.Null},
	}}
	m.Reply = &[4]script.Value{places, places, places}
	in, _ := fakeWith(rejecting(), m, nil)
	for _, tt := range []struct {
		outcome *quorum.Outcome
		want    string
	}{
		{held("x"), "[$x :1500 :2 null]"},
		{absent(), "[null :-2 :-2 null]"},
	} {
		req := understandScript(t, in, "EVALSHA sha 1 k")
		if got := show(req.Reply([]*quorum.Outcome{tt.outcome})); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

// A script that changes the lock and tells what it found has to look first:
// only a read knows the TTL that is left.
func TestChangeThatTellsTheState(t *testing.T) {
	none, mine, theirs := quorum.State{}, found("t", 1500*time.Millisecond), found("x", 1500*time.Millisecond)
	for _, tt := range []struct {
		name      string
		kind      script.Kind
		state     quorum.State
		op, reply string
	}{
		{"acquire, absent", script.Acquires, none, "acquire k t 1s", ":-2"},
		{"acquire, held", script.Acquires, theirs, "read k", ":1500"},
		{"acquire, held by the same token", script.Acquires, mine, "read k", ":1500"},
		{"acquire or extend, absent", script.AcquiresOrExtends, none, "acquire k t 1s", ":-2"},
		{"acquire or extend, mine", script.AcquiresOrExtends, mine, "extend k t 1s", ":1500"},
		{"acquire or extend, held", script.AcquiresOrExtends, theirs, "read k", ":1500"},
		{"extend, mine", script.Extends, mine, "extend k t 1s", ":1500"},
		{"extend, absent", script.Extends, none, "read k", ":-2"},
		{"release, mine", script.Releases, mine, "release k t", ":1500"},
		{"release, held", script.Releases, theirs, "read k", ":1500"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := meaningOf(tt.kind, time.Second)
			pttl := script.Value{Kind: script.StoredPTTL}
			m.Reply = &[4]script.Value{pttl, pttl, pttl}
			in, _ := fakeWith(rejecting(), m, nil)
			req := understandScript(t, in, "EVALSHA sha 1 k t")
			op, reply := decideOn(t, req, tt.state, quorum.Won)
			if op != tt.op || reply != tt.reply {
				t.Errorf("got %s, %s, want %s, %s", op, reply, tt.op, tt.reply)
			}
		})
	}
}

// TestV15RefusedAtItsEnd checks that who cannot take a lock whose TTL has ended is told when it
// will be free, and others what is left of the TTL (V15).
func TestV15RefusedAtItsEnd(t *testing.T) {
	ended := quorum.State{Found: true, Token: "x", TTL: time.Millisecond, Hold: 150 * time.Millisecond}
	own := ended
	own.Token = "t"
	for _, tt := range []struct {
		name  string
		kind  script.Kind
		state quorum.State
		reply string
	}{
		{"acquire", script.Acquires, ended, ":150"},
		{"acquire or extend", script.AcquiresOrExtends, ended, ":150"},
		{"extend", script.Extends, ended, ":1"},
		{"release", script.Releases, ended, ":1"},
		{"extend, mine", script.Extends, own, ":1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := meaningOf(tt.kind, time.Second)
			pttl := script.Value{Kind: script.StoredPTTL}
			m.Reply = &[...]script.Value{pttl, pttl, pttl, pttl}
			in, _ := fakeWith(rejecting(), m, nil)
			if _, reply := decideOn(t, understandScript(t, in, "EVALSHA sha 1 k t"), tt.state, quorum.Won); reply != tt.reply {
				t.Errorf("got %s, want %s", reply, tt.reply)
			}
		})
	}
}

// TestV6ScriptThatGrantsItsOwnToken checks that a script which replies the same for an
// absent key and for its own token extends what it finds with that token, by the TTL that
// is left, since a rollback of an earlier attempt may be about to delete it (V6).
func TestV6ScriptThatGrantsItsOwnToken(t *testing.T) {
	lapsed := quorum.State{Token: "t", Lapsed: true}
	for _, tt := range []struct {
		name      string
		state     quorum.State
		op, reply string
	}{
		{"absent", quorum.State{}, "acquire k t 10s", ":1"},
		{"its own", found("t", 1500*time.Millisecond), "extend k t 1.5s", ":1"},
		{"its own, over", lapsed, "extend k t 10s", ":1"},
		{"another's", found("x", 1500*time.Millisecond), "read k", ":0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := meaningOf(script.Acquires, 10*time.Second)
			yes, no := script.Value{Kind: script.Int, Int: 1}, script.Value{Kind: script.Int}
			m.Reply = &[4]script.Value{yes, yes, no}
			in, _ := fakeWith(rejecting(), m, nil)
			req := understandScript(t, in, "EVALSHA sha 1 k t")
			op, reply := decideOn(t, req, tt.state, quorum.Won)
			if op != tt.op || reply != tt.reply {
				t.Errorf("got %s, %s, want %s, %s", op, reply, tt.op, tt.reply)
			}
		})
	}
}
