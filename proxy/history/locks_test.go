package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

func outcome(v quorum.Verdict) *quorum.Outcome { return &quorum.Outcome{Verdict: v} }

// TestHeldFollowsVerdicts: which outcome makes the table know or forget.
func TestHeldFollowsVerdicts(t *testing.T) {
	me, other := &Holder{Session: 1, Name: "me"}, &Holder{Session: 2, Name: "other"}
	op := func(kind quorum.Kind, token string) *quorum.Op {
		return &quorum.Op{Kind: kind, DB: 3, Key: "k", Token: token, TTL: time.Minute}
	}
	tests := []struct {
		name string
		do   func(*Locks)
		want string // the holder's name, by token t
	}{
		{"taken", func(*Locks) {}, "me"},
		{"refused to another", func(l *Locks) { l.Note("set", op(quorum.Acquire, "u"), outcome(quorum.Held), other) }, "me"},
		{"undecided", func(l *Locks) { l.Note("set", op(quorum.Release, "t"), outcome(quorum.Undecided), me) }, "me"},
		{"released", func(l *Locks) { l.Note("set", op(quorum.Release, "t"), outcome(quorum.Won), me) }, ""},
		{"release refused", func(l *Locks) { l.Note("set", op(quorum.Release, "u"), outcome(quorum.Held), other) }, "me"},
		{"found absent", func(l *Locks) { l.Note("set", op(quorum.Read, ""), outcome(quorum.Absent), other) }, ""},
		{"removed", func(l *Locks) { l.Note("set", op(quorum.Remove, ""), outcome(quorum.Won), other) }, ""},
		{"another database", func(l *Locks) { l.Note("set", &quorum.Op{Kind: quorum.Remove, Key: "k"}, outcome(quorum.Won), other) }, "me"},
		{"extended by another session", func(l *Locks) { l.Note("set", op(quorum.Extend, "t"), outcome(quorum.Won), other) }, "me"},
		{"taken by another token", func(l *Locks) { l.Note("set", op(quorum.Acquire, "u"), outcome(quorum.Won), other) }, ""},
		{"overwritten", func(l *Locks) { l.Note("set", op(quorum.Store, "t"), outcome(quorum.Won), other) }, "other"},
		{"given back", func(l *Locks) {
			l.Note("set", op(quorum.Acquire, "t"), outcome(quorum.Won), other)
			l.Withdraw(op(quorum.Acquire, "t"), other)
		}, ""},
		{"given back after another took it", func(l *Locks) {
			l.Note("set", op(quorum.Acquire, "u"), outcome(quorum.Won), other)
			l.Note("set", op(quorum.Acquire, "t"), outcome(quorum.Won), me)
			l.Withdraw(op(quorum.Acquire, "u"), other)
		}, "me"},
		{"decided to release", func(l *Locks) {
			o := outcome(quorum.Won)
			o.Did = op(quorum.Release, "t")
			l.Note("set", op(quorum.Decide, ""), o, me)
		}, ""},
		{"deleted by a transaction", func(l *Locks) {
			o := outcome(quorum.Won)
			o.Changes = []quorum.Change{{Key: "k", Delete: true}}
			l.Note("set", &quorum.Op{Kind: quorum.DecideAll, DB: 3, Key: "k"}, o, me)
		}, ""},
		{"extended, taken elsewhere", func(l *Locks) {
			l.Note("set", op(quorum.Remove, ""), outcome(quorum.Won), me)
			l.Note("set", op(quorum.Extend, "t"), outcome(quorum.Won), other)
		}, "other"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := NewLocks(nil, func(Lost) {})
			l.Note("set", op(quorum.Acquire, "t"), outcome(quorum.Won), me)
			test.do(l)
			got, ok := l.Find(3, "k", "t")
			if ok != (test.want != "") || ok && got.Holder.Name != test.want {
				t.Errorf("%v %+v, want %q", ok, got.Holder, test.want)
			}
			if ok && got.Taken != (test.name != "extended, taken elsewhere") {
				t.Errorf("taken here: %v", got.Taken)
			}
		})
	}
}

// TestHeldIsBounded: by number and by bytes, and what is over is forgotten.
func TestHeldIsBounded(t *testing.T) {
	count := func(l *Locks) (n, bytes int) {
		l.each(time.Now(), func(id lockID, l Lock) { n++; bytes += (&record{Lock: l}).size(id) })
		return n, bytes
	}
	who := &Holder{}
	take := func(l *Locks, key string, ttl time.Duration) {
		l.Note("set", &quorum.Op{Kind: quorum.Acquire, Key: key, Token: "t", TTL: ttl}, outcome(quorum.Won), who)
	}
	many := NewLocks(nil, func(Lost) {})
	for i := range maxHeldLocks + maxHeldLocks/2 {
		take(many, fmt.Sprint(i), time.Minute)
	}
	if n, _ := count(many); n > maxHeldLocks || n < maxHeldLocks*9/10 {
		t.Errorf("%d locks, want about %d", n, maxHeldLocks)
	}
	if _, ok := many.Find(0, fmt.Sprint(maxHeldLocks+maxHeldLocks/2-1), "t"); !ok {
		t.Error("the last one is forgotten")
	}
	long := NewLocks(nil, func(Lost) {})
	for i := range 2 * maxHeldBytes / maxHeldKey {
		take(long, fmt.Sprintf("%*d", maxHeldKey, i), time.Minute)
	}
	take(long, strings.Repeat("x", maxHeldKey+1), time.Minute)
	if n, bytes := count(long); bytes > maxHeldBytes || n < maxHeldBytes/maxHeldKey/2 {
		t.Errorf("%d locks of %d bytes", n, bytes)
	}
	ends := NewLocks(nil, func(Lost) {})
	take(ends, "a", time.Minute)
	take(ends, "b", time.Hour)
	n := 0
	now := time.Now()
	if got := ends.Count(now); got != 2 {
		t.Errorf("%d are counted", got)
	}
	take(ends, "c", time.Minute)
	if soon, later := ends.Count(now.Add(time.Second/2)), ends.Count(now.Add(time.Second)); soon != 2 || later != 3 {
		t.Errorf("%d are counted soon, %d later", soon, later)
	}
	ends.each(now.Add(2*time.Minute), func(lockID, Lock) { n++ })
	if n != 1 {
		t.Errorf("%d locks after the end of one", n)
	}
}

