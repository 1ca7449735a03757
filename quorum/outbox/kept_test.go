package outbox

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/vote"
)

// deletes returns a deletion that is to be repeated; its name tells it from others.
func deletes(key, name string) *Task {
	return &Task{Kind: vote.Release, MustDeliver: true, Effects: []Effect{{Key: key, Token: name, Does: Deletes}}, Until: time.Minute}
}

// changes returns a change of token that is to be repeated.
func changes(key, name string) *Task {
	t := deletes(key, name)
	t.Kind, t.Effects[0].Does = vote.Extend, Sets
	return t
}

// undoes returns a rollback.
func undoes(key, name string) *Task {
	t := deletes(key, name)
	t.Kind, t.MustDeliver = vote.Acquire, true
	return t
}

// asks returns a task of an attempt.
func asks(kind vote.Kind, keys ...string) *Task {
	t := &Task{Kind: kind}
	for _, key := range keys {
		t.Effects = append(t.Effects, Effect{Key: key})
	}
	return t
}

// sends returns what waits, in its order.
func sends(o *Outbox) string {
	var out []string
	for _, t := range o.queue {
		out = append(out, strings.TrimSpace(t.Key()+" "+t.Effects[0].Token))
	}
	return strings.Join(out, "; ")
}

// fail takes the whole queue into a batch, of which the tasks whose names are given are carried out.
func fail(o *Outbox, done ...string) (*Batch, []Result) {
	b := &Batch{Tasks: append([]*Task{}, o.Next()...)}
	o.Remove(len(b.Tasks))
	results := make([]Result, len(b.Tasks))
	for i, t := range b.Tasks {
		for _, name := range done {
			results[i].Done = results[i].Done || t.Effects[0].Token == name
		}
	}
	return b, results
}

// V8: what is kept for a key goes out in its order, before whatever else is sent for the key,
// however it came to be kept: so a change that is kept goes before the release that follows it.
func TestV8KeptTasksGoInOrder(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*Outbox)
		want string
	}{
		{"the master cannot be asked", func(o *Outbox) {
			o.Keep(changes("k", "change"))
			o.Keep(deletes("k", "release"))
			o.Keep(deletes("l", "other"))
			o.Put(asks(vote.Acquire, "k"))
		}, "k change; k release; k"},
		{"it can be asked again", func(o *Outbox) {
			o.Keep(changes("k", "change"))
			o.Keep(undoes("k", "rollback"))
			o.Keep(deletes("k", "release"))
			o.FlushKept()
		}, "k change; k rollback; k release"},
		{"behind what waits", func(o *Outbox) {
			o.Put(asks(vote.Acquire, "k"))
			o.Keep(undoes("k", "rollback"))
			o.FlushKept()
		}, "k; k rollback"},
		{"a transaction on several keys", func(o *Outbox) {
			o.Keep(changes("k", "one"))
			o.Keep(deletes("l", "two"))
			o.Keep(deletes("m", "other"))
			o.Put(asks(vote.Transact, "k", "l"))
		}, "k one; l two; k"},
		{"lost on their way", func(o *Outbox) {
			o.Put(changes("k", "change"))
			o.Put(asks(vote.Read, "k"))
			o.Put(deletes("k", "release"))
			o.Lose()
			o.Put(asks(vote.Acquire, "k"))
		}, "k change; k release; k"},
		{"lost, when a later one is kept already", func(o *Outbox) {
			o.Put(changes("k", "change"))
			o.Put(undoes("k", "rollback"))
			o.Keep(deletes("k", "release")) // too much waits
			o.Lose()
			o.FlushKept()
		}, "k change; k rollback; k release"},
		{"failed", func(o *Outbox) {
			o.Put(changes("k", "change"))
			o.Put(deletes("l", "done"))
			o.Put(asks(vote.Read, "k"))
			o.Put(deletes("k", "release"))
			b, results := fail(o, "done")
			o.Put(asks(vote.Acquire, "k"))
			o.Resend(b, results)
		}, "k change; k release; k"},
		{"done behind what failed", func(o *Outbox) {
			o.Put(deletes("k", "before"))
			o.Put(changes("k", "change"))
			o.Put(deletes("k", "release"))
			b, results := fail(o, "before", "release")
			o.Resend(b, results)
		}, "k change; k release"},
		{"failed too often", func(o *Outbox) {
			o.Put(changes("k", "change"))
			o.Put(deletes("k", "release"))
			o.queue[0].tries = MaxTries
			b, results := fail(o)
			o.Resend(b, results)
			o.FlushKept()
		}, "k change; k release"},
		{"failed too often, when a later one waits", func(o *Outbox) {
			o.Put(changes("k", "change"))
			o.queue[0].tries = MaxTries
			b, results := fail(o)
			o.Put(deletes("k", "release"))
			o.Resend(b, results)
			o.FlushKept()
		}, "k change; k release"},
		{"failed too often, when a later one is kept", func(o *Outbox) {
			o.Put(changes("k", "change"))
			o.queue[0].tries = MaxTries
			b, results := fail(o)
			o.Keep(deletes("k", "release"))
			o.Resend(b, results)
			o.FlushKept()
		}, "k change; k release"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := outboxAt(new(time.Duration))
			if c.do(o); sends(o) != c.want {
				t.Errorf("sends %q, want %q", sends(o), c.want)
			}
			size := 0
			for _, t := range o.queue {
				size += t.size()
			}
			if o.bytes != size {
				t.Errorf("%d bytes wait, want %d", o.bytes, size)
			}
		})
	}
}

