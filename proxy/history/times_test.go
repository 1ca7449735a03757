package history

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

// TestTimes: waiting is from the first refusal of a session to its grant, holding from there to the
// release, each counted for the first pattern that has the key.
func TestTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newTold("orders:*", "o*")
		note := func(who *Holder, kind quorum.Kind, key string, v quorum.Verdict) {
			l.Note("set", &quorum.Op{Kind: kind, Key: key, Token: who.Name, TTL: time.Hour}, outcome(v), who)
		}
		note(me, quorum.Acquire, "orders:1", quorum.Won)
		for range 30 {
			note(other, quorum.Acquire, "orders:1", quorum.Held)
			time.Sleep(time.Second)
		}
		note(me, quorum.Release, "orders:1", quorum.Won)
		note(other, quorum.Acquire, "orders:1", quorum.Won) // waited 30 s
		time.Sleep(5 * time.Second)
		note(other, quorum.Release, "orders:1", quorum.Won)
		note(me, quorum.Acquire, "other", quorum.Won)
		note(me, quorum.Release, "other", quorum.Won)
		// Who asked too long ago does not wait, and who asks again after that begins anew.
		note(me, quorum.Acquire, "x", quorum.Won)
		note(other, quorum.Acquire, "x", quorum.Held)
		note(third, quorum.Acquire, "x", quorum.Held)
		time.Sleep(Wants + time.Second)
		note(third, quorum.Acquire, "x", quorum.Held)
		time.Sleep(time.Second)
		note(me, quorum.Remove, "x", quorum.Won) // held for 62 s
		note(other, quorum.Acquire, "x", quorum.Won)
		note(third, quorum.Store, "x", quorum.Won) // waited 1 s; other has lost it
		for i, want := range []struct {
			pattern            string
			waits, holds       uint64
			waitedSum, heldSum time.Duration
		}{
			{"orders:*", 1, 2, 30 * time.Second, 35 * time.Second},
			{"o*", 0, 1, 0, 0},
			{Others, 1, 1, time.Second, 62 * time.Second},
		} {
			got := l.Times()[i]
			if got.Pattern != want.pattern || got.Waited.Count != want.waits || got.Held.Count != want.holds ||
				got.Waited.Sum != want.waitedSum || got.Held.Sum != want.heldSum {
				t.Errorf("%+v, want %+v", got, want)
			}
		}
	})
}

// TestQuantile: of durations in buckets.
func TestQuantile(t *testing.T) {
	r := newRecorder()
	if got := r.read().Quantile(0.5); got != -1 {
		t.Errorf("of nothing %v", got)
	}
	for range 50 {
		r.add(time.Millisecond)
		r.add(time.Second)
	}
	r.add(100 * time.Hour)
	for part, want := range map[float64][2]time.Duration{
		0.25: {0, time.Millisecond}, 0.75: {500 * time.Millisecond, time.Second}, 1: {4 * time.Hour, 4 * time.Hour},
	} {
		if got := r.read().Quantile(part); got < want[0] || got > want[1] {
			t.Errorf("%v of all are below %v, want %v to %v", part, got, want[0], want[1])
		}
	}
}
