package commands

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/commands/script"
	"github.com/redlockd/redlockd/quorum"
)

// Scripts on several keys, in wordings of our own, as lock libraries do it:
// all or none.
const (
	takeAbsent = `
		for _, key in ipairs(KEYS) do
			if redis.call('exists', key) == 1 then return 0 end
		end
		for _, key in ipairs(KEYS) do redis.call('set', key, ARGV[1], 'PX', ARGV[2]) end
		return #KEYS`
	freeMine = `
		local freed = 0
		for _, key in ipairs(KEYS) do
			if redis.call('get', key) == ARGV[1] then freed = freed + redis.call('del', key) end
		end
		return freed`
	prolongAll = `
		for _, key in ipairs(KEYS) do
			if redis.call('get', key) ~= ARGV[1] then return 0 end
		end
		for _, key in ipairs(KEYS) do redis.call('set', key, ARGV[1], 'PX', ARGV[2]) end
		return #KEYS`
	// takeByPrefix takes all, or those whose value begins as ours does.
	takeByPrefix = `
		local pairs_ = {}
		for _, key in ipairs(KEYS) do
			pairs_[#pairs_ + 1] = key
			pairs_[#pairs_ + 1] = ARGV[1]
		end
		if redis.call('msetnx', unpack(pairs_)) == 0 then
			for _, value in ipairs(redis.call('mget', unpack(KEYS))) do
				if not value or value:sub(1, ARGV[2]) ~= ARGV[1]:sub(1, ARGV[2]) then return false end
			end
			redis.call('mset', unpack(pairs_))
		end
		for _, key in ipairs(KEYS) do redis.call('pexpire', key, ARGV[3]) end
		return {ok = 'OK'}`
	takeInDatabase = `
		redis.pcall('SELECT', tonumber(ARGV[1]))
		if redis.call('exists', unpack(KEYS)) > 0 then return 0 end
		for _, key in ipairs(KEYS) do redis.call('psetex', key, ARGV[3], ARGV[2]) end
		return #KEYS`
)

func TestScriptsOnSeveralKeys(t *testing.T) {
	type step struct {
		body  string
		words string // number of keys, keys, arguments
		reply string
		holds string
	}
	for name, steps := range map[string][]step{
		"all or none": {
			{takeAbsent, "2 a b t 500", ":2", "a=t 500ms, b=t 500ms, "},
			{takeAbsent, "2 c b u 500", ":0", "a=t 500ms, b=t 500ms, "},
			{prolongAll, "2 a b t 900", ":2", "a=t 900ms, b=t 900ms, "},
			{prolongAll, "2 a b u 700", ":0", "a=t 900ms, b=t 900ms, "},
			{prolongAll, "3 a b c t 700", ":0", "a=t 900ms, b=t 900ms, "},
			{takeAbsent, "1 c u 500", ":1", "a=t 900ms, b=t 900ms, c=u 500ms, "},
			{freeMine, "3 a b c t", ":2", "c=u 500ms, "},
			{freeMine, "3 a b c t", ":0", "c=u 500ms, "},
		},
		"by a prefix": {
			{takeByPrefix, "2 a b tok:1 3 500", "+OK", "a=tok:1 500ms, b=tok:1 500ms, "},
			{takeByPrefix, "2 a b tok:2 3 600", "+OK", "a=tok:2 600ms, b=tok:2 600ms, "},
			{takeByPrefix, "2 a b tik:2 3 600", "null", "a=tok:2 600ms, b=tok:2 600ms, "},
			{takeByPrefix, "3 a b c tok:2 3 600", "null", "a=tok:2 600ms, b=tok:2 600ms, "},
		},
		"in its database": {
			{takeInDatabase, "2 a b 3 t 500", ":2", "a=t 500ms, b=t 500ms, "},
			{takeInDatabase, "2 a b 0 t 500", "-ERR This script is not a lock script: it selects another database", "a=t 500ms, b=t 500ms, "},
			{takeInDatabase, "1 c 3 t 500", ":1", "a=t 500ms, b=t 500ms, c=t 500ms, "},
		},
		"no TTL": {
			{`return redis.call('mset', KEYS[1], 't', KEYS[2], 't')`, "2 a b", noTTL, ""},
			{`redis.call('mset', KEYS[1], 't', KEYS[2], 't') redis.call('expire', KEYS[1], 9) return 1`, "2 a b", noTTL, ""},
		},
		"a list that is no signal": {
			{`redis.call('lpush', KEYS[1], 't') return redis.call('del', KEYS[2])`, "2 a b",
				`-ERR This script is not a lock script: it keeps the list "a" without an expiry, redlockd keeps locks only`, ""},
		},
		"redlockd's own key": {{takeAbsent, "2 a " + quorum.MarkKey + " t 500", "-" + errMarkKey, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			in, s := New(rejecting(), func() int64 { return fakeNow }), newStore()
			for _, step := range steps {
				got := s.ask(t, in, append([]string{"EVAL", step.body}, strings.Fields(step.words)...)...)
				if got != step.reply || s.holds("a", "b", "c") != step.holds {
					t.Fatalf("%s: got %s and %s, want %s and %s", step.words, got, s.holds("a", "b", "c"), step.reply, step.holds)
				}
			}
		})
	}
}

