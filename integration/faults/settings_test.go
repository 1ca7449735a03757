package faults

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// TestShorterMaxTTLBeside is M4: of two redlockd over the same masters one
// allows locks of 5 s only. A master that restarts empty waits for those of the
// other, too.
func TestShorterMaxTTLBeside(t *testing.T) {
	t.Parallel()
	b := newBetween(t, "", func(n int, cfg *rig.Config) {
		cfg.MaxTTL = []time.Duration{5 * time.Minute, 5 * time.Second}[n]
	})
	// The second is on its way to the shorter maximum. What it sees when it is
	// back is the empty master, and the one that has not heard of the lock.
	b.r[1].Kill()
	b.links[1][1].Cut()
	b.links[0][2].Cut()
	var sent time.Time
	const ttl = time.Minute
	rig.Eventually(t, "the lock is taken, on a and b", func() (bool, string) {
		sent = time.Now()
		ok, err := b.take(0, "k", "A", ttl)
		return ok, fmt.Sprint(err)
	})
	if without := rig.WaitHeld(b.masters[:2], "k", "A", rig.Patience); len(without) > 0 {
		t.Fatalf("the lock is not on %v", without)
	}
	b.links[0][0].Cut() // the first does not see the restart
	b.masters[0].RestartEmpty()
	b.r[1].Restart()
	waitAllVote(b.r[1], 2, time.Now().Add(18*time.Second))
	wantRefused(t, earlier(sent.Add(ttl), time.Now().Add(2*time.Second)), func() (bool, error) { return b.take(1, "k", "B", time.Second) })
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// TestRestartAfterCommonStep is M5: the clocks of all masters step together, so
// that their locks end, and redlockd, which grants nothing for it, is started
// again.
func TestRestartAfterCommonStep(t *testing.T) {
	t.Parallel()
	b := &bench{tb: t, k: newKeeper(t), h: newHistory()}
	clock := clockLibrary(b.k)
	if clock == "" {
		t.Fatal("clocks that step need a C compiler: run `make deps`")
	}
	var masters []*rig.Master
	for range 3 {
		m := b.newMaster("", clock)
		b.masters, masters = append(b.masters, m), append(masters, m.Master)
	}
	cfg := rig.Over(masters)
	r := rig.StartRedlockd(t, cfg, masters)
	const ttl = 4 * time.Minute
	take := func(key, token string) (bool, error) {
		return r.Client().SetNX(t.Context(), key, token, ttl).Result()
	}
	sent := time.Now()
	if ok, err := take("k", "A"); !ok {
		t.Fatalf("taking the lock: %v", err)
	}
	for _, m := range b.masters {
		b.setAhead(m, 10*time.Minute)
	}
	rig.Eventually(t, "the lock is over on the masters, and redlockd grants nothing", func() (bool, string) {
		ok, err := take("another", "t")
		return !ok && err != nil && !masters[0].Holds("k", ""), fmt.Sprint(ok, err)
	})
	rig.Eventually(t, "the masters' marks say so", func() (bool, string) {
		told, marks := 0, ""
		for _, m := range masters {
			mark, _ := m.Client.Get(t.Context(), "redlockd:mark").Result()
			marks += mark + "; "
			if strings.Contains(mark, `"doubt":`) {
				told++
			}
		}
		return told >= 2, marks
	})
	r.Kill()
	r.Restart()
	wantRefused(t, earlier(sent.Add(ttl), time.Now().Add(15*time.Second)), func() (bool, error) { return take("k", "B") })
}

// TestAbsoluteExpiries is C3: times of a client go by redlockd's clock, though that of
// one of the two masters that are left is five hours ahead.
func TestAbsoluteExpiries(t *testing.T) {
	t.Parallel()
	b := &bench{tb: t, k: newKeeper(t), h: newHistory()}
	clock := clockLibrary(b.k)
	if clock == "" {
		t.Fatal("a clock that is wrong needs a C compiler: run `make deps`")
	}
	var masters []*rig.Master
	for _, lib := range []string{"", "", clock} {
		m := b.newMaster("", lib)
		b.masters, masters = append(b.masters, m), append(masters, m.Master)
	}
	b.setAhead(b.masters[2], 5*time.Hour)
	c := rig.StartRedlockd(t, rig.Over(masters), masters).Client()
	masters[0].Kill()
	const long = 2 * time.Minute
	in := func(d time.Duration) int64 { return time.Now().Add(d).UnixMilli() }
	for _, take := range [][]any{
		{"SET", "k1", "A", "NX", "PXAT", in(long)},
		{"SET", "k2", "A", "NX", "EXAT", in(long) / 1000},
		{"EVAL", "return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PXAT', ARGV[2])", 1, "k3", "A", in(long)},
		{"SET", "k4", "A", "NX", "PX", 1000}, {"PEXPIREAT", "k4", in(long)},
		{"SET", "k5", "A", "NX", "PX", 1000}, {"GETEX", "k5", "EXAT", in(long) / 1000},
		{"SET", "k6", "A", "NX", "PX", 1000}, {"EVAL", "return redis.call('PEXPIREAT', KEYS[1], ARGV[1])", 1, "k6", in(long)},
	} {
		if err := c.Do(t.Context(), take...).Err(); err != nil {
			t.Errorf("%v: %v", take, err)
		}
	}
	for n := 1; n <= 6; n++ {
		key := fmt.Sprint("k", n)
		left, err := c.PTTL(t.Context(), key).Result()
		if err != nil || left < long-10*time.Second || left > long+time.Second {
			t.Errorf("%s has %v left, %v; want %v", key, left, err, long)
		}
		ends, err := c.Do(t.Context(), "PEXPIRETIME", key).Int64()
		if off := time.UnixMilli(ends).Sub(time.Now().Add(long)).Abs(); err != nil || off > 10*time.Second {
			t.Errorf("%s ends at %v, %v, which is off by %v", key, time.UnixMilli(ends), err, off)
		}
		if taken, err := c.SetNX(t.Context(), key, "B", time.Minute).Result(); taken || err != nil {
			t.Errorf("B takes A's lock %s: %v, %v", key, taken, err)
		}
	}
	now, err := c.Time(t.Context()).Result()
	if err != nil || time.Since(now).Abs() > time.Minute {
		t.Errorf("TIME is %v, %v", now, err)
	}
	// An extend to a time that has passed is an error and deletes nothing.
	if err := c.Do(t.Context(), "PEXPIREAT", "k1", in(-time.Second)).Err(); err == nil || !strings.HasSuffix(err.Error(), ": it is in the past") {
		t.Errorf("PEXPIREAT in the past: %v", err)
	}
	if got, err := c.Get(t.Context(), "k1").Result(); got != "A" {
		t.Errorf("the lock after that is %q, %v", got, err)
	}
}
