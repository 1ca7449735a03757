package fakeredis

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

// TestCopyEndsWhenItExpires checks that a copy counts until it expires, whenever its key is asked
// for the next time, and one that was put back to an earlier expiry until then.
func TestCopyEndsWhenItExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := NewWorld()
		s := NewServer(w, "a", "7.2.4", rand.New(rand.NewPCG(1, 1)))
		w.Lock()
		defer w.Unlock()
		n := KeyName{0, "k"}
		had := func(since time.Duration) bool { return s.Had(n, "t", since) }
		s.Put(0, "k", Entry{Value: "t", Expiry: s.Millis() + 1000})
		time.Sleep(time.Second / 2)
		if !had(w.Now()) {
			t.Error("it is over before it expires")
		}
		s.Put(0, "k", Entry{Value: "t", Expiry: s.Millis() + 1500})
		time.Sleep(3 * time.Second)
		if had(2100*time.Millisecond) || !had(1900*time.Millisecond) {
			t.Error("its end is not at 2 s")
		}
		if _, there := s.Get(0, "k"); there || had(2100*time.Millisecond) || !had(1900*time.Millisecond) {
			t.Error("its end is not at 2 s, once it was asked for")
		}
		s.Put(0, "k", Entry{Value: "t", Expiry: s.Millis() + 5000})
		time.Sleep(time.Second)
		back := w.Now()
		s.Put(0, "k", Entry{Value: "t", Expiry: s.Millis() - 500})
		time.Sleep(time.Second)
		if !had(back) || had(back+2*time.Millisecond) {
			t.Errorf("its end is not when it was put back")
		}
	})
}
