package outbox

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/vote"
)

// outboxAt returns an empty outbox with a clock that the test sets.
func outboxAt(now *time.Duration) *Outbox {
	o := NewOutbox(func() time.Duration { return *now }, 50*time.Millisecond, func() {})
	return &o
}

// TestV8ChangeIsOutdated checks that a task that may take the lock again with an old
// token drops the repeated change, and any other task leaves it (V8).
func TestV8ChangeIsOutdated(t *testing.T) {
	o := outboxAt(new(time.Duration))
	for _, next := range []struct {
		op       Task
		repeated bool
	}{
		{Task{Kind: vote.AcquireOrExtend, Key: "k", Token: "A"}, false},
		{Task{Kind: vote.Acquire, Key: "k", Token: "other"}, true},
		{Task{Kind: vote.Acquire, Key: "l", Token: "A"}, true},
		{Task{Kind: vote.Store, Key: "k", Token: "other"}, false},
		{Task{Kind: vote.Remove, Key: "k"}, false},
		{Task{Kind: vote.Read, Key: "k"}, true},
	} {
		change := &Task{Kind: vote.Extend, Key: "k", Token: "B", From: []string{"A"}, Until: time.Minute}
		o.AddRetry(change)
		o.SettleChanges(&next.op, false)
		if got := o.takeRetry(change.name()) != nil; got != next.repeated {
			t.Errorf("still to be repeated after %+v: %v, want %v", next.op, got, next.repeated)
		}
	}
}

// V8: also where the change was under way when that was asked for.
func TestV8ChangeUnderWayIsOutdated(t *testing.T) {
	for _, behind := range []string{"in the batch", "in the queue", "nothing"} {
		for tries := range uint8(MaxTries + 1) {
			o := outboxAt(new(time.Duration))
			change := &Task{Kind: vote.Extend, Key: "k", Token: "B", From: []string{"A"}, Until: time.Minute, tries: tries}
			again := &Task{Kind: vote.AcquireOrExtend, Key: "k", Token: "A", Asked: &Asked{}}
			b, results := &Batch{Tasks: []*Task{change}}, []Result{{Late: true}}
			switch behind {
			case "in the batch":
				b.Tasks, results = append(b.Tasks, again), append(results, Result{Done: true, Ballot: vote.Ballot{Vote: vote.Prolonged}})
			case "in the queue":
				o.Put(again)
			}
			o.Repeat(b, results, false)
			first := len(o.queue) > 0 && o.queue[0] == change
			if kept := len(o.retries) > 0; kept && behind != "nothing" || first && behind == "in the batch" {
				t.Errorf("%s, tried %d times: the lock that was taken again is changed", behind, tries)
			} else if !kept && !first && behind == "nothing" {
				t.Errorf("tried %d times: it is not repeated", tries)
			}
		}
	}
}

// V6: the rollback of what turns out refused is dropped.
func TestV6RefusedIsNotRolledBack(t *testing.T) {
	o := outboxAt(new(time.Duration))
	o.append(&Task{Kind: vote.Acquire, Rollback: true, Key: "k", Token: "t", Expiry: 33})
	o.append(&Task{Kind: vote.Acquire, Rollback: true, Key: "k", Token: "t", Expiry: 65})
	o.DropRollback(Name{"k", "t", 33})
	if len(o.queue) != 1 || o.RollbackPending("k", "t", 33) || !o.RollbackPending("k", "t", 65) {
		t.Errorf("%d rollbacks wait: %v", len(o.queue), o.undoing)
	}
}

// TestTraceRetriesAreSeldomLookedThrough checks that the retries are searched for
// useless ones once a second at most, also when there is no room: it is done under the
// link's mutex, which every operation takes (M1).
func TestTraceRetriesAreSeldomLookedThrough(t *testing.T) {
	now := 10 * time.Second
	o := outboxAt(&now)
	repeats := func(key string, until time.Duration) bool {
		o.AddRetry(&Task{Kind: vote.Release, Key: key, Token: "t", Until: until})
		return o.retries[Name{Key: key, Token: "t"}] != nil
	}
	for i := range maxRetries {
		repeats(fmt.Sprint("key", i), 11*time.Second)
	}
	if repeats("first", time.Hour) {
		t.Fatal("there is room for more than the bound")
	}
	now = 10900 * time.Millisecond
	for _, again := range o.retries {
		again.Until = now // useless, but searched a moment ago
	}
	if repeats("second", time.Hour) {
		t.Error("looked through twice within a second")
	}
	now += time.Second
	if !repeats("third", time.Hour) || len(o.retries) != 1 {
		t.Errorf("%d are to be repeated, want what is over to have made room", len(o.retries))
	}
}

