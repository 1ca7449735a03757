package config

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// listening returns a file with this in its block listen.
func listening(text string) string { return "listen {\n" + text + "\n}\n" + masters }

func TestWrongUsers(t *testing.T) {
	tests := []struct {
		name, listen string
		want         []string
	}{
		{"no password", "user \"u\" {\n keys = [\"k\"]\n operations = [\"read\"]\n}", []string{"line 2", `user "u" has no password`}},
		{"no keys", "user \"u\" {\n password = \"p\"\n operations = [\"read\"]\n}", []string{"line 2", `user "u" may name no key`}},
		{"no operations", "user \"u\" {\n password = \"p\"\n keys = [\"k\"]\n}", []string{"line 2", `user "u" may do nothing`}},
		{"unknown operation", "user \"u\" {\n operations = [\"lock\"]\n}", []string{"line 3", `"acquire", "extend", "release", "read", "remove", "admin"`, `not "lock"`}},
		{"bad name", "user \"a b\" {\n password = \"p\"\n}", []string{"line 2", "without spaces"}},
		{"twice", "user \"u\" {\n password = \"p\"\n keys = [\"k\"]\n operations = [\"read\"]\n}\nuser \"u\" {}", []string{"line 7", "Duplicate block user u"}},
		{"half a hash", "password = \"#123\"", []string{"line 2", "64 hexadecimal digits"}},
		{"no file", "password_file = \"/nosuch\"", []string{"line 2", "a file that can be read"}},
		{"default and a password", "password = \"p\"\nuser \"default\" {\n password = \"q\"\n}", []string{"line 3", "expected one of them"}},
		{"empty file", "password_file = \"/dev/null\"", []string{"line 2", "a password in it"}},
		{"number", "password = 7", []string{"line 2", "a string in quotes, or a list"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			refused(t, listening(test.listen), test.want)
		})
	}
}

func TestPasswordFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "passwords")
	if err := os.WriteFile(name, []byte("one two \r\n\nthree"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, _, err := Load(write(t, listening(`password_file = "`+name+`"`)), "0.0.0.0:0")
	if err != nil {
		t.Fatal(said(t, err))
	}
	if want := []string{"one two ", "three"}; !slices.Equal(cfg.Proxy.Passwords, want) {
		t.Errorf("got %q, want %q", cfg.Proxy.Passwords, want)
	}
}

// Users have passwords too: with them any address is accepted.
func TestUsersOpenTheAddress(t *testing.T) {
	file := listening("user \"u\" {\n password = \"p\"\n keys = [\"k\"]\n operations = [\"read\"]\n}")
	if _, _, err := Load(write(t, file), "0.0.0.0:0"); err != nil {
		t.Error(said(t, err))
	}
}