// TestContention: the keys that are wanted most are found among many, and
// forgotten with time.
func TestContention(t *testing.T) {
	l := NewLocks(nil, func(Lost) {})
	refuse := func(key string, times int) {
		for range times {
			l.Note("set", &quorum.Op{Kind: quorum.Acquire, Key: key}, outcome(quorum.Held), &Holder{})
		}
	}
	refuse("hottest", 500)
	for i := range 20_000 {
		refuse(fmt.Sprint("once", i), 1)
	}
	refuse("hot", 300)
	now := time.Now()
	got := l.Contended(now, 2)
	if len(got) != 2 || got[0].Key != "hottest" || got[1].Key != "hot" {
		t.Fatalf("%+v", got)
	}
	// 500 just now are as much as a steady rate of 500 x ln 2 a half-life.
	if r := got[0].PerMinute; r < 300 || r > 350 {
		t.Errorf("%v a minute, want 347", r)
	}
	later := l.Contended(now.Add(3*contentionHalfLife), 1)
	if r := later[0].PerMinute; r < 37 || r > 44 {
		t.Errorf("three half-lives later %v a minute, want 43", r)
	}
	if rest := l.Contended(now.Add(900*contentionHalfLife), 5); len(rest) != 0 {
		t.Errorf("long after: %+v", rest)
	}
	refuse(strings.Repeat("x", 2*maxContendedKey), 1)
	if n := len(l.Contended(time.Now(), 10_000)); n > lockShards*contendedKeys {
		t.Errorf("%d keys are kept", n)
	}
	for _, c := range l.Contended(time.Now(), 1000) {
		if len(c.Key) > maxContendedKey {
			t.Errorf("a name of %d bytes", len(c.Key))
		}
	}
}

// TestRefusedAreRemembered: who was refused a lock is known until it gets it, a bounded number of
// the latest.
func TestRefusedAreRemembered(t *testing.T) {
	l := NewLocks(nil, func(Lost) {})
	began := time.Now()
	note := func(verdict quorum.Verdict, session int64) {
		l.Note("set", &quorum.Op{Kind: quorum.Acquire, DB: 1, Key: "k", TTL: time.Minute}, outcome(verdict), &Holder{Session: session})
	}
	sessions := func(db int, since time.Time) (ids []int64, more bool) {
		list, more := l.RefusedSince(db, "k", since)
		for _, r := range list {
			ids = append(ids, r.Session)
		}
		slices.Sort(ids)
		return ids, more
	}
	note(quorum.Won, 1)
	for _, session := range []int64{2, 3, 2, 2} {
		note(quorum.Held, session)
	}
	if ids, more := sessions(1, began.Add(-time.Second)); !slices.Equal(ids, []int64{2, 3}) || more {
		t.Errorf("refused were %v, more: %v", ids, more)
	}
	if ids, _ := sessions(0, began.Add(-time.Second)); len(ids) > 0 {
		t.Errorf("in another database %v", ids)
	}
	if ids, _ := sessions(1, time.Now().Add(time.Second)); len(ids) > 0 {
		t.Errorf("since later %v", ids)
	}
	if c := l.Contended(time.Now(), 1); len(c) != 1 || c[0].Holder == nil || c[0].Holder.Session != 1 {
		t.Errorf("contended is %+v, held by 1", c)
	}
	note(quorum.Won, 3)
	if ids, _ := sessions(1, began.Add(-time.Second)); !slices.Equal(ids, []int64{2}) {
		t.Errorf("3 has got it, and refused were %v", ids)
	}
	for session := range int64(2 * maxRefused) {
		note(quorum.Held, 10+session)
	}
	ids, more := sessions(1, began.Add(-time.Second))
	if len(ids) != maxRefused || !more || ids[maxRefused-1] != 9+2*maxRefused {
		t.Errorf("of many %v, more: %v", ids, more)
	}
}

// BenchmarkHeld is what a lock and its release cost here: each is one note.
func BenchmarkHeld(b *testing.B) {
	l := NewLocks(nil, func(Lost) {})
	who := &Holder{}
	keys := make([]string, 4096)
	for i := range keys {
		keys[i] = fmt.Sprint("locks:orders:", i)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			key := keys[i%len(keys)]
			op := quorum.Op{Kind: quorum.Acquire, Key: key, Token: "0123456789abcdef", TTL: time.Minute}
			l.Note("set", &op, &quorum.Outcome{Verdict: quorum.Won}, who)
			op.Kind = quorum.Release
			l.Note("set", &op, &quorum.Outcome{Verdict: quorum.Won}, who)
		}
	})
}

func BenchmarkContended(b *testing.B) {
	l := NewLocks(nil, func(Lost) {})
	who := &Holder{}
	o := outcome(quorum.Held)
	op := quorum.Op{Kind: quorum.Acquire, Key: "locks:orders:1"}
	b.ReportAllocs()
	for b.Loop() {
		l.Note("set", &op, o, who)
	}
}
