package commands

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redlockd/redlockd/commands/script"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// tellingPTTL is a script of this kind that answers with the TTL it found.
func tellingPTTL(kind script.Kind) *script.Meaning {
	m := meaningOf(kind, time.Second)
	for i := range m.Reply {
		m.Reply[i] = script.Value{Kind: script.StoredPTTL}
	}
	return m
}

// Where the lock is no longer what was looked at, the answer is one that is
// true for what is there, or that nobody can tell (P4).
func TestLockThatMovedUnderTheLook(t *testing.T) {
	movedReply := "-" + errMoved
	none, there := quorum.State{}, found("t", 10*time.Second)
	for _, tt := range []struct {
		name    string
		command string
		meaning *script.Meaning
		look    quorum.State
		end     *quorum.Outcome
		want    string
	}{
		{"GETDEL, gone", "GETDEL k", nil, there, absent(), "null"},
		{"GETDEL, another's", "GETDEL k", nil, there, held("x"), movedReply},
		{"GETSET, taken", "GETSET k n", nil, none, held("x"), movedReply},
		{"SET GET XX, gone", "SET k n GET XX PX 9", nil, there, absent(), "null"},
		{"SET GET IFEQ, another's", "SET k n GET IFEQ t PX 9", nil, there, held("x"), "$x"},
		{"EXPIRE GT, gone", "EXPIRE k 20 GT", nil, there, absent(), ":0"},
		{"EXPIRE GT, another's", "EXPIRE k 20 GT", nil, there, held("x"), movedReply},
		{"EXPIRE LT, another's", "EXPIRE k 5 LT", nil, there, held("x"), movedReply},
		{"acquire, used up but not yet free", "EVAL s 1 k t", tellingPTTL(script.Acquires), none, held("x"), ":1"},
		{"acquire, taken by nobody known", "EVAL s 1 k t", tellingPTTL(script.Acquires), none, &quorum.Outcome{Verdict: quorum.Held}, movedReply},
		{"acquire or extend, another's", "EVAL s 1 k t", tellingPTTL(script.AcquiresOrExtends), none, held("x"), ":1"},
		{"acquire or extend, ours", "EVAL s 1 k t", tellingPTTL(script.AcquiresOrExtends), none, held("t"), movedReply},
		{"extend, gone", "EVAL s 1 k t", tellingPTTL(script.Extends), there, absent(), ":-2"},
		{"release, another's", "EVAL s 1 k t", tellingPTTL(script.Releases), there, held("x"), ":1"},
		{"undecided", "GETDEL k", nil, there, undecided(), noQuorum},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, _ := fakeWith(lenient(), tt.meaning, nil)
			req := understand(t, in, tt.command)
			tt.end.Done = req.Ops[0].Decide(tt.look).Kind
			if tt.end.Done == quorum.Read {
				t.Fatal("nothing was chosen, so nothing can have moved")
			}
			if got := show(req.Reply([]*quorum.Outcome{tt.end})); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// P4: an error that leaves the client in doubt says so by its type and not by its
// text: a script may answer any text.
func TestUndecidedReplies(t *testing.T) {
	for _, tt := range []struct {
		name  string
		reply resp.Reply
		want  bool
	}{
		{"the lock changed", Failed(quorum.ErrLockChanged), true},
		{"wrapped", Failed(fmt.Errorf("%w", quorum.ErrLockChanged)), true},
		{"another error", Failed(errors.New("WRONGTYPE Operation against a key")), false},
		{"a script's own", fill(script.Value{Kind: script.Error, Text: "NOQUORUM of mine"}, quorum.State{}), false},
	} {
		if tt.reply.Undecided != tt.want {
			t.Errorf("%s: undecided is %v", tt.name, tt.reply.Undecided)
		}
	}
}