// P4: what nobody can tell is no answer of the script's.
func TestScriptsOnSeveralKeysThatNobodyCanTell(t *testing.T) {
	in := New(rejecting(), func() int64 { return fakeNow })
	args := [][]byte{[]byte("EVAL"), []byte(takeAbsent)}
	req, _ := in.Understand(3, append(args, line("2 a b t 500")...))
	if len(req.Ops) != 1 || !reflect.DeepEqual(req.Ops[0].Keys, []string{"a", "b"}) {
		t.Fatalf("got %s", showOps(req.Ops))
	}
	for _, tt := range []struct {
		o    *quorum.Outcome
		want string
	}{
		{undecided(), noQuorum},
		{&quorum.Outcome{Verdict: quorum.Changed, Done: quorum.DecideAll}, "-" + errMoved},
	} {
		if got := show(req.Reply([]*quorum.Outcome{tt.o})); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
		if n := req.Notices([]*quorum.Outcome{tt.o}); n != nil {
			t.Errorf("tells %v", n)
		}
	}
}

// V3, V15: what is used up and not yet free is absent for a look and not to be taken,
// and goes when its owner, or whoever may, would change it.
func TestSeveralKeysUsedUp(t *testing.T) {
	in, s := New(rejecting(), func() int64 { return fakeNow }), newStore()
	lapsed := quorum.State{Lapsed: true, Token: "x"}
	s.locks["a"] = lapsed
	for _, tt := range []struct{ command, want string }{
		{"2 a b t 500", ":0"},
		{"1 a t 500", ":0"},
	} {
		if got := s.ask(t, in, append([]string{"EVAL", takeAbsent}, strings.Fields(tt.command)...)...); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.command, got, tt.want)
		}
	}
	for _, tt := range []struct {
		want  string
		stays bool
		words []string
	}{
		{":0", false, []string{"EVAL", freeMine, "2", "a", "b", "x"}},
		{":0", true, []string{"EVAL", freeMine, "2", "a", "b", "y"}},
		{"$x", true, strings.Fields("SET a t GET NX PX 9")},
		{"null", true, strings.Fields("SET a t GET XX PX 9")},
		{"null", false, strings.Fields("SET a t GET PX 9")},
		{"null", true, strings.Fields("GET a")},
		{"null", false, strings.Fields("GETDEL a")},
		{"null", true, strings.Fields("GETEX a PX 9")},
		{":0", false, strings.Fields("DELEX a IFNE y")},
		{":0", true, strings.Fields("DELEX a IFNE x")},
	} {
		s.locks["a"] = lapsed
		if got := s.ask(t, in, tt.words...); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.words, got, tt.want)
		}
		if stays := s.locks["a"] == lapsed; stays != tt.stays {
			t.Errorf("%s: it stays %v, want %v", tt.words, stays, tt.stays)
		}
	}
}

const (
	// freeAndSignal is a release that fills a list, 0 is success.
	freeAndSignal = `
		if redis.call('get', KEYS[1]) ~= ARGV[1] then return 1 end
		redis.call('del', KEYS[2])
		redis.call('lpush', KEYS[2], 1)
		redis.call('pexpire', KEYS[2], ARGV[2])
		redis.call('del', KEYS[1])
		return 0`
	// freeAndPublish is a release that publishes.
	freeAndPublish = `
		if redis.call('get', KEYS[1]) == ARGV[1] then
			redis.call('unlink', KEYS[1])
			redis.call('publish', ARGV[2], KEYS[1])
			return true
		end
		return false`
)

