package cluster

import (
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/tail"
	"github.com/redlockd/redlockd/quorum/vote"
)

// V2: what would come too late is not sent, and the master's vote is silent.
func TestV2TooLateToGoOut(t *testing.T) {
	for _, inTime := range []bool{true, false} {
		now := time.Second
		l := watched(t, &now).List().Links[0]
		l.outbox.Put(&outbox.Task{Kind: vote.Release, Effects: []outbox.Effect{{Key: "k"}}, Asked: &outbox.Asked{By: asker(inTime)}})
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
	for _, e := range []outbox.Effect{{Key: "k", Does: outbox.Sets}, {Key: "k", Does: outbox.Deletes}, {Key: "l", Does: outbox.Deletes}} {
		l.outbox.Put(&outbox.Task{MustDeliver: true, Effects: []outbox.Effect{e}, Until: time.Minute})
	}
	b := &outbox.Batch{}
	(&sender{Link: l}).take(b)
	if kept, _ := l.outbox.Kept(); kept != 2 || len(b.Tasks) != 1 || b.Tasks[0].Key() != "l" {
		t.Fatalf("%d are kept, and %d go out", kept, len(b.Tasks))
	}
	l.outbox.FlushKept()
	if next := l.outbox.Next(); len(next) != 2 || !next[0].Changes() || next[1].Changes() {
		t.Error("the change does not go first")
	}
}

// V8, V15: a change that is repeated later gives the copy the same end as the others have: what is
// left of the TTL and of the hold then, and not all of them again.
func TestV8RepeatedChangeEndsWithTheOthers(t *testing.T) {
	const reading = 1764306330000
	now := time.Second
	l := watched(t, &now).List().Links[0]
	l.learns(l.view.Under.With(func(m *mark.Mark) { m.Greatest = FloorHold }))
	l.clock = clock.NewWatch(l.now, 0, l.exact, true)
	l.sawClock(reading*1000, now, now)
	its := tail.Tail{Lock: 1, Attempt: 2}
	change := &outbox.Task{Kind: vote.Extend, MustDeliver: true, Effects: []outbox.Effect{{Key: "k", Does: outbox.Sets, TTL: 2 * time.Second}}, Copies: []outbox.Copy{{Tail: its}},
		Until: now + 3*time.Second, Missed: &outbox.Missed{Began: now}}
	for _, late := range []time.Duration{500 * time.Millisecond, 1500 * time.Millisecond} {
		l.outbox.Put(change)
		now = time.Second + late
		b := &outbox.Batch{Sent: now}
		if (&sender{Link: l}).take(b); len(b.Tasks) != 1 {
			t.Fatal("it does not go out")
		}
		c := change.Copies[0]
		if end, over, expiry := c.Tail.End-reading, c.Tail.End+c.Tail.Grace.Milliseconds()-reading, c.Expiry-reading; end > 2000 || end < 1990 ||
			over < 2050 || over > 2060 || expiry < 3000 || expiry > 3010 || c.Tail.IDs() != its.IDs() {
			t.Errorf("%v late it ends after %dms, is over after %dms, and expires after %dms", late, end, over, expiry)
		}
	}
}
