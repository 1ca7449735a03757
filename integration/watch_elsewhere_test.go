package integration

import (
	"strings"
	"testing"
)

// TestWatchSeesAnotherRedlockd: a watched key that was deleted through another redlockd
// makes EXEC the null array, also where it has no command that asks a master (S4).
func TestWatchSeesAnotherRedlockd(t *testing.T) {
	t.Parallel()
	a, b := twoRedlockd(t)
	for _, queued := range [][]string{{}, {"PING"}, {"GET", "k"}} {
		a.want(t, "+OK\r\n", "SET", "k", "t", "NX", "PX", "10000")
		a.want(t, "+OK\r\n", "WATCH", "k")
		b.want(t, ":1\r\n", "DEL", "k")
		a.want(t, "+OK\r\n", "MULTI")
		if len(queued) > 0 {
			a.want(t, "+QUEUED\r\n", queued...)
		}
		a.want(t, "*-1\r\n", "EXEC")
	}
}

// watchedMeanwhile says what is done while A watches k, which B holds at another redlockd
// with the token 1, and what A's EXEC then is. C is beside A. Each line is a client, its
// command and the reply, with | for the ends of lines.
var watchedMeanwhile = []struct {
	name, exec string
	lines      []string
}{
	{"nothing", "*1|+OK|", nil},
	{"refused", "*1|+OK|", []string{"B SET k 1 NX PX 20000 $-1|", "A GET k $1|1|"}},
	{"deleted, taken", "*-1|", []string{"B DEL k :1|", "B SET k 1 NX PX 20000 +OK|"}},
	{"deleted, read, taken", "*-1|", []string{"B DEL k :1|", "A EXISTS k :0|", "B SET k 1 NX PX 20000 +OK|"}},
	{"deleted, taken, read", "*-1|", []string{"B DEL k :1|", "B SET k 1 NX PX 20000 +OK|", "A GET k $1|1|"}},
	{"deleted, read, taken beside A", "*-1|", []string{"B DEL k :1|", "A EXISTS k :0|", "C SET k 1 NX PX 20000 +OK|"}},
	{"0, 1", "*-1|", []string{"B SET k 0 PX 20000 +OK|", "B SET k 1 PX 20000 +OK|"}},
	{"0, read, 1", "*-1|", []string{"B SET k 0 PX 20000 +OK|", "A GET k $1|0|", "B SET k 1 PX 20000 +OK|"}},
	{"0, read, 1, by EXEC", "*-1|", []string{
		"B MULTI +OK|", "B SET k 0 PX 20000 +QUEUED|", "B EXEC *1|+OK|", "A GET k $1|0|",
		"B WATCH k +OK|", "B GET k $1|0|", "B MULTI +OK|", "B SET k 1 PX 20000 +QUEUED|", "B EXEC *1|+OK|",
	}},
}

// TestWatchSeesATokenThatComesBack: EXEC is the null array where a watched key was another's
// meanwhile and has its token again, as with limiters that keep a count. One Redis answers
// so, and two redlockd do (S4).
func TestWatchSeesATokenThatComesBack(t *testing.T) {
	t.Parallel()
	one := StartRedis(t).Addr
	a, b := twoRedlockd(t)
	both := map[string]map[string]*Wire{
		"one Redis":    {"A": DialWire(t, one), "B": DialWire(t, one), "C": DialWire(t, one)},
		"two redlockd": {"A": a, "B": b, "C": DialWire(t, a.conn.RemoteAddr().String())},
	}
	for servers, clients := range both {
		for _, tt := range watchedMeanwhile {
			t.Run(servers+"/"+tt.name, func(t *testing.T) {
				playLines(t, clients, "B SET k 1 NX PX 20000 +OK|", "A WATCH k +OK|")
				playLines(t, clients, tt.lines...)
				playLines(t, clients, "A MULTI +OK|", "A PSETEX k 20000 1 +QUEUED|", "A EXEC "+tt.exec, "C GET k $1|1|", "B DEL k :1|")
			})
		}
		t.Run(servers+"/taken, read, freed, where there was none", func(t *testing.T) {
			playLines(t, clients, "A WATCH k +OK|", "B SET k 1 NX PX 20000 +OK|", "A GET k $1|1|", "B DEL k :1|",
				"A MULTI +OK|", "A PSETEX k 20000 2 +QUEUED|", "A EXEC *-1|", "C GET k $-1|")
		})
	}
}

// playLines sends each line's command and requires its reply.
func playLines(t *testing.T, clients map[string]*Wire, lines ...string) {
	t.Helper()
	for _, line := range lines {
		words := strings.Fields(line)
		last := len(words) - 1
		clients[words[0]].want(t, strings.ReplaceAll(words[last], "|", "\r\n"), words[1:last]...)
	}
}
