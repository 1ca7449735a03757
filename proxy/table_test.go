package proxy

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/users"
)

// A command of the connection is one row: what is added is found wherever
// commands are listed, with what its row says of it.
func TestNewLocalCommandIsFoundEverywhere(t *testing.T) {
	before := localCommands
	t.Cleanup(func() {
		localCommands = before
		delete(locals, "peek")
		delete(commandNames, "peek")
	})
	row := localCommand{name: "peek", arity: 3, run: always(resp.Pong), besideLocks: true, whileSubscribed: true,
		access: access{needs: commands.MayRead, keys: places{1, 1}}}
	localCommands = append(slices.Clone(localCommands), row)
	locals["peek"] = row
	nameCommands()

	if got := describeNamed([]byte("PEEK")); got.Kind == resp.KindNull || got.Items[5].Int != 1 {
		t.Errorf("COMMAND INFO: %v", got)
	}
	words := [][]byte{[]byte("PEEK"), []byte("mine"), []byte("x")}
	if got := getKeys(words); len(got.Items) != 1 || got.Items[0].Text != "mine" {
		t.Errorf("COMMAND GETKEYS: %v", got)
	}
	for op := commands.MayAcquire; op <= commands.MayAdmin; op <<= 1 {
		if got := slices.Contains(mayMean(op), "peek"); got != (op == commands.MayRead) {
			t.Errorf("ACL CAT %v: %v", op.Names(), got)
		}
	}
	if !mixes([][][]byte{words}) || commandNames["peek"] == "" {
		t.Error("MULTI or CLIENT LIST does not know it")
	}
	few := users.User{Keys: []string{"mine"}, Operations: commands.MayRead}
	u := users.NewAccount(few)
	if refused := noRightTo(u, "peek", words); refused != "" {
		t.Errorf("one who may: %q", refused)
	}
	if refused := noRightTo(u, "peek", [][]byte{words[0], []byte("yours"), words[2]}); refused != commands.NoPermKey {
		t.Errorf("another's key: %q", refused)
	}
	few.Operations = commands.MayAll &^ commands.MayRead
	u = users.NewAccount(few)
	if refused := noRightTo(u, "peek", words); refused != commands.NoPermCommand("peek") {
		t.Errorf("one who may not: %q", refused)
	}
	// And over the wire.
	c := start(t, nil).dial(t)
	c.ask("PEEK mine x", "+PONG\r\n")
	c.ask("PEEK mine", "-ERR wrong number of arguments for 'peek' command\r\n")
	c.send("COMMAND LIST\r\n")
	if got := c.until("peek"); !strings.Contains(got, "$4\r\npeek") {
		t.Errorf("COMMAND LIST: %q", got)
	}
}

// Every lock command has its place in what the proxy tells of commands.
func TestEveryLockCommandIsListed(t *testing.T) {
	for _, spec := range commands.Table() {
		if got := describeNamed(bytes.ToUpper([]byte(spec.Name))); got.Kind == resp.KindNull {
			t.Errorf("COMMAND INFO %s: nothing", spec.Name)
		}
		if commandNames[spec.Name] == "" || redisHas[spec.Name] {
			t.Errorf("%s: not known to CLIENT LIST, or said to be Redis's only", spec.Name)
		}
		if _, twice := locals[spec.Name]; twice {
			t.Errorf("%s is also a command of the connection", spec.Name)
		}
	}
	for _, c := range localCommands {
		if redisHas[c.name] {
			t.Errorf("%s is said to be Redis's only", c.name)
		}
	}
}