func TestReleaseWithANotice(t *testing.T) {
	signal := []Notice{{DB: 3, Signal: "s", Items: []string{"1"}, TTL: time.Second, Lock: "k"}}
	message := []Notice{{DB: 3, Channel: "c", Message: "k", Lock: "k"}}
	for _, tt := range []struct {
		name, body, words, reply string
		told                     []Notice
	}{
		{"signal", freeAndSignal, "2 k s t 1000", ":0", signal},
		{"signal, not ours", freeAndSignal, "2 k s u 1000", ":1", nil},
		{"message", freeAndPublish, "1 k t c", ":1", message},
		{"message, not ours", freeAndPublish, "1 k u c", "null", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, s := New(rejecting(), func() int64 { return fakeNow }), newStore()
			s.locks["k"] = found("t", time.Second)
			req, _ := in.Understand(3, append([][]byte{[]byte("EVAL"), []byte(tt.body)}, line(tt.words)...))
			if len(req.Ops) != 1 || req.Ops[0].Key != "k" || len(req.Ops[0].Keys) > 1 {
				t.Errorf("means %s, want one operation on the lock alone", showOps(req.Ops))
			}
			reply, told := s.carryOut(req)
			if reply != tt.reply || !reflect.DeepEqual(told, tt.told) {
				t.Errorf("got %s, %+v, want %s, %+v", reply, told, tt.reply, tt.told)
			}
			// It may be free, or will be: who waits is told to look.
			ours := message
			if tt.body == freeAndSignal {
				ours = signal
			}
			if n := req.Notices([]*quorum.Outcome{undecided()}); !reflect.DeepEqual(n, ours) {
				t.Errorf("tells %+v where nobody can tell, want %+v", n, ours)
			}
		})
	}
}

// transact is MULTI ... EXEC over the store, with WATCH before.
func (s *store) transact(in *Interpreter, watched []Watched, commands ...string) (string, []Notice) {
	return s.carryOut(in.Exec(3, watched, queue(commands...)))
}

