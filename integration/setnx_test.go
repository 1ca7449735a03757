package integration

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestOldSETNXPattern is the old pattern of locks whose value is the time at
// which they are over, with no_expiry = "max_ttl": several clients find the
// lock of a crashed client over at once, and each sends GETSET with a time of
// its own. Who gets the time that is over back has the lock: at most one, and
// with one redlockd exactly one. Its DEL then frees the lock.
func TestOldSETNXPattern(t *testing.T) {
	t.Parallel()
	rounds := 100
	if testing.Short() {
		rounds = 25
	}
	masters := StartMasters(t, 5)
	cfg := overFive(masters)
	cfg.NoExpiry = "max_ttl"
	first := StartRedlockd(t, cfg, masters)
	second := JoinRedlockd(t, cfg)
	second.WaitVoting(masters...)

	for _, tt := range []struct {
		name  string
		addrs []string
	}{
		{"one redlockd", []string{first.Addr}},
		{"two redlockd", []string{first.Addr, second.Addr}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wires := make([]*Wire, 8)
			for i := range wires {
				wires[i] = DialWire(t, tt.addrs[i%len(tt.addrs)])
			}
			exact, undecided := 0, 0
			for n := range rounds {
				won, unknown := takeOver(t, wires, fmt.Sprintf("%s:%d", strings.Fields(tt.name)[0], n))
				undecided += unknown
				switch {
				case won > 1:
					t.Fatalf("round %d: %d clients have the lock", n, won)
				case won == 1:
					exact++
				case len(tt.addrs) == 1 && unknown == 0:
					t.Fatalf("round %d: every client heard that another one has the lock", n)
				}
			}
			t.Logf("%d rounds: %d with a holder, %d clients heard NOQUORUM", rounds, exact, undecided)
			if len(tt.addrs) == 1 && exact < rounds*9/10 {
				t.Errorf("a holder in only %d of %d rounds", exact, rounds)
			}
		})
	}
}

// takeOver lets all take one lock that is over, and returns how many were told
// that they have it, and how many that nobody can tell. The one holder frees
// it.
func takeOver(t *testing.T, wires []*Wire, key string) (won, unknown int) {
	t.Helper()
	now := time.Now().Unix()
	over := fmt.Sprint(now-100, ".0")
	if got := wires[0].Ask("SETNX", key, over); strings.HasPrefix(got, "-NOQUORUM") {
		return 0, len(wires) // a busy machine
	} else if got != ":1\r\n" {
		t.Fatalf("SETNX %s: %q", key, got)
	}
	var number atomic.Int64
	holder := make(chan *Wire, len(wires))
	outcomes := allAtOnce(wires, func(w *Wire) (string, error) {
		until := fmt.Sprint(now+60, ".", number.Add(1))
		for _, ask := range []struct {
			args []string
			goOn string
		}{
			{[]string{"SETNX", key, until}, ":0\r\n"},
			{[]string{"GET", key}, bulk(over)},
			{[]string{"GETSET", key, until}, bulk(over)},
		} {
			replies, err := w.batch([][]string{ask.args})
			switch {
			case err != nil:
				return "", err
			case strings.HasPrefix(replies[0], "-NOQUORUM"):
				return "nobody knows", nil
			case replies[0] != ask.goOn && strings.HasPrefix(replies[0], "$") && replies[0] != "$-1\r\n":
				return "held", nil
			case replies[0] == "$-1\r\n" && ask.args[0] == "GET":
				// Several redlockd are exchanging the value: no value has a
				// quorum (V10), and a client begins again.
				return "begins again", nil
			case replies[0] != ask.goOn:
				return fmt.Sprintf("%s: %q", ask.args[0], replies[0]), nil
			}
		}
		holder <- w
		return "has it", nil
	})
	won, unknown = outcomes["has it"], outcomes["nobody knows"]
	if won+unknown+outcomes["held"]+outcomes["begins again"] != len(wires) {
		t.Fatalf("%s: %v", key, outcomes)
	}
	if won == 1 {
		w := <-holder
		if got := w.Ask("DEL", key); got != ":1\r\n" && !strings.HasPrefix(got, "-NOQUORUM") {
			t.Errorf("%s: DEL by its holder: %q", key, got)
		}
	}
	return won, unknown
}

func bulk(s string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }
