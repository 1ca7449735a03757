package proxy

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/history"
)

// S3: "The housekeeping that clients send is answered as Redis answers it".
// The texts were compared with redis-server 7.0.15. A case is a conversation
// on a connection of its own: what is sent, what comes back.
func TestS3Housekeeping(t *testing.T) {
	srv := start(t, nil)
	for name, talk := range map[string][]string{
		"ping":     {"PING", "+PONG\r\n", "ping hi", "$2\r\nhi\r\n", "PING a b", "-ERR wrong number of arguments for 'ping' command\r\n"},
		"echo":     {frame("ECHO", "\r\n\x00\xbd"), "$4\r\n\r\n\x00\xbd\r\n", "ECHO", "-ERR wrong number of arguments for 'echo' command\r\n"},
		"select":   {"SELECT 15", "+OK\r\n", "SELECT 16", "-ERR DB index is out of range\r\n", "SELECT x", "-ERR value is not an integer or out of range\r\n", "SELECT -1", "-ERR DB index is out of range\r\n", "SELECT 01", "-ERR value is not an integer or out of range\r\n"},
		"role":     {"ROLE", "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n"},
		"cluster":  {"CLUSTER NODES", "-ERR This instance has cluster support disabled\r\n", "READONLY", "-ERR This instance has cluster support disabled\r\n"},
		"sentinel": {"SENTINEL MASTERS", "-ERR unknown command 'SENTINEL', with args beginning with: 'MASTERS' \r\n"},
		"listings": {"DBSIZE", ":0\r\n", "SCAN 0", "*2\r\n$1\r\n0\r\n*0\r\n", "SCAN x", "-ERR invalid cursor\r\n", "SCAN 0 MATCH", "-ERR syntax error\r\n"},
		"wait":     {"WAIT 0 0", ":0\r\n", "WAIT x 0", "-ERR value is not an integer or out of range\r\n"},
		"strays":   {"SLOWLOG GET", "*0\r\n", "SLOWLOG LEN", ":0\r\n", "ACL WHOAMI", "$7\r\ndefault\r\n"},
		"unknown": {
			"FOO", "-ERR unknown command 'FOO', with args beginning with: \r\n",
			frame("FOO", "a\r\nb"), "-ERR unknown command 'FOO', with args beginning with: 'a  b' \r\n",
			"lpush a b", "-ERR unknown command 'lpush', with args beginning with: 'a' 'b' , redlockd serves locks only\r\n",
			"flushall", "-ERR unknown command 'flushall', with args beginning with: , redlockd serves locks only; LOCKS FORCE removes one\r\n",
			"FLUSHALL", "-ERR unknown command 'FLUSHALL', with args beginning with: , redlockd serves locks only; LOCKS FORCE removes one\r\n",
			strings.Repeat("a", 200) + " " + strings.Repeat("b", 200) + " c", "-ERR unknown command '" + strings.Repeat("a", 128) + "', with args beginning with: '" + strings.Repeat("b", 128) + "' \r\n",
			frame(""), "-ERR unknown command '', with args beginning with: \r\n",
		},
		"hello": {
			"HELLO 4", "-NOPROTO unsupported protocol version\r\n", "HELLO x", "-ERR Protocol version is not an integer or out of range\r\n",
			"HELLO 3 FOO", "-ERR Syntax error in HELLO option 'FOO'\r\n", "HELLO 3 AUTH a", "-ERR Syntax error in HELLO option 'AUTH'\r\n",
			frame("HELLO", "3", "SETNAME", "a b"), "-ERR Client names cannot contain spaces, newlines or special characters.\r\n",
			"READ k", "$-1\r\n",
		},
		"auth": {
			"AUTH x", "-ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?\r\n",
			"AUTH a b c", "-ERR syntax error\r\n", "AUTH default x", "+OK\r\n",
			"AUTH foo x", "-WRONGPASS invalid username-password pair or user is disabled.\r\n",
		},
		"client": {
			"CLIENT", "-ERR wrong number of arguments for 'client' command\r\n", "CLIENT FOO", "-ERR unknown subcommand 'FOO'. Try CLIENT HELP.\r\n",
			"CLIENT GETNAME", "$-1\r\n", "CLIENT SETNAME bob", "+OK\r\n", "CLIENT GETNAME", "$3\r\nbob\r\n",
			"CLIENT SETINFO lib-name x", "+OK\r\n", "CLIENT SETINFO LIB-VER 1", "+OK\r\n", "CLIENT NO-EVICT on", "+OK\r\n", "CLIENT NO-TOUCH x", "-ERR syntax error\r\n",
			"CLIENT ID x", "-ERR wrong number of arguments for 'client|id' command\r\n", "CLIENT GETREDIR", ":-1\r\n",
			"CLIENT TRACKING on OPTIN", "+OK\r\n", "CLIENT CACHING no", "-ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.\r\n",
			"CLIENT TRACKING on OPTOUT", "-ERR redlockd sends no invalidations, so it takes CLIENT TRACKING ON only with OPTIN\r\n",
			"CLIENT LIST TYPE x", "-ERR Unknown client type 'x'\r\n",
		},
		"client reply": {"CLIENT REPLY SKIP\r\nPING\r\nECHO a", "$1\r\na\r\n", "CLIENT REPLY OFF\r\nPING\r\nFOO\r\nREAD k\r\nCLIENT REPLY ON\r\nECHO b", "+OK\r\n$1\r\nb\r\n"},
		"config": {
			"CONFIG GET timeout databases", "*4\r\n$9\r\ndatabases\r\n$2\r\n16\r\n$7\r\ntimeout\r\n$1\r\n0\r\n", "CONFIG GET *-read-only", "*4\r\n$17\r\nreplica-read-only\r\n$3\r\nyes\r\n$15\r\nslave-read-only\r\n$3\r\nyes\r\n",
			"CONFIG GET nosuch", "*0\r\n", "CONFIG RESETSTAT", "+OK\r\n", "CONFIG FOO", "-ERR unknown subcommand 'FOO'. Try CONFIG HELP.\r\n",
		},
		"command": {
			"COMMAND DOCS", "*0\r\n", "COMMAND INFO nosuch", "*1\r\n$-1\r\n", "COMMAND GETKEYS SET a b", "*1\r\n$1\r\na\r\n", "COMMAND GETKEYS eval x 2 a b c", "*2\r\n$1\r\na\r\n$1\r\nb\r\n",
			"COMMAND GETKEYS msetex 2 a x b x NX", "*2\r\n$1\r\na\r\n$1\r\nb\r\n", "COMMAND GETKEYS msetnx a x b x", "*2\r\n$1\r\na\r\n$1\r\nb\r\n",
			"COMMAND GETKEYS eval x 9 a", "-ERR Invalid arguments specified for command\r\n", "COMMAND GETKEYS mget a b", "*2\r\n$1\r\na\r\n$1\r\nb\r\n",
		},
		"info": {"INFO nosuch", "$0\r\n\r\n", "INFO cluster", "$30\r\n# Cluster\r\ncluster_enabled:0\r\n\r\n"},
		"resp3": {
			"HELLO 3\r\nREAD k\r\nCONFIG GET timeout\r\nINFO cluster\r\nCOMMAND DOCS", hello3() +
				"_\r\n%1\r\n$7\r\ntimeout\r\n$1\r\n0\r\n=34\r\ntxt:# Cluster\r\ncluster_enabled:0\r\n\r\n%0\r\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := srv.dial(t)
			for i := 0; i < len(talk); i += 2 {
				want := talk[i+1]
				if strings.HasPrefix(talk[i], "HELLO 3\r\n") {
					c.send(talk[i] + "\r\n")
					c.want("%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n" + RedisVersion + "\r\n$5\r\nproto\r\n:3\r\n$2\r\nid\r\n:")
					if _, err := c.r.ReadString('\n'); err != nil {
						t.Fatal(err)
					}
					c.want("$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n" + strings.TrimPrefix(want, hello3()))
					continue
				}
				if strings.HasPrefix(talk[i], "*") {
					c.send(talk[i])
					c.want(want)
					continue
				}
				c.ask(talk[i], want)
			}
		})
	}
}

