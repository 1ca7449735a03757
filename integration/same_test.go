package integration

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// step is one command of a case, and how its replies may differ.
type step struct {
	conn int      // which of the case's connections
	args []string // the command, or
	raw  string   // these bytes
	// frames is how many replies come, where it is not one; -1 is none.
	frames int
	// within is by how much two integers may differ.
	within int64
	// differs is what redlockd answers where it must not or cannot answer as
	// Redis 7.0 does, and because says why: a rule of the design, or what 7.0
	// does not know.
	differs *regexp.Regexp
	because string
}

// sameCase is a sequence of commands that one Redis and redlockd must answer
// with the same bytes. In the commands, @ stands for the case's own prefix of
// keys.
type sameCase struct {
	name  string
	steps []step
}

// unhurried is a timeout for what is compared with Redis, which has none: a
// machine that is busy for a moment must change no reply.
const unhurried = 5 * time.Second

// TestC1SameAsRedis is what "changes nothing else" means: every case is played
// to one redis-server and to redlockd over five, and the replies are compared
// byte by byte, in both protocols, and however the bytes were cut.
func TestC1SameAsRedis(t *testing.T) {
	redisServer := StartRedis(t)
	masters := StartMasters(t, 5)
	cfg := overFive(masters)
	cfg.Timeout = unhurried
	redlockd := StartRedlockd(t, cfg, masters)
	masters = StartMasters(t, 5)
	strict := overFive(masters)
	strict.Timeout, strict.NoExpiry = unhurried, "max_ttl"
	lenient := StartRedlockd(t, strict, masters)

	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			for i, c := range sameCases {
				t.Run(c.name, func(t *testing.T) {
					prefix := fmt.Sprintf("%s:%d:", way.name, i)
					compareCase(t, way, c.steps, prefix, redisServer.Addr, redlockd.Addr)
				})
			}
			for i, c := range maxTTLCases {
				t.Run(c.name, func(t *testing.T) {
					prefix := fmt.Sprintf("%s:max:%d:", way.name, i)
					compareCase(t, way, c.steps, prefix, redisServer.Addr, lenient.Addr)
				})
			}
		})
	}
}

// way is how the bytes of a case travel.
type way struct {
	name  string
	hello string // sent first
	play  func(*testing.T, []*Wire, []step, string) []string
}

var ways = []way{
	{name: "RESP2", play: playInTurn},
	{name: "RESP3", hello: "3", play: playInTurn},
	{name: "pipelined", play: playPipelined},
	{name: "dribbled", play: playDribbled},
}

func compareCase(t *testing.T, w way, steps []step, prefix, redisAddr, redlockdAddr string) {
	t.Helper()
	play := func(addr string) []string {
		conns := 1
		for _, s := range steps {
			conns = max(conns, s.conn+1)
		}
		wires := make([]*Wire, conns)
		for i := range wires {
			wires[i] = DialWire(t, addr)
			if w.hello != "" {
				wires[i].Ask("HELLO", w.hello)
			}
		}
		defer func() {
			for _, c := range wires {
				c.Close()
			}
		}()
		return w.play(t, wires, steps, prefix)
	}
	want, got := play(redisAddr), play(redlockdAddr)
	for i, s := range steps {
		if problem := s.compare(want[i], got[i]); problem != "" {
			t.Errorf("step %d, %s: %s", i+1, s.text(prefix), problem)
		}
	}
}

func (s step) bytes(prefix string) []byte {
	if s.raw != "" {
		return []byte(strings.ReplaceAll(s.raw, "@", prefix))
	}
	args := make([]string, len(s.args))
	for i, a := range s.args {
		args[i] = strings.ReplaceAll(a, "@", prefix)
	}
	return command(args...)
}

func (s step) text(prefix string) string {
	if s.raw != "" {
		return fmt.Sprintf("%q", short(s.bytes(prefix)))
	}
	line := strings.Join(strings.Fields(strings.Join(s.args, " ")), " ")
	return short([]byte(strings.ReplaceAll(line, "@", prefix)))
}

// compare says what is wrong with got, or "".
func (s step) compare(want, got string) string {
	if s.differs != nil {
		if !s.differs.MatchString(got) {
			return fmt.Sprintf("redlockd answers %q, want a match of %s (%s; Redis answers %q)",
				got, s.differs, s.because, want)
		}
		return ""
	}
	if want == got {
		return ""
	}
	a, aok := number(want)
	b, bok := number(got)
	if s.within > 0 && aok && bok && a > 0 && b > 0 && max(a-b, b-a) <= s.within {
		return ""
	}
	return fmt.Sprintf("redlockd answers %q, Redis %q", got, want)
}

// playInTurn waits for each reply before the next command.
func playInTurn(t *testing.T, wires []*Wire, steps []step, prefix string) []string {
	t.Helper()
	replies := make([]string, len(steps))
	for i, s := range steps {
		wires[s.conn].Send(s.bytes(prefix))
		replies[i] = s.take(wires)
	}
	return replies
}

// take reads what is answered to the step.
func (s step) take(wires []*Wire) string {
	text := ""
	for range max(0, max(1, s.frames)+min(0, s.frames)) {
		text += string(wires[s.conn].Frame())
	}
	return text
}

// playPipelined sends what one connection has to say in one write, up to the
// next step of another connection.
func playPipelined(t *testing.T, wires []*Wire, steps []step, prefix string) []string {
	t.Helper()
	replies := make([]string, len(steps))
	for from := 0; from < len(steps); {
		to := from
		var data []byte
		for to < len(steps) && steps[to].conn == steps[from].conn {
			data = append(data, steps[to].bytes(prefix)...)
			to++
		}
		wires[steps[from].conn].Send(data)
		for i := from; i < to; i++ {
			replies[i] = steps[i].take(wires)
		}
		from = to
	}
	return replies
}

// playDribbled cuts every command into pieces of three bytes.
func playDribbled(t *testing.T, wires []*Wire, steps []step, prefix string) []string {
	t.Helper()
	replies := make([]string, len(steps))
	for i, s := range steps {
		for data := s.bytes(prefix); len(data) > 0; {
			n := min(3, len(data))
			wires[s.conn].Send(data[:n])
			data = data[n:]
		}
		replies[i] = s.take(wires)
	}
	return replies
}

// TestTTLTold is V3 as a client sees it: what redlockd tells of a lock's life
// is never more than the client asked for, and not much less than is left.
func TestTTLTold(t *testing.T) {
	r, _ := StartCluster(t, 5)
	w := DialWire(t, r.Addr)
	const asked = 60_000
	// (TTL + 2 timeouts + retry_budget) x clock_drift + 2 ms, rounded up.
	const drift = (asked+2*500+200)/100 + 3

	sent := time.Now()
	if got := w.Ask("SET", "k", "t", "NX", "PX", "60000"); got != "+OK\r\n" {
		t.Fatalf("SET: %q", got)
	}
	for range 20 {
		reply := w.Ask("PTTL", "k")
		left, ok := number(reply)
		passed := time.Since(sent).Milliseconds() + 1
		if !ok || left > asked || left < asked-passed-drift {
			t.Fatalf("PTTL %q, at most %d ms after SET; want %d to %d", reply, passed, asked-passed-drift, asked)
		}
	}
}
