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
		b.masters, b.ahead, masters = append(b.masters, m), append(b.ahead, 0), append(masters, m.Master)
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
			if f := strings.Fields(mark); len(f) > 19 && f[19] != "0" {
				told++
			}
		}
		return told >= 2, marks
	})
	r.Kill()
	r.Restart()
	wantRefused(t, earlier(sent.Add(ttl), time.Now().Add(15*time.Second)), func() (bool, error) { return take("k", "B") })
}
