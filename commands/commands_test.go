package commands

import (
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

func TestUnderstandLeavesOtherCommandsAlone(t *testing.T) {
	in, _ := fakeWith(rejecting(), nil, nil)
	for _, command := range []string{"PING", "LPUSH k v", "MSET k v", "<>", "GETX k", "a-name-longer-than-any-command k"} {
		if _, known := in.Understand(0, line(command)); known {
			t.Errorf("%q: understood, want not known", command)
		}
	}
}

func TestCheckAtQueueTime(t *testing.T) {
	in, _ := fakeWith(rejecting(), nil, nil)
	for _, tt := range []struct{ command, want string }{
		{"SET k t NX PX 1", ""},
		{"SET k t BOGUS", ""},
		{"del k", ""},
		{"SCRIPT LOAD s", ""},
		{"SET k", "-ERR wrong number of arguments for 'set' command"},
		{"DEL", "-ERR wrong number of arguments for 'del' command"},
		{"SCRIPT", "-ERR wrong number of arguments for 'script' command"},
		{"SCRIPT LOAD", "-ERR wrong number of arguments for 'script|load' command"},
		{"SCRIPT FOO", "-ERR unknown subcommand 'FOO'. Try SCRIPT HELP."},
		{"LPUSH k v", "-ERR unknown command 'LPUSH', with args beginning with: 'k' 'v' "},
	} {
		ok, refusal := in.Check(line(tt.command))
		got := ""
		if !ok {
			got = show(refusal)
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.command, got, tt.want)
		}
	}
}

// The texts are redis-server 7.0.15's.
func TestUnknown(t *testing.T) {
	long := strings.Repeat("a", 200)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"FOO"}, "ERR unknown command 'FOO', with args beginning with: "},
		{[]string{"FOO", "bar", "b\naz"}, "ERR unknown command 'FOO', with args beginning with: 'bar' 'b az' "},
		{[]string{"foo", long, "b"}, "ERR unknown command 'foo', with args beginning with: '" + long[:128] + "' "},
		{[]string{long, "b"}, "ERR unknown command '" + long[:128] + "', with args beginning with: 'b' "},
	} {
		var args [][]byte
		for _, a := range tt.args {
			args = append(args, []byte(a))
		}
		if got := unknown(args).Text; got != tt.want {
			t.Errorf("got  %q\nwant %q", got, tt.want)
		}
	}
}

func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, spec := range Table() {
		if seen[spec.Name] || spec.Name != strings.ToLower(spec.Name) || spec.Arity == 0 {
			t.Errorf("%q: twice, not in lower case, or without arity", spec.Name)
		}
		seen[spec.Name] = true
		if spec.run == nil && spec.Subcommands == nil {
			t.Errorf("%q: nothing to run", spec.Name)
		}
		if got := lookup([]byte(strings.ToUpper(spec.Name))); got == nil || got.Name != spec.Name {
			t.Errorf("%q in upper case: got %v", spec.Name, got)
		}
	}
	for _, name := range deniable() {
		if !seen[name] {
			t.Errorf("deny allows %q, which is no command", name)
		}
	}
}

// No command of this package may panic on fewer or stranger arguments.
func FuzzUnderstand(f *testing.F) {
	for _, spec := range Table() {
		f.Add(spec.Name + " k 1 1")
		f.Add(spec.Name + " k t EX")
	}
	f.Add("SET k t NX PX 9223372036854775807 GET IFEQ")
	f.Add("EVAL s 9223372036854775807 k")
	f.Add("SCRIPT FLUSH ASYNC x")
	in, _ := fakeWith(lenient(), nil, nil)
	f.Fuzz(func(t *testing.T, command string) {
		args := line(command)
		in.Check(args)
		req, known := in.Understand(0, args)
		if known && req.Reply == nil {
			t.Fatal("a request without a reply")
		}
		for _, op := range req.Ops {
			needsTTL := op.Kind == quorum.Acquire || op.Kind == quorum.Extend || op.Kind == quorum.Expire || op.Kind == quorum.Store
			if needsTTL && (op.TTL < time.Millisecond || op.TTL > 5*time.Minute) {
				t.Fatalf("TTL out of bounds: %s", showOp(op))
			}
		}
	})
}

func TestConfigValidate(t *testing.T) {
	if err := DefaultConfig().Validate(); err != nil {
		t.Errorf("the defaults: got %v, want nil", err)
	}
	wrong := Config{MaxTTL: 1500 * time.Microsecond, NoExpiry: "never", Deny: []string{"del", "GET"}}
	err := wrong.Validate()
	if err == nil {
		t.Fatal("got nil, want three problems")
	}
	for _, want := range []string{"max_ttl is 1.5ms", `no_expiry is "never"`, `deny names "GET"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, want it to contain %q", err, want)
		}
	}
}

// BenchmarkSetNX is the acquire of nearly every library.
func BenchmarkSetNX(b *testing.B) {
	in, _ := fakeWith(rejecting(), nil, nil)
	args, outs := line("SET lock:orders 0123456789abcdef0123 NX PX 30000"), []*quorum.Outcome{won()}
	b.ReportAllocs()
	for b.Loop() {
		req, _ := in.Understand(0, args)
		if req.Reply(outs).Kind != resp.KindStatus {
			b.Fatal("not OK")
		}
	}
}

// BenchmarkEvalshaRelease is the release of nearly every library, without
// what the script's own package costs.
func BenchmarkEvalshaRelease(b *testing.B) {
	in, _ := fakeWith(rejecting(), releasing(), nil)
	args, outs := line("EVALSHA sha 1 lock:orders 0123456789abcdef0123"), []*quorum.Outcome{won()}
	args[1] = []byte(fakeSHA("s"))
	b.ReportAllocs()
	for b.Loop() {
		req, _ := in.Understand(0, args)
		if req.Reply(outs).Kind != resp.KindInt {
			b.Fatal("not an integer")
		}
	}
}
