package users

import (
	"slices"
	"testing"

	"github.com/redlockd/redlockd/commands"
)

// Who may log in, by any password, in clear or as its SHA-256.
func TestSetAdmits(t *testing.T) {
	const hashed = "#2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b" // of "secret"
	all := New([]string{"root"}, []User{{Name: "few", Passwords: []string{"old", hashed}}})
	for _, c := range []struct {
		name, password string
		want           bool
	}{
		{"few", "old", true}, {"few", "secret", true}, {"few", hashed, false}, {"few", "root", false}, {"few", "", false},
		{Default, "root", true}, {Default, "old", false}, {"nobody", "", false}, {"(unknown)", "", false},
	} {
		if u, got := all.Admits(c.name, []byte(c.password)); got != c.want || got && u.Name() != c.name {
			t.Errorf("%s with %q: %v", c.name, c.password, got)
		}
	}
	if all.Open() != nil {
		t.Error("the default user is open beside passwords")
	}
	if New(nil, nil).Open() == nil || len(New(nil, []User{{Name: "few"}})) != 1 {
		t.Error("without passwords the default user is open alone, and not there beside others")
	}
}

// What an account may do, and how ACL LIST writes it.
func TestAccountRights(t *testing.T) {
	conf := User{Name: "few", Passwords: []string{"a", "b"}, Keys: []string{"k:*", "x"}, Channels: []string{"c:*"},
		Operations: commands.MayAcquire | commands.MayRelease}
	u := NewAccount(conf)
	for what, ok := range map[string]bool{
		"a key":                u.Key("k:1") && u.Key("x") && !u.Key("y"),
		"a channel":            u.Channel("c:1") && !u.Channel("d"),
		"its own pattern":      u.Pattern("c:*") && !u.Pattern("c:1*"),
		"an operation":         u.May(commands.MayAcquire) && !u.May(commands.MayAcquire|commands.MayRead),
		"no more than its own": !u.Unlimited() && !u.Open() && u.Passwords() == 2,
		"the same rights":      u.SameRights(NewAccount(conf)),
	} {
		if !ok {
			t.Error(what)
		}
	}
	conf.Keys = []string{"k:*"}
	if u.SameRights(NewAccount(conf)) {
		t.Error("other keys are the same rights")
	}
	if got := []string{u.KeyRule(), u.ChannelRule(), u.OperationRule()}; !slices.Equal(got, []string{"~k:* ~x", "&c:*", "-@all +@acquire +@release"}) {
		t.Errorf("rules: %q", got)
	}
}
