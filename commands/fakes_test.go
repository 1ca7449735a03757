package commands

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/commands/script"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// fakeNow is redlockd's time in tests, in milliseconds since 1970.
const fakeNow = 1_700_000_000_000

// fakeScripts knows scripts by a name instead of their SHA1.
type fakeScripts struct {
	meanings map[string]*script.Meaning
	errs     map[string]error
	loaded   map[string]bool
	keys     []string
	args     []string
}

func (f *fakeScripts) Load(body string) (string, error) {
	if body == "foo bar" {
		return "", errors.New("ERR Error compiling script (new function): user_script:1: '=' expected\nnear 'bar'")
	}
	f.loaded[fakeSHA(body)] = true
	return fakeSHA(body), nil
}

func (f *fakeScripts) Exists(sha string) bool { return f.loaded[sha] }
func (f *fakeScripts) Flush()                 { clear(f.loaded) }

func (f *fakeScripts) Understand(_ int, sha string, keys, args []string) (*script.Meaning, error) {
	f.keys, f.args = keys, args
	if !f.loaded[sha] {
		return nil, script.ErrNoScript
	}
	name := strings.TrimRight(sha, "_")
	if f.meanings[name] == nil && f.errs[name] == nil {
		return nil, &script.RefusedError{Did: "is not known to this test"}
	}
	return f.meanings[name], f.errs[name]
}

func (f *fakeScripts) Keep(int, []script.Latch) {}
func (f *fakeScripts) Forget(int, string) bool  { return false }

func (f *fakeScripts) Scripts() int { return len(f.loaded) }

func (f *fakeScripts) Sweep(db int, sha string, keys, args []string, _ map[string][]string) (*script.Meaning, error) {
	return f.Understand(db, sha, keys, args)
}

// Transact is that of the real library, which knows no scripts.
func (f *fakeScripts) Transact(db int, list []script.Command) (*script.Meaning, error) {
	l := script.NewLibrary()
	l.Clock(func() int64 { return fakeNow })
	return l.Transact(db, list)
}

// fakeSHA is a name made as long as a SHA1.
func fakeSHA(name string) string { return (name + strings.Repeat("_", 40))[:40] }

// fakeWith is an Interpreter that knows one script by the name "s".
// errMoved is the answer where a lock is not as it was read.
var errMoved = quorum.ErrLockChanged.Error()

func fakeWith(cfg Config, m *script.Meaning, err error) (*Interpreter, *fakeScripts) {
	f := &fakeScripts{
		meanings: map[string]*script.Meaning{"s": m},
		errs:     map[string]error{"s": err},
		loaded:   map[string]bool{fakeSHA("s"): true},
	}
	return newInterpreter(cfg, func() int64 { return fakeNow }, f), f
}

// settings are the configurations that tests need.
func rejecting(deny ...string) Config {
	return Config{MaxTTL: 5 * time.Minute, NoExpiry: Reject, Deny: deny}
}
func lenient() Config { return Config{MaxTTL: 5 * time.Minute, NoExpiry: MaxTTLInstead} }

// line splits a command at spaces; <> is an empty argument and ~ a space.
func line(s string) [][]byte {
	var args [][]byte
	for _, word := range strings.Split(s, " ") {
		word = strings.ReplaceAll(word, "~", " ")
		args = append(args, []byte(strings.ReplaceAll(word, "<>", "")))
	}
	return args
}

func understand(t *testing.T, in *Interpreter, command string) Request {
	t.Helper()
	req, known := in.Understand(3, line(command))
	if !known {
		t.Fatalf("%s: not a command of this package", command)
	}
	return req
}

// show writes a reply as redis-cli would, for messages and comparison.
func show(r resp.Reply) string {
	switch r.Kind {
	case resp.KindNull:
		return "null"
	case resp.KindNullArray:
		return "null array"
	case resp.KindStatus:
		return "+" + r.Text
	case resp.KindError:
		return "-" + r.Text
	case resp.KindInt:
		return ":" + itoa(r.Int)
	case resp.KindBulk:
		return "$" + r.Text
	}
	var items []string
	for _, item := range r.Items {
		items = append(items, show(item))
	}
	return "[" + strings.Join(items, " ") + "]"
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// showOp writes an operation in a few words.
func showOp(op quorum.Op) string {
	kinds := map[quorum.Kind]string{
		quorum.Read: "read", quorum.Acquire: "acquire", quorum.AcquireOrExtend: "acquire-or-extend",
		quorum.Release: "release", quorum.Extend: "extend", quorum.Remove: "remove",
		quorum.Expire: "expire", quorum.Store: "store", quorum.Decide: "decide", quorum.DecideAll: "decide all",
	}
	s := kinds[op.Kind] + " " + op.Key
	if op.Token != "" {
		s += " " + op.Token
	}
	if op.Replace {
		s += "->" + op.NewToken
	}
	if op.IfPresent {
		s += " if present"
	}
	if op.TTL != 0 {
		s += " " + op.TTL.String()
	}
	return s
}

func showOps(ops []quorum.Op) string {
	var all []string
	for _, op := range ops {
		all = append(all, showOp(op))
	}
	return strings.Join(all, ", ")
}

// Outcomes as a quorum gives them.
func won() *quorum.Outcome    { return &quorum.Outcome{Verdict: quorum.Won} }
func absent() *quorum.Outcome { return &quorum.Outcome{Verdict: quorum.Absent} }
func held(token string) *quorum.Outcome {
	return &quorum.Outcome{Verdict: quorum.Held, State: found(token, 1500*time.Millisecond)}
}
func undecided() *quorum.Outcome {
	return &quorum.Outcome{Err: errors.New("NOQUORUM 2 of 5 masters answered, 3 needed")}
}
func changed() *quorum.Outcome { return &quorum.Outcome{Verdict: quorum.Changed} }

func found(token string, ttl time.Duration) quorum.State {
	return quorum.State{Found: true, Token: token, TTL: ttl}
}

// decideOn lets a Decide operation see a state, and returns what it chose and
// the reply when that ends with the verdict given (a read ends by itself).
func decideOn(t *testing.T, req Request, s quorum.State, end quorum.Verdict) (string, string) {
	t.Helper()
	if len(req.Ops) != 1 || req.Ops[0].Decide == nil {
		t.Fatalf("got operations %s, want one decide", showOps(req.Ops))
	}
	op := req.Ops[0].Decide(s)
	o := &quorum.Outcome{Verdict: end, State: s, Done: op.Kind}
	if op.Kind == quorum.Read {
		o.Verdict = stateVerdict(s)
	}
	return showOp(op), show(req.Reply([]*quorum.Outcome{o}))
}
