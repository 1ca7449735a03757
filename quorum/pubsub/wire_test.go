package pubsub

import (
	"bufio"
	"io"
	"strings"
	"testing"
)

// What no Redis sends ends the connection, and nothing else; a text that is too long is read
// past.
func TestReadValue(t *testing.T) {
	long := strings.Repeat("x", maxText+1)
	for name, tt := range map[string]struct{ in, want string }{
		"a push":                  {">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$2\r\n\r\n\r\n", "message c \r\n"},
		"a map":                   {"%1\r\n+a\r\n:1\r\n", "a 1"},
		"a null":                  {"$-1\r\n", ""},
		"a text that is too long": {"$2097153\r\n" + long + "\r\n", "cut"},
		"one in a push":           {">1\r\n$2097153\r\n" + long + "\r\n", "cut"},
		"cut off":                 {">3\r\n$7\r\nmess", "unexpected EOF"},
		"no length":               {"$x\r\n", errProtocol.Error()},
		"a negative length":       {"$-2\r\n", errProtocol.Error()},
		"too many items":          {"*1025\r\n", errProtocol.Error()},
		"too deep":                {strings.Repeat("*1\r\n", 9), errProtocol.Error()},
		"no end of line":          {"+OK\n", errProtocol.Error()},
		"an empty line":           {"\r\n", errProtocol.Error()},
		"another protocol":        {"HTTP/1.1 400\r\n", errProtocol.Error()},
		"a line without an end":   {"+" + strings.Repeat("x", 1<<17), bufio.ErrBufferFull.Error()},
		"a negative number":       {"*-5\r\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := bufio.NewReaderSize(strings.NewReader(tt.in), readBuffer)
			v, err := readValue(r, 0)
			got := []string{}
			for _, item := range v.items {
				got = append(got, item.text)
			}
			text := strings.Join(got, " ") + map[bool]string{true: v.text}[len(got) == 0]
			if v.cut {
				text = "cut"
			}
			if err != nil {
				text = err.Error()
			}
			if text != tt.want {
				t.Errorf("%.60q, want %q", text, tt.want)
			}
			if rest, _ := io.ReadAll(r); err == nil && len(rest) > 0 {
				t.Errorf("%.60q is left", rest)
			}
		})
	}
}

// FuzzReadValue: no input of a master ends the process.
func FuzzReadValue(f *testing.F) {
	f.Add(">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n")
	f.Add("*-1\r\n")
	f.Fuzz(func(t *testing.T, in string) {
		r := bufio.NewReaderSize(strings.NewReader(in), 64)
		for {
			if _, err := readValue(r, 0); err != nil {
				return
			}
		}
	})
}