// TestM1RetriesAreBoundedInBytes checks that the retries are bounded in bytes, too
// (M1); for their number see TestTraceRetriesAreSeldomLookedThrough.
func TestM1RetriesAreBoundedInBytes(t *testing.T) {
	now := 10 * time.Second
	o := outboxAt(&now)
	token := strings.Repeat("t", 1<<20)
	for i := range 100 {
		o.AddRetry(&Task{Kind: vote.Release, Key: fmt.Sprint(i), Token: token, Until: time.Hour})
	}
	if n := len(o.retries); n < 30 || n > 32 || o.retryBytes > maxRetryBytes {
		t.Errorf("%d releases of %d bytes are kept", n, o.retryBytes)
	}
	for name := range o.retries {
		o.takeRetry(name)
	}
	if o.retryBytes != 0 {
		t.Errorf("%d bytes of nothing", o.retryBytes)
	}
}

// TestM2OutboxKeepsItsOrder checks that tasks stay in their order, that tasks that wait
// when the connection ends are lost, and kept for the next connection if they must be
// delivered, and that a release goes before a task that takes its lock again (M2, V6,
// V8).
func TestM2OutboxKeepsItsOrder(t *testing.T) {
	o := outboxAt(new(time.Duration))
	for i := range 5 {
		o.Put(&Task{Kind: vote.Read, Key: fmt.Sprint(i)})
	}
	o.Put(&Task{Kind: vote.Release, Key: "k", Token: "t", Until: time.Minute})
	o.Remove(2)
	if len(o.queue) != 4 || o.queue[0].Key != "2" {
		t.Fatalf("%d wait, the first of them for %q", len(o.queue), o.queue[0].Key)
	}
	if lost := o.Lose(); len(lost) != 4 || len(o.queue) != 0 || o.bytes != 0 || len(o.retries) != 1 {
		t.Errorf("%d are lost, %d of %d bytes wait, %d are repeated", len(lost), len(o.queue), o.bytes, len(o.retries))
	}
	o.Put(&Task{Kind: vote.Acquire, Key: "k", Token: "t"})
	if len(o.queue) != 2 || o.queue[0].Kind != vote.Release || len(o.retries) != 0 {
		t.Error("the lock is taken before the release of before (V8)")
	}
}

// TestM1MemoryOfACrowdIsGivenBack checks that the memory that a crowd needed for a
// moment is given back (M1).
func TestM1MemoryOfACrowdIsGivenBack(t *testing.T) {
	o := outboxAt(new(time.Duration))
	for i := range 5 * maxBatch {
		o.Put(&Task{Kind: vote.Read, Key: fmt.Sprint(i)})
	}
	for len(o.queue) > 0 {
		o.Remove(len(o.Next()))
	}
	if cap(o.queue) > 2*maxBatch || o.bytes != 0 {
		t.Errorf("room for %d tasks is kept, and %d bytes wait", cap(o.queue), o.bytes)
	}
}

// TestV8ReleaseSparesWhatWasCounted checks that a release is not repeated behind a task
// that may have counted the copy that it would delete (V8).
func TestV8ReleaseSparesWhatWasCounted(t *testing.T) {
	for _, next := range []*Task{
		{Kind: vote.Extend, Key: "k", Token: "A", Asked: &Asked{}},
		{Kind: vote.Expire, Key: "k", Asked: &Asked{}},
		{Kind: vote.Transact, Key: "k", Asked: &Asked{Steps: []Step{{Key: "k", Exists: true, Was: "A"}}}},
	} {
		for tries := range uint8(MaxTries + 1) {
			release := &Task{Kind: vote.Release, Key: "k", Token: "A", Until: time.Minute, tries: tries}
			o := outboxAt(new(time.Duration))
			o.Repeat(&Batch{Tasks: []*Task{release, next}}, []Result{{Code: "BUSY"}, {Done: true, Ballot: vote.Ballot{Vote: vote.Prolonged}}}, false)
			if len(o.queue)+len(o.retries) > 0 {
				t.Errorf("%v in the batch: the release is repeated", next.Kind)
			}
			o.Put(next)
			o.Repeat(&Batch{Tasks: []*Task{release}}, []Result{{Code: "BUSY"}}, false)
			if len(o.queue) != 2 || o.queue[0] != release {
				t.Errorf("%v in the queue: the release does not go first", next.Kind)
			}
			o = outboxAt(new(time.Duration))
			o.AddRetry(release)
			o.Put(next)
			if len(o.queue) != 2 || o.queue[1] != next {
				t.Errorf("%v put in: the release does not go first", next.Kind)
			}
		}
	}
}

