package cluster

import (
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/tail"
	"github.com/redlockd/redlockd/quorum/vote"
)

// V2: what would come too late is not sent, and the master's vote is silent.
func TestV2TooLateToGoOut(t *testing.T) {
	for _, inTime := range []bool{true, false} {
		now := time.Second
		l := watched(t, &now).List().Links[0]
		l.outbox.Put(&outbox.Task{Kind: vote.Release, Key: "k", Token: "t", Asked: &outbox.Asked{By: asker(inTime)}})
		b := &outbox.Batch{}
		(&sender{Link: l}).take(b)
		if len(b.Tasks) == 1 != inTime || len(b.Unsent) == 1 == inTime {
			t.Errorf("in time %v: %d go out and %d do not", inTime, len(b.Tasks), len(b.Unsent))
		}
	}
}

// asker is an attempt whose tasks go out, or come too late.
type asker bool

func (a asker) GoesOut(int, time.Duration) bool      { return bool(a) }
func (a asker) Vote(int, vote.Ballot, time.Duration) {}

// V8: a repeated change that cannot go out yet, because the master's clock is not known, is kept,
// with what follows it on its key: it gives the copy to what the release behind it frees.
func TestV8ChangeWaitsForTheClock(t *testing.T) {
	now := time.Second
	l := watched(t, &now).List().Links[0]
	gives := outbox.Copy{Tail: tail.Tail{Lock: 1, Attempt: 2}}
	l.outbox.Put(&outbox.Task{Kind: vote.Extend, Then: outbox.Repeats, Key: "k", Token: "u", Copy: gives, Until: time.Minute})
	l.outbox.Put(&outbox.Task{Kind: vote.Release, Then: outbox.Repeats, Key: "k", Token: "u", Until: time.Minute})
	l.outbox.Put(&outbox.Task{Kind: vote.Release, Then: outbox.Repeats, Key: "l", Token: "u", Until: time.Minute})
	b := &outbox.Batch{}
	(&sender{Link: l}).take(b)
	if kept, _ := l.outbox.Retries(); kept != 2 || len(b.Tasks) != 1 || b.Tasks[0].Key != "l" {
		t.Fatalf("%d are kept, and %d go out", kept, len(b.Tasks))
	}
	l.outbox.FlushRetries()
	if next := l.outbox.Next(); len(next) != 2 || !next[0].Changes() || next[1].Changes() {
		t.Error("the change does not go first")
	}
}
