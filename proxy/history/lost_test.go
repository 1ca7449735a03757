package history

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

// told is a table of locks and what it tells.
type told struct {
	*Locks
	lost []string
}

func newTold(patterns ...string) *told {
	t := &told{}
	t.Locks = NewLocks(patterns, func(l Lost) {
		t.lost = append(t.lost, fmt.Sprintf("%s of %s to %s", l.Cause, l.Holder.Name, l.By.Name))
	})
	return t
}

// sessions of the tests.
var me, other, third = &Holder{Session: 1, Name: "me"}, &Holder{Session: 2, Name: "other"}, &Holder{Session: 3, Name: "third"}

// does notes an operation on k. The token that was found, if there is one, is held.
func (t *told) does(who *Holder, command string, kind quorum.Kind, token string, v quorum.Verdict, held string) {
	o := outcome(v)
	o.State.Token, o.State.Found = held, held != ""
	t.Note(command, &quorum.Op{Kind: kind, Key: "k", Token: token, TTL: time.Minute}, o, who)
}

func (t *told) takes(who *Holder, token string) {
	t.does(who, "set", quorum.Acquire, token, quorum.Won, "")
}

// TestLostIsTold: whose lock has ended is told when a command comes that counts on it, with the
// cause, and once.
func TestLostIsTold(t *testing.T) {
	release := func(l *told, who *Holder, token string, v quorum.Verdict) {
		l.does(who, "evalsha", quorum.Release, token, v, "")
	}
	tests := []struct {
		name string
		do   func(*told)
		want []string
	}{
		{"released in time", func(l *told) { release(l, me, "t", quorum.Won) }, nil},
		{"released twice", func(l *told) { release(l, me, "t", quorum.Won); release(l, me, "t", quorum.Absent) }, nil},
		{"released by another connection, too late", func(l *told) { time.Sleep(time.Hour); release(l, other, "t", quorum.Absent) }, []string{"expired of me to other"}},
		{"released too late, twice", func(l *told) {
			time.Sleep(time.Hour)
			release(l, me, "t", quorum.Absent)
			release(l, me, "t", quorum.Absent)
		}, []string{"expired of me to me"}},
		{"extended too late", func(l *told) { time.Sleep(time.Hour); l.does(me, "eval", quorum.Extend, "t", quorum.Absent, "") }, []string{"expired of me to me"}},
		{"the masters' clocks are a little ahead", func(l *told) { time.Sleep(59 * time.Second); release(l, me, "t", quorum.Absent) }, []string{"expired of me to me"}},
		{"read too late", func(l *told) { time.Sleep(time.Hour); l.does(me, "get", quorum.Read, "", quorum.Absent, "") }, []string{"expired of me to me"}},
		{"read too late by another", func(l *told) { time.Sleep(time.Hour); l.does(other, "get", quorum.Read, "", quorum.Absent, "") }, nil},
		{"read in time", func(l *told) { l.does(me, "get", quorum.Read, "", quorum.Held, "t") }, nil},
		{"another has it, read", func(l *told) { l.does(me, "get", quorum.Read, "", quorum.Held, "u") }, []string{"changed of me to me"}},
		{"somebody else's token", func(l *told) { release(l, other, "u", quorum.Held) }, nil},
		{"not known whether it is lost", func(l *told) { time.Sleep(time.Hour); release(l, me, "t", quorum.Undecided) }, nil},
		{"taken by another after the TTL", func(l *told) {
			time.Sleep(time.Hour)
			l.takes(other, "u")
			release(l, me, "t", quorum.Held)
			release(l, other, "u", quorum.Won)
		}, []string{"expired of me to me"}},
		{"taken by another thread of the connection", func(l *told) {
			time.Sleep(time.Hour)
			l.takes(me, "u")
			release(l, me, "t", quorum.Held)
			l.does(me, "get", quorum.Read, "", quorum.Held, "u")
		}, []string{"expired of me to me"}},
		{"three after one another", func(l *told) {
			time.Sleep(time.Hour)
			l.takes(other, "u")
			time.Sleep(time.Hour)
			l.takes(third, "v")
			release(l, other, "u", quorum.Held)
			release(l, me, "t", quorum.Held)
			release(l, third, "v", quorum.Won)
		}, []string{"expired of other to other", "expired of me to me"}},
		{"found absent by another, before the TTL", func(l *told) {
			l.does(other, "get", quorum.Read, "", quorum.Absent, "")
			time.Sleep(time.Hour)
			release(l, me, "t", quorum.Absent)
		}, []string{"changed of me to me"}},
		{"removed by another", func(l *told) {
			l.does(other, "del", quorum.Remove, "", quorum.Won, "")
			release(l, me, "t", quorum.Absent)
		}, []string{"changed of me to me"}},
		{"removed by its own connection", func(l *told) {
			l.does(me, "del", quorum.Remove, "", quorum.Won, "")
			release(l, me, "t", quorum.Absent)
		}, nil},
		{"removed by LOCKS FORCE", func(l *told) {
			l.does(other, "locks", quorum.Remove, "", quorum.Won, "")
			l.takes(other, "u")
			release(l, me, "t", quorum.Held)
		}, []string{"forced of me to me"}},
		{"removed by LOCKS FORCE of its own connection", func(l *told) {
			l.does(me, "locks", quorum.Remove, "", quorum.Won, "")
			release(l, me, "t", quorum.Absent)
		}, []string{"forced of me to me"}},
		{"overwritten by another", func(l *told) {
			l.does(other, "set", quorum.Store, "u", quorum.Won, "")
			release(l, me, "t", quorum.Held)
		}, []string{"changed of me to me"}},
		{"overwritten by its own connection", func(l *told) {
			l.does(me, "getset", quorum.Store, "u", quorum.Won, "")
			release(l, me, "t", quorum.Held)
		}, nil},
		{"given another token by its own", func(l *told) {
			o := outcome(quorum.Won)
			l.Note("set", &quorum.Op{Kind: quorum.Extend, Key: "k", Token: "t", NewToken: "u", Replace: true, TTL: time.Minute}, o, other)
			release(l, me, "t", quorum.Held)
		}, nil},
		{"another's lock, taken elsewhere, is extended here", func(l *told) {
			time.Sleep(time.Hour)
			l.does(other, "eval", quorum.Extend, "u", quorum.Won, "")
			release(l, me, "t", quorum.Held)
		}, []string{"expired of me to me"}},
		{"another's lock, taken elsewhere, is released here", func(l *told) {
			time.Sleep(time.Hour)
			release(l, other, "u", quorum.Won)
			release(l, me, "t", quorum.Absent)
		}, []string{"expired of me to me"}},
		{"another's lock, taken elsewhere, is released here by a transaction", func(l *told) {
			time.Sleep(time.Hour)
			o := outcome(quorum.Won)
			o.Changes = []quorum.Change{{Key: "k", Delete: true}}
			l.Note("exec", &quorum.Op{Kind: quorum.DecideAll}, o, other)
			release(l, me, "t", quorum.Absent)
		}, []string{"expired of me to me"}},
		{"released by a transaction of another connection", func(l *told) {
			o := outcome(quorum.Won)
			o.Changes = []quorum.Change{{Key: "k", Delete: true}}
			l.Note("exec", &quorum.Op{Kind: quorum.DecideAll}, o, other)
			release(l, me, "t", quorum.Absent)
		}, nil},
		{"taken again with its token", func(l *told) {
			time.Sleep(time.Hour)
			l.takes(me, "t")
			release(l, me, "t", quorum.Won)
		}, nil},
		{"the grant was taken back", func(l *told) {
			l.Withdraw(&quorum.Op{Key: "k", Token: "t"}, me)
			release(l, me, "t", quorum.Absent)
		}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newTold()
				l.takes(me, "t")
				test.do(l)
				if !slices.Equal(l.lost, test.want) {
					t.Errorf("told %q, want %q", l.lost, test.want)
				}
			})
		})
	}
}

