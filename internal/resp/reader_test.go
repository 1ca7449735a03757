package resp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

var (
	loggedIn  = Limits{Arguments: 1024, Bytes: 1 << 20}
	loggedOut = Limits{Arguments: 10, Bytes: 1 << 20, BeforeLogin: true}
)

// frameCase is a stream, the commands in it, and how it ends.
type frameCase struct {
	name, in string
	lim      Limits
	want     []string // arguments joined by |
	refusal  string   // without the prefix; empty is EOF
}

func frameCases() []frameCase {
	return []frameCase{
		{"two commands", "*1\r\n$4\r\nPING\r\n*2\r\n$4\r\nECHO\r\n$3\r\na\r\n\r\n", loggedIn, []string{"PING", "ECHO|a\r\n"}, ""},
		{"empty argument", "*1\r\n$0\r\n\r\n", loggedIn, []string{""}, ""},
		{"nothing in a frame", "*0\r\n*-1\r\n*-5\r\nPING\r\n", loggedIn, []string{"PING"}, ""},
		{"inline", "PING\r\nECHO a\n\r\n \t \r\n\nPING\r\n", loggedIn, []string{"PING", "ECHO|a", "PING"}, ""},
		{"inline quotes", "ECHO \"a b\" 'c d' \"\" \"\\n\"\r\n", loggedIn, []string{"ECHO|a b|c d||\n"}, ""},
		{"inline escapes", "ECHO \"\\x41\\n\\\"\\q\\xZZ\" 'it\\'s\\n' a\"b c\"\r\n", loggedIn, []string{"ECHO|A\n\"qxZZ|it's\\n|ab c"}, ""},
		{"text after a quote", "ECHO \"a\"b\r\n", loggedIn, nil, "unbalanced quotes in request"},
		{"unbalanced", "PING \"a\r\nPING\r\n", loggedIn, nil, "unbalanced quotes in request"},
		{"torn", "*1\r\n$4\r\nPI", loggedIn, nil, ""},

		{"length beyond int64", "*1\r\n$9223372036854775808\r\n", loggedIn, nil, "invalid bulk length"},
		{"length that overflows redcon", "*1\r\n$9223372036854775800\r\nab\r\n", loggedIn, nil, "invalid bulk length"},
		{"count that keeps redcon busy", "*9000000000000000000\r\n", loggedIn, nil, "invalid multibulk length"},
		{"one argument too many", "*1025\r\n", loggedIn, nil, "invalid multibulk length"},
		{"one byte too many", "*2\r\n$4\r\nECHO\r\n$1048553\r\n", loggedIn, nil, "invalid bulk length"},
		{"bytes of all arguments", "*2\r\n$1048000\r\n" + strings.Repeat("x", 1048000) + "\r\n$600\r\n", loggedIn, nil, "invalid bulk length"},
		{"negative length", "*1\r\n$-1\r\n", loggedIn, nil, "invalid bulk length"},
		{"no digits", "*1\r\n$x\r\n", loggedIn, nil, "invalid bulk length"},
		{"plus sign", "*1\r\n$+4\r\nPING\r\n", loggedIn, nil, "invalid bulk length"},
		{"leading zero", "*1\r\n$04\r\nPING\r\n", loggedIn, nil, "invalid bulk length"},
		{"empty length", "*1\r\n$\r\n", loggedIn, nil, "invalid bulk length"},
		{"count without digits", "*x\r\n", loggedIn, nil, "invalid multibulk length"},
		{"empty count", "*\r\n", loggedIn, nil, "invalid multibulk length"},
		{"count without CR", "*1\n$4\r\nPING\r\n", loggedIn, nil, "invalid multibulk length"},
		{"endless count", "*" + strings.Repeat("1", 100), loggedIn, nil, "too big mbulk count string"},
		{"endless length", "*1\r\n$" + strings.Repeat("1", 100), loggedIn, nil, "too big bulk count string"},
		{"no dollar", "*1\r\n:1\r\n", loggedIn, nil, "expected '$', got ':'"},
		{"line break for a dollar", "*1\r\n\r\n", loggedIn, nil, "expected '$', got ' '"},
		{"a torn handshake", "*3\r\n$6\r\nCLIENT\r\n$*3\r\n", loggedIn, nil, "invalid bulk length"},
		{"longer than its length", "*1\r\n$4\r\nPINGxx*1\r\n", loggedIn, nil, "invalid bulk length"},
		{"endless inline", strings.Repeat("a", maxInline+1), loggedIn, nil, "too big inline request"},
		{"too many inline arguments", strings.Repeat("a ", 2000) + "\r\n", loggedIn, nil, "too big inline request"},

		{"before login, 10 arguments", framed("HELLO", "3", "AUTH", "u", "p", "SETNAME", "n", "x", "y", "z"), loggedOut,
			[]string{"HELLO|3|AUTH|u|p|SETNAME|n|x|y|z"}, ""},
		{"before login, 11 arguments", "*11\r\n", loggedOut, nil, "unauthenticated multibulk length"},
		{"before login, 16384 bytes", framed("ECHO", strings.Repeat("x", 16384)), loggedOut, []string{"ECHO|" + strings.Repeat("x", 16384)}, ""},
		{"before login, 16385 bytes", "*2\r\n$4\r\nAUTH\r\n$16385\r\n", loggedOut, nil, "unauthenticated bulk length"},
		{"before login, a long line", strings.Repeat("a", loginBytes+1), loggedOut, nil, "too big inline request"},
	}
}

