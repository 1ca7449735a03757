package faults

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// startDisks starts five masters, the first few of which keep every write on
// their disks before they answer it.
func startDisks(t *testing.T, disks int) (masters []*rig.Master) {
	for i := range 5 {
		var args []string
		if i < disks {
			args = []string{"--appendonly", "yes", "--appendfsync", "always"}
		}
		masters = append(masters, rig.StartMaster(t, args...))
	}
	return masters
}

// TestOldDiskWhileFrozen is M4: a master comes back with its disk of more than a
// beat before, without a lock that was taken since, and is first seen by a
// redlockd that stood still all the time, for which nothing is missing.
func TestOldDiskWhileFrozen(t *testing.T) {
	t.Parallel()
	masters := startDisks(t, 1)
	cfg := rig.Over(masters)
	cfg.Timeout, cfg.RetryBudget, cfg.MaxTTL = timeout, retryBudget, 10*time.Second
	frozen := rig.StartRedlockd(t, cfg, masters)
	// The other one reaches the last two over links.
	later := []*rig.Link{rig.NewLink(t, masters[3].Addr), rig.NewLink(t, masters[4].Addr)}
	linked := cfg
	linked.Masters = append(slices.Clone(cfg.Masters[:3]), later[0].Addr, later[1].Addr)
	other := rig.JoinRedlockd(t, linked)
	other.WaitVoting(masters...)
	first, second := frozen.Client(), other.Client()
	ctx, disk := context.Background(), masters[0]

	other.Freeze()
	time.Sleep(1500 * time.Millisecond) // the beats of now are the first one's
	frozen.Freeze()
	disk.CopyDisk()
	copied := time.Now()
	other.Thaw()
	for _, l := range later {
		l.Cut()
	}
	var sent time.Time
	rig.Eventually(t, "the lock is taken", func() (bool, string) {
		sent = time.Now()
		ok, err := second.SetNX(ctx, "k", "A", cfg.MaxTTL).Result()
		return ok, fmt.Sprint(err)
	})
	if without := rig.WaitHeld(masters[:3], "k", "A", rig.Patience); len(without) > 0 {
		t.Fatalf("the lock is not on %v", without)
	}
	time.Sleep(time.Until(copied.Add(1500 * time.Millisecond)))
	other.Freeze()
	disk.Kill()
	disk.RestoreDisk()
	disk.Restart()
	if disk.Holds("k", "") {
		t.Fatal("the disk of before has the lock")
	}
	frozen.Thaw()
	time.Sleep(500 * time.Millisecond) // it has looked
	other.Thaw()
	for _, l := range later {
		l.Mend()
	}
	wantRefused(t, sent.Add(cfg.MaxTTL-time.Second), func() (bool, error) { return first.SetNX(ctx, "k", "B", time.Second).Result() })
}

// wantRefused tries to take a lock that is held, until a time at which it still
// is.
func wantRefused(t *testing.T, until time.Time, try func() (bool, error)) {
	t.Helper()
	last := error(nil)
	if time.Now().After(until) {
		t.Fatal("all took so long that the TTL of the holder is over")
	}
	for n := 0; time.Now().Before(until); n++ {
		ok, err := try()
		if ok {
			t.Fatalf("TWO HOLDERS: a lock that is held was given to another at try %d; before: %v", n, last)
		}
		last = err
		time.Sleep(20 * time.Millisecond) // the pace of the tries
	}
	t.Logf("refused to the end, at last with: %v", last)
}

// TestMajorityOfDisks is M4's exemption: masters that lost nothing, three of
// five, vote at once after a restart, beside any number of redlockd. RESTARTS
// says how often.
func TestMajorityOfDisks(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 4} {
		t.Run(fmt.Sprint(n, " redlockd"), func(t *testing.T) {
			t.Parallel()
			masters := startDisks(t, 3)
			cfg := rig.Over(masters)
			cfg.Timeout, cfg.RetryBudget = timeout, retryBudget
			rs := []*rig.Redlockd{rig.StartRedlockd(t, cfg, masters)}
			for range n - 1 {
				rs = append(rs, rig.JoinRedlockd(t, cfg))
			}
			for _, r := range rs {
				r.WaitVoting(masters...)
			}
			for round := range number("RESTARTS", 1) {
				began := time.Now()
				for _, m := range masters[:3] {
					m.Kill()
				}
				for _, m := range masters[:3] {
					m.Restart()
				}
				for i, r := range rs {
					if got := waitAllVote(r, len(masters), began.Add(10*time.Second)); got != len(masters) {
						t.Fatalf("restart %d: %d masters vote for redlockd %d %v after the restart, want all", round+1, got, i, time.Since(began))
					}
				}
				t.Logf("restart %d: all vote after %v", round+1, time.Since(began).Round(time.Millisecond))
			}
		})
	}
}

// waitAllVote waits until so many masters vote for a redlockd, or it is too
// late, and returns how many do.
func waitAllVote(r *rig.Redlockd, want int, until time.Time) (voting int) {
	for {
		voting, _ = strconv.Atoi(r.Info("masters_voting"))
		if voting == want || time.Now().After(until) {
			return voting
		}
		time.Sleep(20 * time.Millisecond)
	}
}