func TestExecOfSeveral(t *testing.T) {
	const held = "k=t 1s, "
	for _, tt := range []struct {
		name     string
		cfg      Config
		watch    string
		commands string
		reply    string
		holds    string
	}{
		{"the old pattern", rejecting(), "", "SETNX n t;EXPIRE n 5", "[:1 :1]", held + "n=t 5s, "},
		{"the old pattern, held", rejecting(), "", "SETNX k u;PEXPIRE k 5000", "[:0 :1]", "k=t 5s, "},
		{"the old pattern without its end", rejecting(), "", "SETNX n t;GET n", noTTL, held},
		{"the same with max_ttl", lenient(), "", "SETNX n t;GET n", "[:1 $t]", held + "n=t 5m0s, "},
		{"a TTL above the maximum that does not stay", rejecting(), "", "SET n t EX 9999;EXPIRE n 5", "[+OK :1]", held + "n=t 5s, "},
		{"a TTL above the maximum", rejecting(), "", "EXPIRE k 9999;GET k", "-ERR invalid expire time in 'exec' command: above max_ttl of 300000 ms", held},
		{"several keys", rejecting(), "", "SET a 1 PX 9;SET b 2 PX 9;DEL k;MGET a b k", "[+OK +OK :1 [$1 $2 null]]", "a=1 9ms, b=2 9ms, "},
		{"one command, several keys", rejecting(), "", "DEL k n", "[:1]", ""},
		{"reads only", rejecting(), "", "GET k;PTTL k;TTL n;EXISTS k n;TYPE k;STRLEN k;TOUCH k", "[$t :1000 :-2 :1 +string :1 :1]", held},
		{"read what was written", rejecting(), "", "SET k u PX 700;GET k;PTTL k;GETDEL k;GET k", "[+OK $u :700 $u null]", ""},
		{"Redis 8.4 and Valkey 9", rejecting(), "", "SET k u IFEQ t PX 9;DELEX k IFEQ t;DELIFEQ k u;DELEX k", "[+OK :0 :1 :0]", ""},
		{"a script", rejecting(), "", "EVAL s 1 k t;DEL k", "-NOSCRIPT No matching script. Please use EVAL.", held},

		{"a bad number", rejecting(), "", "DEL k;EXPIRE k x", noInt, held},
		{"a bad option", rejecting(), "", "DEL k;SET k t FOO", syntax, held},
		{"a bad time", rejecting(), "", "DEL k;SET k t PX 0", badSet, held},
		{"an error before", rejecting(), "", "SET k t PX -1;DEL n", badSet, held},
		{"denied", rejecting("del"), "", "GET k;DEL k", "-ERR 'del' is denied by redlockd's configuration (deny)", held},
		{"denied, set", rejecting("set"), "", "SET n t NX PX 9;SET n t PX 9", "-ERR 'set' is denied by redlockd's configuration (deny)", held},
		{"not denied with a token", rejecting("set", "delex"), "", "SET n t NX PX 9;DELEX k IFEQ t;SET n u IFEQ t PX 8", "[+OK :1 +OK]", "n=u 8ms, "},
		{"not denied under WATCH", rejecting("del"), "k", "GET k;DEL k", "[$t :1]", ""},
		{"denied, another key is watched", rejecting("del"), "n", "DEL k", "-ERR 'del' is denied by redlockd's configuration (deny)", held},
		{"denied, another key is watched, several", rejecting("del"), "n", "GET n;DEL k", "-ERR 'del' is denied by redlockd's configuration (deny)", held},
		{"denied, one of two keys is watched", rejecting("del"), "n", "DEL n k", "-ERR 'del' is denied by redlockd's configuration (deny)", held},
		{"a command of the scripts", rejecting(), "", "SCRIPT FLUSH;DEL k", "-ERR redlockd does not run 'script' beside other commands or watched keys in EXEC, nothing was done", held},
		{"the mark", rejecting(), "", "GET k;DEL " + quorum.MarkKey, "-" + errMarkKey, held},
		{"too many keys", rejecting(), "", "EXISTS" + strings.Repeat(" 1", 5) + manyKeys(129) + ";DEL k",
			"-ERR This transaction cannot be carried out: it uses more than 128 keys, nothing was done", held},

		{"watched, two commands", rejecting(), "k", "PEXPIRE k 900;GET k", "[:1 $t]", "k=t 900ms, "},
		{"watched, another key", rejecting(), "k", "SET n u PX 9", "[+OK]", held + "n=u 9ms, "},
		{"watched, another key besides", rejecting(), "k", "DEL k;SET n u PX 9", "[:1 +OK]", "n=u 9ms, "},
		{"two watched", rejecting(), "k n", "DEL k", "[:1]", ""},
		{"two watched, both meant", rejecting(), "k n", "SET n u PX 9;PSETEX k 8 u", "[+OK +OK]", "k=u 8ms, n=u 9ms, "},
		{"watched, nothing to do", rejecting(), "k", "EXPIRE k 9 NX", "[:0]", held},
		{"watched, too many keys", rejecting(), "k", "DEL n" + manyKeys(31), "-" + errExecKeys, held},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, _ := fakeWith(tt.cfg, nil, nil)
			s := newStore()
			s.locks["k"] = found("t", time.Second)
			var watched []Watched
			for _, key := range strings.Fields(tt.watch) {
				watched = append(watched, watch(key, s.do(quorum.Op{Key: key})))
			}
			got, _ := s.transact(in, watched, strings.Split(tt.commands, ";")...)
			if got != tt.reply || s.holds("a", "b", "k", "n") != tt.holds {
				t.Errorf("got %s and %s, want %s and %s", got, s.holds("a", "b", "k", "n"), tt.reply, tt.holds)
			}
		})
	}
}

// manyKeys are n more keys of a command.
func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(" key" + itoa(int64(i)))
	}
	return b.String()
}

// S4: where a watched key is not as it was, nothing is done and the reply is
// the null array, whenever that shows.
func TestExecOfSeveralUnderWatch(t *testing.T) {
	for _, queued := range []string{"DEL k;SET n u PX 9", "DEL n;GET m", "SET k u PX 9;GET k", "GETDEL k", "GET k;GET n"} {
		for name, change := range map[string]func(*store, []Watched){
			"another's":    func(s *store, _ []Watched) { s.locks["k"] = found("x", time.Second) },
			"gone":         func(s *store, _ []Watched) { delete(s.locks, "k") },
			"in the way":   func(s *store, _ []Watched) { s.between = func() { s.locks["k"] = found("x", time.Second) } },
			"used up":      func(s *store, _ []Watched) { s.locks["k"] = quorum.State{Lapsed: true, Token: "t"} },
			"not seen yet": nil,
		} {
			t.Run(name+", "+queued, func(t *testing.T) {
				in, _ := fakeWith(rejecting(), nil, nil)
				s := newStore()
				s.locks["k"] = found("t", time.Second)
				watched := []Watched{watch("k", s.do(quorum.Op{Key: "k"})), watch("n", s.do(quorum.Op{Key: "n"}))}
				want := "null array"
				switch {
				case change == nil:
					req := in.Exec(3, watched, queue(strings.Split(queued, ";")...))
					if got := show(req.Reply([]*quorum.Outcome{undecided()})); got != noQuorum {
						t.Errorf("undecided: got %s, want %s", got, noQuorum)
					}
					return
				case name == "in the way" && queued == "GET k;GET n":
					return // there is nothing between a look and nothing
				case name == "in the way" && queued == "DEL n;GET m":
					return // likewise: n is not there
				}
				change(s, watched)
				got, _ := s.transact(in, watched, strings.Split(queued, ";")...)
				if got != want {
					t.Errorf("got %s, want %s", got, want)
				}
				if s.locks["n"].Found || s.locks["k"].Token == "u" {
					t.Errorf("something was done: %s", s.holds("k", "n"))
				}
			})
		}
	}
}

