package integration

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// TestListings lists 2000 locks with SCAN over real masters, one of which is
// killed in the middle of its keys: each lock is listed.
func TestListings(t *testing.T) {
	t.Parallel()
	masters := rig.StartMasters(t, 5)
	cfg := rig.Over(masters)
	cfg.Timeout = unhurried
	r := rig.StartRedlockd(t, cfg, masters)
	client, ctx := r.Client(), context.Background()
	want := make([]string, 2000)
	pipe := client.Pipeline()
	for i := range want {
		want[i] = fmt.Sprintf("locks:%04d", i)
		pipe.SetNX(ctx, want[i], "secret", time.Minute)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		t.Fatal(err)
	}
	var got []string
	for cursor, steps := uint64(0), 0; ; steps++ {
		keys, next, err := client.Scan(ctx, cursor, "locks:*", 100).Result()
		if err != nil {
			t.Fatalf("step %d: %v", steps, err)
		}
		if got = append(got, keys...); next == 0 {
			break
		}
		if cursor = next; steps == 3 {
			masters[0].Kill()
			rig.Eventually(t, "four vote", func() (bool, string) {
				n := r.Metric("redlockd_masters_voting")
				return n == 4, fmt.Sprint(n)
			})
		}
	}
	slices.Sort(got)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("%d locks are listed, want %d", len(got), len(want))
	}
	if n, err := client.DBSize(ctx).Result(); n != 2000 || err != nil {
		t.Errorf("DBSIZE is %d, %v", n, err)
	}
}

// TestLocksByRedisCLI is what somebody does at 3 a.m.
func TestLocksByRedisCLI(t *testing.T) {
	t.Parallel()
	masters := rig.StartMasters(t, 3)
	r := rig.StartRedlockd(t, rig.Over(masters), masters)
	host, port, _ := strings.Cut(r.Addr, ":")
	cli := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(rig.Program(t, "redis-cli"), append([]string{"-h", host, "-p", port}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("redis-cli %s: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	client, ctx := r.Client(), context.Background()
	if err := client.Do(ctx, "CLIENT", "SETNAME", "billing-7").Err(); err != nil {
		t.Fatal(err)
	}
	if err := client.Do(ctx, "SET", "orders", "secret", "NX", "PX", "60000").Err(); err != nil {
		t.Fatal(err)
	}
	masters[2].Kill()
	rig.Eventually(t, "two vote", func() (bool, string) {
		n := r.Metric("redlockd_masters_voting")
		return n == 2, fmt.Sprint(n)
	})
	for _, protocol := range []string{"-2", "-3"} {
		list, who := cli(protocol, "LOCKS", "LIST", "ord*"), cli(protocol, "LOCKS", "WHO", "orders")
		for _, want := range []string{"orders", "held", "billing-7", "taken-here"} {
			if !strings.Contains(list, want) || !strings.Contains(who, want) {
				t.Errorf("%s: LIST %s\nWHO %s\nlack %s", protocol, list, who, want)
			}
		}
		if !strings.Contains(who, "silent") || strings.Contains(list+who, "secret") {
			t.Errorf("%s: %s", protocol, who)
		}
	}
	if got := cli("LOCKS", "FORCE", "orders"); got != "1" {
		t.Errorf("LOCKS FORCE: %s", got)
	}
	rig.Eventually(t, "the log says who did it", func() (bool, string) { // it is read from a pipe
		text := r.Log()
		return strings.Contains(text, "a lock was removed by LOCKS FORCE") && strings.Contains(text, "holder_name=billing-7"), text
	})
	if got := cli("LOCKS", "WHO", "orders"); !strings.Contains(got, "free") {
		t.Errorf("after that: %s", got)
	}
	if got := cli("--scan"); got != "" {
		t.Errorf("listed: %s", got)
	}
	rig.Eventually(t, "no lock is held", func() (bool, string) {
		n := r.Metric("redlockd_held_locks")
		return n == 0, fmt.Sprint(n)
	})
}
