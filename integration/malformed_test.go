package integration

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"
)

// malformed are frames that no client sends, and what is sent before a
// connection breaks. Some of them end or occupy other servers.
var malformed = map[string]string{
	"a length that overflows":      "*1\r\n$9223372036854775800\r\nab\r\n",
	"a count without end":          "*9000000000000000000\r\n",
	"a length beyond int64":        "*1\r\n$99999999999999999999\r\nab\r\n",
	"a count beyond int64":         "*99999999999999999999\r\n",
	"a negative length":            "*1\r\n$-5\r\nab\r\n",
	"a negative count":             "*-5\r\nPING\r\n",
	"no count":                     "*\r\n",
	"no length":                    "*1\r\n$\r\n\r\n",
	"letters for a count":          "*x\r\n",
	"letters for a length":         "*1\r\n$x\r\nab\r\n",
	"a length of 2 GiB":            "*1\r\n$2147483648\r\n",
	"a length of 500 MiB":          "*2\r\n$3\r\nGET\r\n$524288000\r\n",
	"a million arguments":          "*1000000\r\n" + strings.Repeat("$1\r\na\r\n", 10_000),
	"a million empty commands":     strings.Repeat("*0\r\n", 100_000),
	"the wrong type":               "*2\r\n$3\r\nGET\r\n:1\r\n",
	"an array in an array":         strings.Repeat("*1\r\n", 50_000),
	"no line end after a string":   "*1\r\n$4\r\nPINGxx",
	"a torn command":               "*3\r\n$6\r\nCLIENT\r\n$*3\r\n$6\r\nCLIENT\r\n",
	"half a command":               "*3\r\n$3\r\nSET\r\n$1\r\nk",
	"an endless line":              strings.Repeat("a", 2<<20),
	"an endless count":             "*" + strings.Repeat("1", 2<<20),
	"an endless line of blanks":    strings.Repeat(" ", 2<<20),
	"unbalanced quotes":            "SET k \"v NX\r\n",
	"NUL bytes":                    strings.Repeat("\x00", 1000) + "\r\n",
	"a line feed only":             strings.Repeat("\n", 10_000),
	"HTTP":                         "GET / HTTP/1.1\r\nHost: redlockd\r\n\r\n",
	"TLS":                          "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
	"a reply":                      "+OK\r\n$-1\r\n_\r\n",
	"tile38's own protocol":        "$4 PING\r\n",
	"a script without end":         string(command("EVAL", "while true do end", "1", "k")),
	"a script that eats memory":    string(command("EVAL", "local s = 'x' while true do s = s .. s end", "1", "k")),
	"a script that calls itself":   string(command("EVAL", "local function f() return f() + 1 end return f()", "1", "k")),
	"a script that is no program":  string(command("EVAL", "if then end end", "1", "k")),
	"a script of nested tables":    string(command("EVAL", "return "+strings.Repeat("{", 5000)+strings.Repeat("}", 5000), "1", "k")),
	"a script that matches badly":  string(command("EVAL", `return string.find(string.rep('a', 100000), string.rep('a*', 50) .. 'b')`, "1", "k")),
	"a script that repeats a lot":  string(command("EVAL", `return string.rep('x', 2000000000)`, "1", "k")),
	"an empty name":                "*1\r\n$0\r\n\r\n",
	"MULTI without end":            "MULTI\r\n" + strings.Repeat("SET k v NX PX 1000\r\n", 20_000),
	"subscriptions without end":    manySubscriptions(),
	"watches without end":          manyWatches(),
	"a line that is all arguments": strings.Repeat("a ", 400_000) + "\r\n",
}

func manySubscriptions() string {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "SUBSCRIBE channel:%d\r\n", i)
	}
	return b.String()
}

func manyWatches() string {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "WATCH key:%d\r\n", i)
	}
	return b.String()
}

// TestMalformedInput is S5: no input ends the process or another session, and
// none costs it memory without bound.
func TestMalformedInput(t *testing.T) {
	r, _ := StartCluster(t, 5)
	other := DialWire(t, r.Addr)
	wantServed := func(t *testing.T, when string) {
		t.Helper()
		if !r.Running() {
			t.Fatalf("%s: redlockd ended", when)
		}
		for _, step := range []struct {
			args []string
			want string
		}{
			{[]string{"SET", "other", "me", "NX", "PX", "60000"}, "+OK\r\n"},
			{[]string{"GET", "other"}, "$2\r\nme\r\n"},
			{[]string{"EVAL", releaseScript, "1", "other", "me"}, ":1\r\n"},
		} {
			if got := other.Ask(step.args...); got != step.want {
				t.Fatalf("%s, another session: %s: %q, want %q", when, step.args[0], got, step.want)
			}
		}
	}
	for name, data := range malformed {
		t.Run(name, func(t *testing.T) {
			c := sendRaw(t, r.Addr, data)
			wantServed(t, "while it is open")
			c.Close()
			wantServed(t, "after it was closed")
		})
	}
	t.Run("noise", func(t *testing.T) {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 0))
		const bytes = "*$+-:\r\n019aGETSET \x00\xff"
		for range 200 {
			noise := make([]byte, random.IntN(200))
			for i := range noise {
				noise[i] = bytes[random.IntN(len(bytes))]
			}
			sendRaw(t, r.Addr, string(noise)).Close()
		}
		wantServed(t, "after noise")
	})
	t.Run("many that send nothing", func(t *testing.T) {
		for range 300 {
			sendRaw(t, r.Addr, "*3\r\n$3\r\nSE")
		}
		wantServed(t, "beside 300 half commands")
	})
	memory, bound := r.RSS(), int64(memoryBound)
	if raceDetector {
		bound *= raceFactor
	}
	if memory > 2*bound {
		t.Errorf("redlockd has %d MiB after all this, want at most %d", memory>>20, 2*bound>>20)
	}
}

// sendRaw sends data on a connection of its own and leaves it open. That the
// server closes it first, or does not read it all, is its right; what it
// answers is read and thrown away.
func sendRaw(t *testing.T, addr, data string) net.Conn {
	t.Helper()
	c, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	go io.Copy(io.Discard, c)
	c.SetWriteDeadline(time.Now().Add(2 * time.Second))
	_, _ = io.WriteString(c, data)
	return c
}

// TestReaderThatNeverReads is S5: a session that does not read its replies
// neither holds up the others nor fills the memory.
func TestReaderThatNeverReads(t *testing.T) {
	t.Parallel()
	r, _ := StartCluster(t, 5)
	for range 20 {
		c, err := net.DialTimeout("tcp", r.Addr, patience)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.SetWriteDeadline(time.Now().Add(500 * time.Millisecond))
		echo := string(command("ECHO", strings.Repeat("x", 100_000)))
		_, _ = io.WriteString(c, strings.Repeat(echo, 200)) // it ends when nobody takes more
	}
	r.wantTake("beside")
	r.wantLife("beside")
	memory, bound := r.RSS(), int64(memoryBound)
	if raceDetector {
		bound *= raceFactor
	}
	if memory > 2*bound {
		t.Errorf("redlockd uses %d MiB for 20 sessions that do not read, want at most %d", memory>>20, 2*bound>>20)
	}
}
