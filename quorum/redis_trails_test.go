package quorum

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
)

// What a server's keys held, and when: for disks of before, and for the judge of the storms.

// span is the time for which a key had a value; to is 0 while it still has.
type span struct {
	value    string
	from, to time.Duration
	// put is when an entry with the value was last put.
	put time.Duration
}

// note remembers the state of a key before a change, for disks and for the judge.
func (s *redisServer) note(db int, key, value string) {
	n, now := keyName{db, key}, s.now()
	before, was := s.dbs[db][key]
	s.undo = append(s.undo, undoing{now, n, before, was})
	if len(s.undo) > 1000 {
		old := slices.IndexFunc(s.undo, func(u undoing) bool { return u.at >= now-remembered })
		s.undo = append(s.undo[:0], s.undo[max(old, 0):]...)
	}
	trail := s.trails[n]
	last := len(trail) - 1
	switch open := last >= 0 && trail[last].to == 0; {
	case key == mark.Key:
		return
	case was && before.value == value:
		if open {
			trail[last].put = now
		}
		return
	case open:
		trail[last].to = s.lasted(before, trail[last].put)
	}
	if value != "" {
		trail = append(trail, span{value: value, from: now, put: now})
	}
	if len(trail) > 100 {
		trail = append(trail[:0], trail[50:]...)
	}
	s.trails[n] = trail
}

// had reports whether a key had a value at some time since then.
func (s *redisServer) had(n keyName, value string, since time.Duration) bool {
	return slices.ContainsFunc(s.trails[n], func(p span) bool {
		if p.to == 0 {
			p.to = s.lasted(s.dbs[n.db][n.key], p.put)
		}
		return p.value == value && p.to >= since
	})
}

// lasted returns until when an entry was there that was put at that time and is in the map: until
// it expired, though nobody has asked for it since, or until now.
func (s *redisServer) lasted(e entry, put time.Duration) time.Duration {
	expired := time.Duration(float64(s.clock()-1000*e.expiry)*float64(time.Microsecond)/s.rate) - time.Millisecond
	if e.expiry == 0 || expired < 0 || s.stepped >= put {
		return s.now()
	}
	return max(put, s.now()-expired)
}

// TestCopyEndsWhenItExpires checks that a copy counts until it expires, whenever its key is asked
// for the next time, and one that was put back to an earlier expiry until then.
func TestCopyEndsWhenItExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{began: time.Now()}
		s := newServer(w, "a", "7.2.4", rand.New(rand.NewPCG(1, 1)))
		w.Lock()
		defer w.Unlock()
		n := keyName{0, "k"}
		had := func(since time.Duration) bool { return s.had(n, "t", since) }
		s.put(0, "k", entry{value: "t", expiry: s.millis() + 1000})
		time.Sleep(time.Second / 2)
		if !had(w.now()) {
			t.Error("it is over before it expires")
		}
		s.put(0, "k", entry{value: "t", expiry: s.millis() + 1500})
		time.Sleep(3 * time.Second)
		if had(2100*time.Millisecond) || !had(1900*time.Millisecond) {
			t.Error("its end is not at 2 s")
		}
		if _, there := s.get(0, "k"); there || had(2100*time.Millisecond) || !had(1900*time.Millisecond) {
			t.Error("its end is not at 2 s, once it was asked for")
		}
		s.put(0, "k", entry{value: "t", expiry: s.millis() + 5000})
		time.Sleep(time.Second)
		back := w.now()
		s.put(0, "k", entry{value: "t", expiry: s.millis() - 500})
		time.Sleep(time.Second)
		if !had(back) || had(back+2*time.Millisecond) {
			t.Errorf("its end is not when it was put back")
		}
	})
}
