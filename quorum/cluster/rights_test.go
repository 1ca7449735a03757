package cluster

import "testing"

// M7: a refused command is told from a refused key, in the words of Redis 6.2 and 7.
func TestM7Denied(t *testing.T) {
	for text, want := range map[string]struct{ command, key bool }{
		"NOPERM this user has no permissions to run the 'scan' command or its subcommand": {true, false},
		"NOPERM User redlockd has no permissions to run the 'scan' command":               {true, false},
		"NOPERM this user has no permissions to access one of the keys used as arguments": {false, true},
		"NOPERM No permissions to access a key":                                           {false, true},
		"ERR unknown command 'SCAN', with args beginning with: '0' 'COUNT' '1' ":          {true, false},
		"ERR syntax error": {},
		"NOSCRIPT No matching script. Please use EVAL.": {},
	} {
		if got := denied("scan", text); got != want.command {
			t.Errorf("the command is denied by %q: %v", text, got)
		}
		if got := denied(keyRight+ChangeKey, text); got != want.key {
			t.Errorf("the key is denied by %q: %v", text, got)
		}
	}
}
