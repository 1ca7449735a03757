package integration

import (
	"strings"
	"testing"
)

// exchange is one command and its reply, exactly.
type exchange struct {
	send []string
	want string
}

// told is what a command line is split into.
func told(line, want string) exchange { return exchange{strings.Fields(line), want} }

// overThree is a session with redlockd over three masters.
func overThree(t *testing.T) *Wire {
	t.Helper()
	masters := StartMasters(t, 3)
	return DialWire(t, StartRedlockd(t, overFive(masters), masters).Addr)
}

func (w *Wire) exchange(t *testing.T, talk []exchange) {
	t.Helper()
	for _, e := range talk {
		if got := w.Ask(e.send...); got != e.want {
			t.Errorf("%q: got %q, want %q", e.send, got, e.want)
		}
	}
}

// C6: HELLO and INFO name the version from which on clients use DELEX and SET
// IFEQ. Those take, extend and release a lock, and so do the ways of before.
func TestC6VersionAndWhatItPromises(t *testing.T) {
	t.Parallel()
	w := overThree(t)
	if got := w.Ask("HELLO", "2"); !strings.Contains(got, "$7\r\nversion\r\n$5\r\n8.4.0\r\n") {
		t.Errorf("HELLO: %q", got)
	}
	if got := w.Ask("INFO", "server"); !strings.Contains(got, "redis_version:8.4.0\r\n") {
		t.Errorf("INFO: %q", got)
	}
	for name, talk := range map[string][]exchange{
		"the commands of 8.4": {
			told("SET new t NX PX 60000", "+OK\r\n"),
			told("SET new t IFEQ u PX 60000", "$-1\r\n"),
			told("SET new t IFEQ t PX 60000", "+OK\r\n"),
			told("DELEX new IFEQ u", ":0\r\n"),
			told("DELEX new IFEQ t", ":1\r\n"),
			told("GET new", "$-1\r\n"),
		},
		"transactions": {
			told("SET old t NX PX 60000", "+OK\r\n"),
			told("WATCH old", "+OK\r\n"), told("GET old", "$1\r\nt\r\n"),
			told("MULTI", "+OK\r\n"), told("PEXPIRE old 60000", "+QUEUED\r\n"), told("EXEC", "*1\r\n:1\r\n"),
			told("WATCH old", "+OK\r\n"), told("GET old", "$1\r\nt\r\n"),
			told("MULTI", "+OK\r\n"), told("DEL old", "+QUEUED\r\n"), told("EXEC", "*1\r\n:1\r\n"),
			told("GET old", "$-1\r\n"),
		},
		"scripts": {
			told("SET script t NX PX 60000", "+OK\r\n"),
			{[]string{"EVAL", extendScript, "1", "script", "t", "60000"}, ":1\r\n"},
			{[]string{"EVAL", releaseScript, "1", "script", "t"}, ":1\r\n"},
			told("GET script", "$-1\r\n"),
		},
	} {
		t.Run(name, func(t *testing.T) { w.exchange(t, talk) })
	}
}

// V13: what counts is the TTL that a command leaves behind. An extend that adds
// goes up to max_ttl (24 h) and no further, and nothing takes a lock's TTL
// away; what is refused changes nothing.
func TestV13TTLThatResults(t *testing.T) {
	t.Parallel()
	w := overThree(t)
	add := []string{"EVAL", additive, "1", "k", "t", "43200000", "0"}
	w.exchange(t, []exchange{
		told("SET k t NX PX 36000000", "+OK\r\n"),
		{add, ":1\r\n"},
		{add, "-ERR invalid expire time in 'eval' command: above max_ttl of 86400000 ms\r\n"},
	})
	for _, line := range []string{"PERSIST k", "SET k t", "SET k t IFEQ t", "SET k t XX", "GETSET k t"} {
		const noTTL = "-ERR a lock needs a TTL: "
		if got := w.Ask(strings.Fields(line)...); !strings.HasPrefix(got, noTTL) {
			t.Errorf("%s: got %q, want %q", line, got, noTTL)
		}
	}
	if got := w.Ask("PTTL", "k"); len(got) != len(":79199000\r\n") || got < ":79" || got > ":79200000\r\n" {
		t.Errorf("PTTL: got %q, want at most the 22 h that were granted", got)
	}
}
