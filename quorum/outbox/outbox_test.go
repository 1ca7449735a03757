package outbox

import (
	"fmt"
	"runtime"
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

// M2: tasks stay in their order. V6, V8: of those that wait when the connection ends, what must be
// delivered is kept for the next connection; it goes before what is sent for its key.
func TestM2OutboxKeepsItsOrder(t *testing.T) {
	o := outboxAt(new(time.Duration))
	for i := range 5 {
		o.Put(asks(vote.Read, fmt.Sprint(i)))
	}
	o.Put(deletes("k", "one"))
	o.Remove(2)
	if len(o.queue) != 4 || o.queue[0].Key() != "2" {
		t.Fatalf("%d wait, the first of them for %q", len(o.queue), o.queue[0].Key())
	}
	if lost := o.Lose(); len(lost) != 4 || len(o.queue) != 0 || o.bytes != 0 || o.keptTasks != 1 {
		t.Errorf("%d are lost, %d of %d bytes wait, %d are kept", len(lost), len(o.queue), o.bytes, o.keptTasks)
	}
	o.Put(asks(vote.Acquire, "another"))
	o.Put(asks(vote.Acquire, "k"))
	if got := sends(o); got != "another; k one; k" || o.keptTasks != 0 {
		t.Errorf("sends %q, and keeps %d", got, o.keptTasks)
	}
}

// TestM1MemoryOfACrowdIsGivenBack checks that the memory that a crowd needed for a
// moment is given back (M1).
func TestM1MemoryOfACrowdIsGivenBack(t *testing.T) {
	o := outboxAt(new(time.Duration))
	for i := range 5 * maxBatch {
		o.Put(asks(vote.Read, fmt.Sprint(i)))
	}
	for len(o.queue) > 0 {
		o.Remove(len(o.Next()))
	}
	if cap(o.queue) > 2*maxBatch || o.bytes != 0 {
		t.Errorf("room for %d tasks is kept, and %d bytes wait", cap(o.queue), o.bytes)
	}
}

// TestM1ArgumentsOfABatch checks that building the commands of a batch takes not much more memory
// than what they say: that is bounded while it waits.
func TestM1ArgumentsOfABatch(t *testing.T) {
	onMaster(t, func(t *testing.T, m *master) {
		const size = 4096
		bytes := func(tasks []*Task) uint64 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			m.dialect.Commands(&Batch{Tasks: tasks})
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		var acquires, releases []*Task
		for i := range 256 {
			token := strings.Repeat("t", size)
			take := m.does(vote.Acquire, 9, Effect{Key: fmt.Sprint(i), Meets: Nothing, Does: Stores, New: token})
			free := m.releases()
			free.Effects = []Effect{{Key: fmt.Sprint(i), Meets: Token, Token: token, Does: Deletes}}
			acquires, releases = append(acquires, &take), append(releases, &free)
		}
		for what, tasks := range map[string][]*Task{"acquires": acquires, "releases": releases} {
			if n := bytes(tasks); n > 3*uint64(len(tasks))*size/2 {
				t.Errorf("%d bytes for %d %s with tokens of %d", n, len(tasks), what, size)
			}
		}
	})
}
