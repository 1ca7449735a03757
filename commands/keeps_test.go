package commands

import (
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

// TestV13SaysWhatKeepsTheTTL checks that commands which read first say whether they keep the TTL:
// one that asks for just what was found may shorten what is longer (V13, why 62).
func TestV13SaysWhatKeepsTheTTL(t *testing.T) {
	const keeping = `return redis.call('set', KEYS[1], ARGV[1], 'keepttl')`
	const asking = `return redis.call('psetex', KEYS[1], 1500, ARGV[1])`
	eval := func(body, words string) [][]byte {
		return append([][]byte{[]byte("EVAL"), []byte(body)}, line(words)...)
	}
	met := found("t", 1500*time.Millisecond)
	for _, tt := range []struct {
		name  string
		words [][]byte
		keeps bool
	}{
		{"SET KEEPTTL", line("SET k u IFEQ t KEEPTTL"), true},
		{"SET IFEQ GET", line("SET k u IFEQ t GET PX 1500"), false},
		{"SET NX GET", line("SET k t NX GET PX 500"), true},
		{"GETEX", line("GETEX k PX 1500"), false},
		{"told by a proved script", eval(takeOrSay, "1 k t 500"), true},
		{"told by a script", eval(takeAllOrMine, "1 k t 500"), true},
		{"kept by a script", eval(keeping, "1 k u"), true},
		{"given by a script", eval(asking, "1 k u"), false},
	} {
		in := New(rejecting(), func() int64 { return fakeNow })
		req, _ := in.Understand(3, tt.words)
		if len(req.Ops) == 0 {
			t.Errorf("%s: %s", tt.name, show(req.Reply(nil)))
			continue
		}
		op := req.Ops[0].Decide(met)
		if op.Kind != quorum.Extend || op.TTL != met.TTL || op.Keeps != tt.keeps {
			t.Errorf("%s: %v for %v, keeps %v, want %v", tt.name, op.Kind, op.TTL, op.Keeps, tt.keeps)
		}
	}
}