// TestLostIsBounded: a key has so many past locks at most, the latest, and what is kept is counted.
func TestLostIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newTold()
		for i := range 3 * maxPast {
			l.takes(me, fmt.Sprint(i))
			time.Sleep(time.Hour)
		}
		s := l.shard("k")
		if want := 1 + heldOverhead + maxPast*pastOverhead; s.bytes != want {
			t.Errorf("%d bytes are counted, want %d", s.bytes, want)
		}
		for i := range 3 * maxPast {
			l.does(me, "eval", quorum.Release, fmt.Sprint(i), quorum.Absent, "")
		}
		if len(l.lost) != maxPast+1 {
			t.Errorf("%d are told, want %d", len(l.lost), maxPast+1)
		}
		if s.bytes != 0 || s.held.Len() != 0 {
			t.Errorf("%d bytes of %d keys are left", s.bytes, s.held.Len())
		}
	})
}

// TestMentions: the log tells of a key once a minute, and of a bounded number.
func TestMentions(t *testing.T) {
	m, now := NewMentions(), time.Now()
	due := func(key string, after time.Duration, unreported int, want bool) {
		t.Helper()
		if n, ok := m.Due(0, key, now.Add(after)); n != unreported || ok != want {
			t.Errorf("%s after %v: %v, %d unreported, want %v, %d", key, after, ok, n, want, unreported)
		}
	}
	due("a", 0, 0, true)
	due("a", 59*time.Second, 0, false)
	due("b", 59*time.Second, 1, true)
	due("a", 61*time.Second, 0, true)
	for i := range maxMentions - 2 {
		due(fmt.Sprint(i), 62*time.Second, 0, true)
	}
	due("one too many", 62*time.Second, 0, false)
	due("one too many", 2*time.Minute, 1, true)
}
