package config

import (
	"strings"
	"testing"
)

// TestAddressesThatLeadToOneServer: two masters are two servers, and none of them is redlockd
// itself, however their addresses are written.
func TestAddressesThatLeadToOneServer(t *testing.T) {
	master := func(name, address string) string {
		return "master \"" + name + "\" { address = \"" + address + "\" }\n"
	}
	listen := func(address string) string { return "listen { address = \"" + address + "\" }\n" }
	admin := func(address string) string { return "admin { address = \"" + address + "\" }\n" }
	for _, c := range []struct{ name, file, want string }{
		{"a name and an address", master("a", "127.0.0.1:7001") + master("b", "localhost:7001"),
			`line 2, in master "b"; master "b" at localhost:7001 is the same server as master "a" at 127.0.0.1:7001`},
		{"redlockd's default address", "log {}\n" + master("a", "localhost:6380"),
			`line 2, in master "a"; master "a": localhost:6380 is redlockd's own address (listen.address)`},
		{"redlockd's address", listen("127.0.0.1:7001") + master("a", "127.0.0.1:7001"), "line 2,; own address (listen.address)"},
		{"the admin address", "admin {}\n" + master("a", "127.0.0.1:9736"), "line 2,; own address (admin.address)"},
		{"one address for both", listen("127.0.0.1:7000") + admin("localhost:7000") + masters,
			"line 2, in admin; admin.address is localhost:7000 and listen.address is 127.0.0.1:7000, expected two ports"},
		{"the default admin address", listen("127.0.0.1:9736") + "admin {}\n" + masters,
			"line 2,; admin.address is 127.0.0.1:9736 and listen.address is 127.0.0.1:9736, expected two ports"},
	} {
		t.Run(c.name, func(t *testing.T) { refused(t, c.file, strings.Split(c.want, "; ")) })
	}
	for _, file := range []string{
		listen("127.0.0.1:7000") + admin("127.0.0.1:7001") + master("a", "127.0.0.1:7002") + master("b", "127.0.0.2:7002") + master("c", "[::1]:7002"),
		listen("127.0.0.1:0") + admin("127.0.0.1:0") + masters,
	} {
		if _, _, err := Load(write(t, file), ""); err != nil {
			t.Errorf("%s is refused: %s", file, said(t, err))
		}
	}
	_, _, err := Load(write(t, masters+master("d", "127.0.0.1:7000")), "127.0.0.1:7000")
	if err == nil || !strings.Contains(said(t, err), "own address") {
		t.Errorf("a master at the address of the flag -listen: %v", err)
	}
}

// TestExamplesFitTheSetting: who writes a string where a list belongs is shown a list of what
// the setting takes.
func TestExamplesFitTheSetting(t *testing.T) {
	for setting, want := range map[string]string{
		"listen {\n user \"u\" {\n keys = \"locks:*\"\n}\n}":    `keys: expected a list of strings, as ["locks:orders:*"]`,
		"listen {\n user \"u\" {\n channels = \"c\"\n}\n}":      `channels: expected a list of strings, as ["orders:*"]`,
		"listen {\n user \"u\" {\n operations = \"read\"\n}\n}": `operations: expected a list of some of "acquire"`,
		"admin {\n patterns = \"a*\"\n}":                        `patterns: expected a list of strings, as ["locks:orders:*"]`,
		"quorum {\n deny = \"del\"\n}":                          `deny: expected a list of strings, as ["del", "unlink"]`,
	} {
		refused(t, setting+masters, []string{want})
	}
}