// V8: a task that fails is sent again at once, MaxTries times; then it waits until the master is
// looked at, or something else is sent for its key. What need not be delivered is not repeated.
func TestV8RepeatsAtOnceMaxTries(t *testing.T) {
	o := outboxAt(new(time.Duration))
	o.Put(undoes("k", "rollback"))
	o.Put(asks(vote.Acquire, "k"))
	for tries := range MaxTries {
		b, results := fail(o)
		o.Resend(b, results)
		if sends(o) != "k rollback" || o.keptTasks != 0 {
			t.Fatalf("after %d tries it sends %q, and keeps %d", tries+1, sends(o), o.keptTasks)
		}
	}
	b, results := fail(o)
	if o.Resend(b, results); len(o.queue) != 0 || o.keptTasks != 1 {
		t.Errorf("after all tries it sends %q, and keeps %d", sends(o), o.keptTasks)
	}
}

// V6, V8: what has become useless is not repeated.
func TestV8UselessTasksAreDropped(t *testing.T) {
	var now time.Duration
	o := outboxAt(&now)
	late := deletes("k", "late")
	late.Until = time.Hour
	o.Keep(deletes("k", "soon"))
	o.Keep(late)
	o.Keep(deletes("l", "soon"))
	if !o.KeepsUseful() {
		t.Error("nothing is of use")
	}
	now = time.Minute
	o.Put(asks(vote.Read, "k"))
	o.FlushKept()
	if sends(o) != "k late; k" || o.keptTasks != 0 || o.keptBytes != 0 || o.KeepsUseful() {
		t.Errorf("sends %q, and keeps %d of %d bytes", sends(o), o.keptTasks, o.keptBytes)
	}
}

// TestTraceKeptTasksAreSeldomLookedThrough checks that the kept tasks are searched for
// useless ones once a second at most, also when there is no room: it is done under the
// link's mutex, which every operation takes (M1).
func TestTraceKeptTasksAreSeldomLookedThrough(t *testing.T) {
	now := 10 * time.Second
	o := outboxAt(&now)
	keeps := func(key string, until time.Duration) bool {
		task := deletes(key, "")
		task.Until = until
		o.Keep(task)
		return o.kept[key] != nil
	}
	for i := range maxKept {
		keeps(fmt.Sprint("key", i), 11*time.Second)
	}
	if keeps("first", time.Hour) {
		t.Fatal("there is room for more than the bound")
	}
	now = 10900 * time.Millisecond
	for _, of := range o.kept {
		of[0].Until = now // useless, but searched a moment ago
	}
	if keeps("second", time.Hour) {
		t.Error("looked through twice within a second")
	}
	now += time.Second
	if !keeps("third", time.Hour) || len(o.kept) != 1 || o.keptTasks != 1 {
		t.Errorf("%d are kept, want what is over to have made room", o.keptTasks)
	}
}

// TestM1KeptTasksAreBoundedInBytes checks that the kept tasks are bounded in bytes, too
// (M1); for their number see TestTraceKeptTasksAreSeldomLookedThrough.
func TestM1KeptTasksAreBoundedInBytes(t *testing.T) {
	now := 10 * time.Second
	o := outboxAt(&now)
	token := strings.Repeat("t", 1<<20)
	for i := range 100 {
		o.Keep(deletes(fmt.Sprint(i%7), token))
	}
	if n, bytes := o.Kept(); n < 30 || n > 32 || bytes > maxKeptBytes {
		t.Errorf("%d releases of %d bytes are kept", n, bytes)
	}
	for key := range o.kept {
		o.takeKept(key)
	}
	if n, bytes := o.Kept(); n != 0 || bytes != 0 {
		t.Errorf("%d of %d bytes, of nothing", n, bytes)
	}
}
