package outbox

import "testing"

// TestV14OwnWords checks that TrimScriptPrefix returns the error of the command,
// without the words of the script that met it (V14).
func TestV14OwnWords(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"OOM command not allowed when used memory > 'maxmemory'. script: 4ec5, on @user_script:3.",
			"OOM command not allowed when used memory > 'maxmemory'. script: 4ec5, on @user_script:3."},
		{"Error running script (call to f_bb1e): @user_script:3: @user_script: 3: -OOM command not allowed when used memory > 'maxmemory'.",
			"OOM command not allowed when used memory > 'maxmemory'."},
		{"Error running script (call to f_2e86): @user_script:2: WRONGTYPE Operation against a key holding the wrong kind of value",
			"WRONGTYPE Operation against a key holding the wrong kind of value"},
		{"Error running script (call to f_2e86): @user_script", "Error running script (call to f_2e86): @user_script"},
		{"", ""},
	} {
		if got := TrimScriptPrefix(c.text); got != c.want {
			t.Errorf("%q: own words %q, want %q", c.text, got, c.want)
		}
	}
}