// A script inside EXEC runs on the same locks, and its notice is told when
// EXEC was carried out.
func TestExecWithScripts(t *testing.T) {
	in, s := New(rejecting(), func() int64 { return fakeNow }), newStore()
	s.locks["k"] = found("t", time.Second)
	eval := func(body, words string) [][]byte {
		return append([][]byte{[]byte("EVAL"), []byte(body)}, line(words)...)
	}
	req := in.Exec(3, nil, [][][]byte{eval(takeAbsent, "2 a b t 500"), eval(freeAndPublish, "1 k t c"), line("MGET a b k")})
	reply, told := s.carryOut(req)
	if want := "[:2 :1 [$t $t null]]"; reply != want || len(told) != 1 || told[0].Channel != "c" {
		t.Errorf("got %s and %+v, want %s and a message on c", reply, told, want)
	}
	req = in.Exec(3, nil, [][][]byte{eval(`return redis.error_reply('NO way')`, "0"), line("DEL a")})
	if reply, _ := s.carryOut(req); reply != "-NO way" || !s.locks["a"].Found {
		t.Errorf("got %s and %s, want the error and nothing done", reply, s.holds("a"))
	}
}

// The old pattern of locks without a TTL: SETNX with the time until which it
// holds; who finds it over takes it by GETSET, and has it who gets the time
// that is over back.
func TestOldSETNXPattern(t *testing.T) {
	in, s := New(lenient(), func() int64 { return fakeNow }), newStore()
	for _, tt := range []struct{ command, want string }{
		{"SETNX k 100", ":1"},
		{"SETNX k 200", ":0"},
		{"GET k", "$100"},
		{"GETSET k 201", "$100"}, // it was over: we have it
		{"GETSET k 202", "$201"}, // others that found it over with us
		{"GETSET k 203", "$202"},
		{"DEL k", ":1"},
		{"GETSET k 300", "null"}, // it was freed meanwhile: we have it
		{"SETNX k 301", ":0"},
	} {
		if got := s.ask(t, in, strings.Fields(tt.command)...); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.command, got, tt.want)
		}
	}
	if got, want := s.holds("k"), "k=300 5m0s, "; got != want {
		t.Errorf("holds %s, want %s", got, want)
	}
	// Another GETSET comes between the look and the change of ours.
	s.between = func() { s.ask(t, in, "GETSET", "k", "401") }
	if got := s.ask(t, in, "GETSET", "k", "402"); got != "$401" {
		t.Errorf("two were told the same: got %s, want $401", got)
	}
	strict := New(rejecting(), func() int64 { return fakeNow })
	for _, command := range []string{"SETNX k 1", "GETSET k 1"} {
		if got := s.ask(t, strict, strings.Fields(command)...); got != noTTL {
			t.Errorf("%s: got %s, want %s", command, got, noTTL)
		}
	}
}

func TestRunOfSeveralRefused(t *testing.T) {
	run := func([]script.State) (script.Result, error) {
		return script.Result{}, &script.RefusedError{Did: "does more"}
	}
	m := &script.Meaning{Kind: script.PerCall, Key: "a", Extra: &script.Extra{Keys: []string{"a", "b"}, Run: run}}
	in, _ := fakeWith(rejecting(), m, nil)
	reply, _ := newStore().carryOut(understandScript(t, in, "EVALSHA sha 2 a b"))
	if want := "-ERR This script is not a lock script: it does more"; reply != want {
		t.Errorf("got %s, want %s", reply, want)
	}
	in, _ = fakeWith(rejecting(), nil, errors.New("ERR broken"))
	if reply, _ := newStore().carryOut(understandScript(t, in, "EVALSHA sha 2 a b")); reply != "-ERR broken" {
		t.Errorf("got %s", reply)
	}
}
