package integration

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// event is one line of a recording of StackExchange.Redis: see the package's
// testdata. Only bytes matter here; marks name what the application called.
type event struct {
	Conn int    `json:"conn"`
	Dir  string `json:"dir"`
	Data string `json:"data"` // each character is one byte
	Mark string `json:"mark"`
	Open int    `json:"open"`
	EOF  int    `json:"eof"`
}

// answer is a reply in a replay: who got it, to what, and when.
type answer struct {
	conn    int
	command string
	mark    string
	frame   string
}

// TestReplayStackExchangeRedis plays what StackExchange.Redis 1.2.6 sent, on
// all its connections, in the chunks and in the order in which it sent them,
// and compares the replies of one Redis with those of redlockd.
func TestReplayStackExchangeRedis(t *testing.T) {
	t.Parallel()
	for _, rec := range []struct{ file, password string }{
		{"stackexchange-1.2.6-db0.jsonl", ""},
		{"stackexchange-1.2.6-db1-password.jsonl", "s3cret"},
	} {
		t.Run(rec.file, func(t *testing.T) {
			events := readRecording(t, rec.file)
			var args []string
			if rec.password != "" {
				args = []string{"--requirepass", rec.password}
			}
			want := replay(t, events, StartRedis(t, args...).Addr)

			masters := StartMasters(t, 5)
			cfg := overFive(masters)
			cfg.NoExpiry, cfg.Password = "max_ttl", rec.password
			r := StartRedlockd(t, cfg, masters)
			got := replay(t, events, r.Addr)

			if len(want) < 100 {
				t.Fatalf("the recording has only %d replies", len(want))
			}
			for i := range want {
				if problem := compareAnswers(want[i], got[i]); problem != "" {
					t.Errorf("connection %d, after %q, %s: %s", want[i].conn, want[i].mark, want[i].command, problem)
				}
			}
		})
	}
}

// expireAt is a command with a time that had not come when it was recorded.
var expireAt = regexp.MustCompile(`(PEXPIREAT\r\n\$2\r\nn1\r\n\$13\r\n)\d{13}`)

// readRecording moves that time, so that it has not come today either.
func readRecording(t *testing.T, file string) []event {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	soon := fmt.Sprintf("${1}%d", time.Now().Add(time.Minute).UnixMilli())
	var events []event
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		e.Data = expireAt.ReplaceAllString(e.Data, soon)
		events = append(events, e)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return events
}

// replay sends the recorded chunks to addr. Where the recording has replies
// it waits for as many.
func replay(t *testing.T, events []event, addr string) []answer {
	t.Helper()
	wires := map[int]*Wire{}
	commands := map[int][]string{} // sent and not yet answered
	partial := map[int][]byte{}    // recorded bytes of a reply cut by a chunk's end
	var answers []answer
	mark := ""
	for _, e := range events {
		if e.Mark != "" {
			mark = e.Mark
			continue
		}
		if wires[e.Conn] == nil {
			wires[e.Conn] = DialWire(t, addr)
		}
		w := wires[e.Conn]
		switch {
		case e.EOF == 1 && e.Dir == ">":
			w.Close()
		case e.Data == "":
		case e.Dir == ">":
			data := latin1(t, e.Data)
			commands[e.Conn] = append(commands[e.Conn], commandsIn(t, data)...)
			w.Send(data)
		case e.Dir == "<":
			n, rest := framesIn(append(partial[e.Conn], latin1(t, e.Data)...))
			partial[e.Conn] = rest
			for range n {
				a := answer{conn: e.Conn, mark: mark, frame: string(w.Frame())}
				if strings.Contains(a.frame, "\r\nmessage\r\n") {
					a.command = "(published)"
				} else if q := commands[e.Conn]; len(q) > 0 {
					a.command, commands[e.Conn] = q[0], q[1:]
				}
				answers = append(answers, a)
			}
		}
	}
	return answers
}

// compareAnswers says what is wrong with got, or "". Replies to commands that
// tell of the server itself or of the time need not be equal.
func compareAnswers(want, got answer) string {
	if want.frame == got.frame {
		return ""
	}
	name, _, _ := strings.Cut(strings.ToUpper(want.command), " ")
	sameKind := want.frame[0] == got.frame[0]
	a, aok := number(want.frame)
	b, bok := number(got.frame)
	switch name {
	case "INFO", "TIME", "LASTSAVE":
		if sameKind {
			return ""
		}
	case "TTL", "PTTL":
		// A lock without expiry got the greatest TTL (C2).
		if aok && bok && (a == -1 && b > 0 || a > 0 && b > 0) {
			return ""
		}
	case "CLIENT":
		if sameKind && aok { // CLIENT ID
			return ""
		}
	}
	return fmt.Sprintf("redlockd answers %q, Redis %q", short([]byte(got.frame)), short([]byte(want.frame)))
}

// latin1 gives the bytes that the characters of a recording stand for.
func latin1(t *testing.T, s string) []byte {
	t.Helper()
	var b []byte
	for _, r := range s {
		if r > 0xff {
			t.Fatalf("the recording has the character %q, which is no byte", r)
		}
		b = append(b, byte(r))
	}
	return b
}

// framesIn counts the whole replies in data and returns what follows them.
func framesIn(data []byte) (int, []byte) {
	r := bufio.NewReader(bytes.NewReader(data))
	n, used := 0, 0
	for {
		frame, err := readFrame(r)
		if err != nil {
			return n, data[used:]
		}
		n++
		used += len(frame)
	}
}

// commandsIn returns the text of each command in a chunk. The recorded client
// never cuts a command in two.
func commandsIn(t *testing.T, data []byte) []string {
	t.Helper()
	r := bufio.NewReader(bytes.NewReader(data))
	var list []string
	for {
		frame, err := readFrame(r)
		if len(frame) == 0 && err != nil {
			return list
		}
		if err != nil {
			t.Fatalf("the recording has a chunk with a cut command: %q", short(data))
		}
		var words []string
		for i, line := range strings.Split(string(frame), "\r\n") {
			if i > 0 && line != "" && line[0] != '$' {
				words = append(words, line)
			}
		}
		list = append(list, strings.Join(words, " "))
	}
}
