package quorum

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// outboxAt returns an empty one, by a clock that the test drives.
func outboxAt(now *time.Duration) *outbox {
	o := newOutbox(func() time.Duration { return *now }, newPace(50*time.Millisecond, func() {}))
	return &o
}

// V8: what may take the lock again with an old token ends the change that is
// repeated; what may not leaves it.
func TestV8ChangeIsOutdated(t *testing.T) {
	o := outboxAt(new(time.Duration))
	for _, next := range []struct {
		op       task
		repeated bool
	}{
		{task{kind: AcquireOrExtend, key: "k", token: "A"}, false},
		{task{kind: Acquire, key: "k", token: "other"}, true},
		{task{kind: Acquire, key: "l", token: "A"}, true},
		{task{kind: Store, key: "k", token: "other"}, false},
		{task{kind: Remove, key: "k"}, false},
		{task{kind: Read, key: "k"}, true},
	} {
		change := &task{kind: Extend, key: "k", token: "B", from: []string{"A"}, until: time.Minute}
		o.addRetry(change)
		o.sinceChanged(&next.op, false)
		if got := o.takeRetry(change.name()) != nil; got != next.repeated {
			t.Errorf("still to be repeated after %+v: %v, want %v", next.op, got, next.repeated)
		}
	}
}

// V6: the rollback of what turns out refused is dropped.
func TestV6RefusedIsNotRolledBack(t *testing.T) {
	o := outboxAt(new(time.Duration))
	o.append(&task{kind: Acquire, rollback: true, key: "k", token: "t", expiry: 33})
	o.append(&task{kind: Acquire, rollback: true, key: "k", token: "t", expiry: 65})
	o.spare(retryKey{"k", "t", 33})
	n := lockName{"k", "t"}
	if len(o.queue) != 1 || o.undoes(n, 33) || !o.undoes(n, 65) {
		t.Errorf("%d rollbacks wait: %v", len(o.queue), o.undoing)
	}
}

// M1: what is to be repeated to a master is looked through under the link's mutex, which
// every operation takes: once a second at most, also when there is no room.
func TestTraceRetriesAreSeldomLookedThrough(t *testing.T) {
	now := 10 * time.Second
	o := outboxAt(&now)
	repeats := func(key string, until time.Duration) bool {
		o.addRetry(&task{kind: Release, key: key, token: "t", until: until})
		return o.retries[retryKey{key: key, token: "t"}] != nil
	}
	for i := range maxRetries {
		repeats(fmt.Sprint("key", i), 11*time.Second)
	}
	if repeats("first", time.Hour) {
		t.Fatal("there is room for more than the bound")
	}
	now = 10900 * time.Millisecond
	for _, again := range o.retries {
		again.until = now // over, but looked through a moment ago
	}
	if repeats("second", time.Hour) {
		t.Error("looked through twice within a second")
	}
	now += time.Second
	if !repeats("third", time.Hour) || len(o.retries) != 1 {
		t.Errorf("%d are to be repeated, want what is over to have made room", len(o.retries))
	}
}

// M1: what is kept for when a master can be reached again is bounded, in bytes
// too (in number: TestTraceRetriesAreSeldomLookedThrough).
func TestM1RetriesAreBoundedInBytes(t *testing.T) {
	now := 10 * time.Second
	o := outboxAt(&now)
	token := strings.Repeat("t", 1<<20)
	for i := range 100 {
		o.addRetry(&task{kind: Release, key: fmt.Sprint(i), token: token, until: time.Hour})
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

// M2: what goes out leaves its memory to what comes, but for that of a crowd. V6, V8:
// what waits when the connection ends is silent, and repeated where it must arrive.
func TestM2OutboxKeepsItsOrder(t *testing.T) {
	o := outboxAt(new(time.Duration))
	for i := range 5 {
		o.put(&task{kind: Read, key: fmt.Sprint(i)})
	}
	o.put(&task{kind: Release, key: "k", token: "t", until: time.Minute})
	o.remove(2)
	if len(o.queue) != 4 || o.queue[0].key != "2" {
		t.Fatalf("%d wait, the first of them for %q", len(o.queue), o.queue[0].key)
	}
	if lost := o.lose(); len(lost) != 4 || len(o.queue) != 0 || o.bytes != 0 || len(o.retries) != 1 {
		t.Errorf("%d are lost, %d of %d bytes wait, %d are repeated", len(lost), len(o.queue), o.bytes, len(o.retries))
	}
	o.put(&task{kind: Acquire, key: "k", token: "t"})
	if len(o.queue) != 2 || o.queue[0].kind != Release || len(o.retries) != 0 {
		t.Error("the lock is taken before the release of before (V8)")
	}
}