// framed returns a command as clients send it.
func framed(args ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	return b.String()
}

// S5: a stream has the same result whole and a byte at a time.
func TestS5Frames(t *testing.T) {
	for _, c := range frameCases() {
		t.Run(c.name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{
				"at once": strings.NewReader(c.in), "by bytes": iotest.OneByteReader(strings.NewReader(c.in)),
			} {
				got, err := readAll(r, c.lim)
				if !slices.Equal(got, c.want) {
					t.Errorf("%s: got %.200q, want %.200q", how, got, c.want)
				}
				want := error(ProtocolError(c.refusal))
				if c.refusal == "" {
					want = io.EOF
				}
				if !errors.Is(err, want) {
					t.Errorf("%s: ended with %v, want %v", how, err, want)
				}
			}
		})
	}
}

func readAll(r io.Reader, lim Limits) (all []string, err error) {
	f := NewReader(r, 0)
	for {
		args, err := f.Next(lim)
		switch {
		case err != nil:
			return all, err
		case args != nil:
			all = append(all, string(bytes.Join(args, []byte("|"))))
			continue
		}
		if err := f.Fill(); err != nil {
			return all, err
		}
	}
}

// An idle session keeps a small buffer, whatever it has received.
func TestFramesGiveBigBuffersBack(t *testing.T) {
	in := framed("ECHO", strings.Repeat("x", 1<<19)) + "PING\r\n"
	f := Reader{r: io.MultiReader(strings.NewReader(in), strings.NewReader("PING\r\n"), strings.NewReader("PING\r\n"))}
	for {
		args, err := f.Next(loggedIn)
		if err != nil {
			t.Fatal(err)
		}
		if args == nil && f.Fill() != nil {
			break
		}
	}
	if len(f.buf) > smallBuffer {
		t.Errorf("keeps %d bytes, want %d", len(f.buf), smallBuffer)
	}
}

// An announced length takes no memory before its bytes arrive.
func TestFramesGrowWithWhatArrives(t *testing.T) {
	f := Reader{r: strings.NewReader("*1000\r\n$1000000\r\nabc")}
	for {
		if args, err := f.Next(loggedIn); args != nil || err != nil {
			t.Fatal(args, err)
		}
		if f.Fill() != nil {
			break
		}
	}
	if len(f.buf) > 2*smallBuffer {
		t.Errorf("keeps %d bytes for 20", len(f.buf))
	}
}

func FuzzFrames(f *testing.F) {
	for _, c := range frameCases() {
		f.Add([]byte(c.in))
	}
	lim := Limits{Arguments: 16, Bytes: 4096}
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, err := readAll(bytes.NewReader(in), lim)
		parts, errParts := readAll(iotest.OneByteReader(bytes.NewReader(in)), lim)
		if !slices.Equal(whole, parts) || !errors.Is(errParts, err) {
			t.Errorf("at once %q, %v; by bytes %q, %v", whole, err, parts, errParts)
		}
	})
}