// TIME is redlockd's own clock, by which absolute expiries go, and not a master's (C3).
func TestC3TimeIsOurs(t *testing.T) {
	c := start(t, nil).dial(t)
	before := time.Now()
	c.send("TIME\r\n")
	var seconds, micros, n int64
	if _, err := fmt.Fscanf(c.r, "*2\r\n$%d\r\n%d\r\n$%d\r\n%d\r\n", &n, &seconds, &n, &micros); err != nil {
		t.Fatal(err)
	}
	if at := time.Unix(seconds, micros*1000); at.Before(before.Truncate(time.Microsecond)) || at.After(time.Now()) {
		t.Errorf("TIME is %v, between %v and %v", at, before, time.Now())
	}
}

// hello3 stands for the reply of HELLO 3 in a case.
func hello3() string { return "<hello>" }

func TestQuitAndHTTP(t *testing.T) {
	srv := start(t, nil)
	c := srv.dial(t)
	c.ask("PING\r\nQUIT\r\nPING", "+PONG\r\n+OK\r\n")
	c.wantEOF()
	c = srv.dial(t)
	c.send("POST / HTTP/1.1\r\nHost: x\r\n\r\nPING\r\n")
	c.wantEOF()
}

// C5: "SELECT n keeps locks of different databases apart"; the first SELECT
// of a database waits until it is open, and what is behind it waits as well.
func TestC5Select(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, c := pipe(t)
		srv.q.openGate = make(chan struct{})
		c.send("LOCK k a\r\nSELECT 3\r\nLOCK k b\r\n")
		synctest.Wait()
		if got := c.received(); got != "+OK\r\n" {
			t.Errorf("got %q before the database is open, want the first reply alone", got)
		}
		if srv.q.holder("3/k") != "" {
			t.Error("the command behind SELECT does not wait")
		}
		close(srv.q.openGate)
		c.send("SELECT 0\r\nREAD k\r\nSELECT 3\r\nREAD k\r\n")
		synctest.Wait()
		if got, want := c.received(), "+OK\r\n+OK\r\n+OK\r\n$1\r\na\r\n+OK\r\n$1\r\nb\r\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestLogin(t *testing.T) {
	srv := start(t, func(c *Config) { c.Passwords = []string{"pw"} })
	const (
		noauth = "-NOAUTH Authentication required.\r\n"
		wrong  = "-WRONGPASS invalid username-password pair or user is disabled.\r\n"
	)
	c := srv.dial(t)
	c.ask("PING", noauth)
	c.ask("LOCK k a", noauth)
	c.ask("MULTI", noauth)
	c.ask("HELLO 3", "-NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH "+
		"<user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time\r\n")
	c.ask("HELLO 3 AUTH default x", wrong)
	c.ask("AUTH x", wrong)
	c.ask("AUTH nobody pw", wrong)
	c.ask("PING", noauth)
	c.ask("AUTH pw", "+OK\r\n")
	c.ask("PING", "+PONG\r\n")
	c.ask("AUTH x", wrong)
	c.ask("PING", "+PONG\r\n")
	c.ask("RESET", "+RESET\r\n")
	c.ask("PING", noauth)
	c.ask("HELLO 2 AUTH default pw SETNAME bob\r\nCLIENT GETNAME", "*14\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n8.4.0\r\n$5\r\nproto\r\n:2\r\n"+
		"$2\r\nid\r\n:1\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n$3\r\nbob\r\n")
	if len(srv.q.order) != 0 {
		t.Errorf("operations before login: %v", srv.q.order)
	}
}

