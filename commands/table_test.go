package commands

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/redlockd/redlockd/commands/script"
	"github.com/redlockd/redlockd/quorum"
)

// A command is one row: what is added to the table is found wherever commands are
// listed, with what its row says of it.
func TestNewCommandIsFoundEverywhere(t *testing.T) {
	before := table
	t.Cleanup(func() { table, byName = before, indexed() })
	table = append(slices.Clone(table), Spec{
		Name: "seize", Arity: -4, Flags: stores, May: MayRemove | MayAdmin, needs: MayAdmin, deny: true, token: 1,
		keyCount: 2, keyStep: 1, inExec: notBeside, list: countList,
		run: func(c call) Request {
			if c.denied() {
				return denied(c.spec.Name)
			}
			return c.one(quorum.Op{Kind: quorum.Remove}, oneOrZero)
		},
	})
	byName = indexed()

	in, _ := fakeWith(rejecting(), nil, nil)
	args := line("SEIZE token 2 a b")
	if req, known := in.Understand(0, args); !known || len(req.Ops) != 1 || req.List == nil || !Known(args[0]) {
		t.Errorf("Understand: known %v, %d operations", known, len(req.Ops))
	}
	if ok, _ := in.Check(args); !ok {
		t.Error("MULTI does not queue it")
	}
	if ok, refusal := in.Check(line("SEIZE token")); ok || refusal.Text != wrongArity("seize") {
		t.Errorf("MULTI queues it with too few words: %q", refusal.Text)
	}
	if req := in.Exec(0, nil, [][][]byte{args, args}); req.Reply(nil).Text != notInExec("seize") {
		t.Errorf("EXEC: %q", req.Reply(nil).Text)
	}
	for op := MayAcquire; op <= MayAdmin; op <<= 1 {
		if got := slices.Contains(MayMean(op), "seize"); got != (op == MayRemove || op == MayAdmin) {
			t.Errorf("ACL CAT %v: %v", op.Names(), got)
		}
	}
	if i := slices.IndexFunc(Table(), func(s Spec) bool { return s.Name == "seize" }); i < 0 {
		t.Error("COMMAND does not list it")
	} else if keys, ok := table[i].KeysOf(args); !ok || string(slices.Concat(keys...)) != "ab" {
		t.Errorf("COMMAND GETKEYS: %q, %v", keys, ok)
	}
	if ok, refusal := in.For(only(MayRemove)).Permits(0, args, false); ok || refusal.Text != NoPermCommand("seize") {
		t.Errorf("one without its right: %q", refusal.Text)
	}
	cfg := rejecting("seize")
	if err := cfg.Validate(); err != nil {
		t.Error("deny:", err)
	}
	forbids, _ := fakeWith(cfg, nil, nil)
	if req, _ := forbids.Understand(0, args); req.Reply(nil).Text != deniedText("seize") {
		t.Errorf("denied: %q", req.Reply(nil).Text)
	}
	in.Limit(1, 0)
	if req, _ := in.Understand(0, line("SEIZE token 2 a long")); req.Reply(nil).Text != errLongKey {
		t.Errorf("a long key: %q", req.Reply(nil).Text)
	}
	in.Limit(0, 1)
	if req, _ := in.Understand(0, args); req.Reply(nil).Text != errLongToken {
		t.Errorf("a long token: %q", req.Reply(nil).Text)
	}
}

// What EXEC and scripts do on the model of a key is known for every command that
// stands there by its words.
func TestScriptsKnowEveryCommand(t *testing.T) {
	for _, spec := range table {
		if spec.inExec != nil {
			continue
		}
		words := slices.Repeat([]string{"1"}, max(spec.Arity, -spec.Arity))
		words[0] = spec.Name
		_, err := script.NewLibrary().Transact(0, []script.Command{{Words: words}})
		var refused *script.RefusedError
		if errors.As(err, &refused) && strings.HasPrefix(refused.Did, "holds ") {
			t.Errorf("%s: %v", spec.Name, err)
		}
	}
}

// only is a client that may do this to any key.
type only Operations

func (o only) May(ops Operations) bool { return ops&^Operations(o) == 0 }
func (only) Key(string) bool           { return true }
func (only) Channel(string) bool       { return true }