// TestV8LaterChangeWasDone checks that a change that failed goes on as the one behind it,
// which was carried out and did not find its token (V8).
func TestV8LaterChangeWasDone(t *testing.T) {
	var now time.Duration
	o := outboxAt(&now)
	first := &Task{Kind: vote.Extend, Key: "k", Token: "u", From: []string{"t"}, Until: time.Minute}
	next := &Task{Kind: vote.Extend, Key: "k", Token: "v", From: []string{"u"}, Until: time.Hour}
	o.Repeat(&Batch{Tasks: []*Task{first, next}}, []Result{{Code: "OOM"}, {Done: true}}, false)
	if len(o.queue) != 1 || o.queue[0].Token != "v" || !slices.Equal(o.queue[0].From, []string{"t", "u"}) || o.queue[0].Until != time.Hour {
		t.Errorf("%d tasks are repeated, the first %+v", len(o.queue), o.queue[0])
	}
}

// TestV8ReleasesAndChanges checks in which order a release and a repeated change of the same
// lock are sent, and that a release by the token that the change sets takes its place (V8).
func TestV8ReleasesAndChanges(t *testing.T) {
	var now time.Duration
	change := func() *Task {
		return &Task{Kind: vote.Extend, Key: "k", Token: "u", From: []string{"t"}, Until: time.Minute}
	}
	release := func(token string) *Task { return &Task{Kind: vote.Release, Key: "k", Token: token, Until: time.Minute} }
	send := func(o *Outbox, t *Task) {
		o.SettleChanges(t, true)
		o.Put(t)
	}
	for _, c := range []struct {
		name string
		do   func(*Outbox)
		want string
	}{
		{"a release by the old token goes behind the change", func(o *Outbox) { o.AddChange(change()); send(o, release("t")) }, "[t]>u t"},
		{"a release by the new one takes its place", func(o *Outbox) { o.AddChange(change()); send(o, release("u")) }, "t u"},
		{"a Remove does so too", func(o *Outbox) { o.AddChange(change()); send(o, &Task{Kind: vote.Remove, Key: "k"}) }, "t "},
		{"both are lost on their way", func(o *Outbox) { o.Put(change()); o.Put(release("u")); o.Lose(); o.FlushRetries() }, "[t]>u u"},
		{"the change fails while the release waits", func(o *Outbox) {
			o.Put(release("u"))
			o.Repeat(&Batch{Tasks: []*Task{change()}}, []Result{{Code: "OOM"}}, false)
		}, "t u"},
		{"the change cannot be sent before the release", func(o *Outbox) {
			c := change()
			o.Put(c)
			o.Put(release("u"))
			o.Postpone(c)
			o.Remove(2)
			o.FlushRetries()
		}, "t"},
		{"the old token takes the lock behind the release", func(o *Outbox) {
			c := change()
			o.Put(c)
			o.Put(release("u"))
			o.Put(&Task{Kind: vote.Acquire, Key: "k", Token: "t"})
			o.Postpone(c)
			o.Remove(3)
			o.FlushRetries()
		}, ""},
		{"a release cannot be sent before the lock is taken again", func(o *Outbox) {
			o.AddRetry(release("u"))
			send(o, &Task{Kind: vote.Acquire, Key: "k", Token: "u"})
			o.Postpone(o.Next()[0])
			o.Remove(2)
			o.FlushRetries()
		}, ""},
		{"a release cannot be sent", func(o *Outbox) {
			o.AddRetry(release("u"))
			o.FlushRetries()
			o.Postpone(o.Next()[0])
			o.Remove(1)
			o.FlushRetries()
		}, "u"},
		{"two changes are lost on their way", func(o *Outbox) {
			o.Put(change())
			o.Put(&Task{Kind: vote.Extend, Key: "k", Token: "v", From: []string{"u"}, Until: time.Minute})
			o.Lose()
			o.FlushRetries()
		}, "[t u]>v"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 10 {
				o := outboxAt(&now)
				c.do(o)
				var got []string
				for _, t := range o.Next() {
					if t.From != nil {
						got = append(got, fmt.Sprint(t.From, ">", t.Token))
						continue
					}
					got = append(got, t.Token)
				}
				if got := strings.Join(got, " "); got != c.want {
					t.Fatalf("sends %q, want %q", got, c.want)
				}
				if n, _ := o.Queued(); n == 0 && o.bytes != 0 {
					t.Fatalf("%d bytes wait of nothing", o.bytes)
				}
			}
		})
	}
}