// S5: hostile frames end their connection and no other.
func TestS5HostileFrames(t *testing.T) {
	for _, login := range []string{"", "pw"} {
		srv := start(t, func(c *Config) {
			if login != "" {
				c.Passwords = []string{login}
			}
		})
		other := srv.dial(t)
		if login != "" {
			other.ask("AUTH pw", "+OK\r\n")
		}
		for in, want := range map[string]string{
			"*1\r\n$9223372036854775800\r\nab\r\n": "-ERR Protocol error: ",
			"*9000000000000000000\r\n":             "-ERR Protocol error: ",
			"*1\r\n$-1\r\n":                        "-ERR Protocol error: invalid bulk length\r\n",
			"*1\r\n:1\r\n":                         "-ERR Protocol error: expected '$', got ':'\r\n",
		} {
			c := srv.dial(t)
			c.send(in)
			c.want(want)
			other.ask("PING", "+PONG\r\n")
		}
	}
}

// C4: refused commands are counted by name, within bounds.
func TestC4Counted(t *testing.T) {
	srv := start(t, nil)
	c := srv.dial(t)
	c.send("LPUSH a b\r\nlpush a\r\n")
	for i := range 2 * history.MaxRefusedNames {
		c.send("x" + strings.Repeat("y", i%40) + string(rune('a'+i%26)) + "\r\n")
	}
	c.send("CLIENT REPLY OFF\r\nCLIENT REPLY ON\r\nQUIT\r\n")
	for line := ""; line != "+OK\r\n"; {
		var err error
		if line, err = c.r.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	refused := srv.Refused()
	if refused["lpush"] != 2 {
		t.Errorf("lpush counted %d times, want 2", refused["lpush"])
	}
	if len(refused) > history.MaxRefusedNames+1 {
		t.Errorf("%d names are kept, want at most %d", len(refused), history.MaxRefusedNames+1)
	}
}

// C1: COMMAND's shared bytes are the reply of the session's protocol.
func TestCommandInBothProtocols(t *testing.T) {
	srv := start(t, nil)
	c := srv.dial(t)
	c.ask("COMMAND", string(resp.Append(nil, describeAll(), 2)))
	c.send("HELLO 3\r\nCOMMAND\r\nQUIT\r\n")
	got, err := io.ReadAll(c.r)
	if want := string(resp.Append(nil, describeAll(), 3)) + "+OK\r\n"; err != nil || !strings.HasSuffix(string(got), want) {
		t.Errorf("%v; RESP3 has %d bytes, want them to end with the %d of COMMAND", err, len(got), len(want))
	}
}

// S2: a command means the same inline, in RESP2 and in RESP3, and is answered
// in the session's protocol.
func TestS2ThreeWaysToAsk(t *testing.T) {
	srv := start(t, nil)
	c := srv.dial(t)
	for _, ask := range []func(...string) string{frame, inline} {
		c.send(ask("LOCK", "k", "t") + ask("READ", "k") + ask("FREE", "k") + ask("READ", "k"))
		c.want("+OK\r\n$1\r\nt\r\n:1\r\n$-1\r\n")
	}
	c.send("HELLO 3\r\n")
	if _, err := c.r.ReadString('%'); err != nil {
		t.Fatal(err)
	}
	for _, ask := range []func(...string) string{frame, inline} {
		c.send(ask("CLIENT", "SETNAME", "three") + ask("LOCK", "k", "t") + ask("READ", "k") + ask("FREE", "k") + ask("READ", "k"))
	}
	got := make([]byte, 0, 512)
	for want := "+OK\r\n+OK\r\n$1\r\nt\r\n:1\r\n_\r\n"; strings.Count(string(got), want) < 2; {
		line, err := c.r.ReadString('\n')
		if err != nil {
			t.Fatalf("%v; got %q, want %q twice", err, got, want)
		}
		got = append(got, line...)
	}
}

func inline(args ...string) string { return strings.Join(args, " ") + "\r\n" }
