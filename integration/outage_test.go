package integration

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestOutageIsLogged: when a majority of the masters is killed, the log says that no lock can
// be taken, and why; and when locks can be taken again, how long that was.
func TestOutageIsLogged(t *testing.T) {
	t.Parallel()
	masters := make([]*Master, 5)
	for i := range masters {
		// So they vote again within seconds.
		masters[i] = StartMaster(t, "--appendonly", "yes", "--appendfsync", "always")
	}
	cfg := overFive(masters)
	cfg.Timeout = 200 * time.Millisecond
	r := StartRedlockd(t, cfg, masters)
	if log := r.Log(); strings.Contains(log, "[ERROR]") || strings.Contains(log, "votes again") {
		t.Errorf("a good start says\n%s", log)
	}
	began := time.Now()
	killThree(t, r, masters)
	if got := r.Metric("redlockd_ready"); got != 0 {
		t.Errorf("redlockd_ready is %v without a majority", got)
	}
	for _, m := range masters[:3] {
		m.Restart()
	}
	again := loggedBy(t, r, `\[INFO\]  redlockd: a majority of the masters votes again: voting=[345] masters=5 after=(\S+)`)
	lasted, err := time.ParseDuration(again[1])
	if most := time.Since(began); err != nil || lasted < time.Second || lasted > most {
		t.Errorf("it is said to have lasted %s (%v), and was no longer than %v", again[1], err, most)
	}
	if got := r.Metric("redlockd_ready"); got != 1 {
		t.Errorf("redlockd_ready is %v with a majority", got)
	}
	if n := strings.Count(r.Log(), "[ERROR]"); n != 1 {
		t.Errorf("%d lines are errors, want one", n)
	}
}

// TestWaitsInTheLogAreTrue: what a master that was lost has to wait is not known while too many
// others are down, so it is logged again when it is known.
func TestWaitsInTheLogAreTrue(t *testing.T) {
	t.Parallel()
	r, masters := StartCluster(t, 5)
	if err := r.Client().SetNX(context.Background(), "k", "me", time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	killThree(t, r, masters)
	for _, m := range masters[:3] {
		m.Restart()
	}
	eventually(t, "the log tells the waits that /readyz tells", func() (bool, string) {
		for _, name := range []string{"a", "b", "c"} {
			lines := regexp.MustCompile(`master may not vote: db=0 master=`+name+` .* wait=(\S+)`).FindAllStringSubmatch(r.Log(), -1)
			if len(lines) == 0 {
				return false, "no line about " + name
			}
			told, err := time.ParseDuration(lines[len(lines)-1][1])
			if err != nil || told < 5*time.Minute || told > 7*time.Minute {
				return false, fmt.Sprintf("%s is said to wait %v (%v), want 6m", name, told, err)
			}
			if len(lines) > 2 {
				t.Fatalf("%d lines about %s:\n%s", len(lines), name, r.Log())
			}
		}
		return true, ""
	})
}

// killThree kills three masters of five, and requires the lines about it.
func killThree(t *testing.T, r *Redlockd, masters []*Master) {
	t.Helper()
	for _, m := range masters[:3] {
		m.Kill()
	}
	why := loggedBy(t, r, `\[ERROR\] redlockd: no majority of the masters votes, no lock can be taken: voting=2 needed=3 masters="(.*)"`)[1]
	for i, m := range masters[:3] {
		name := string(rune('a' + i))
		if !strings.Contains(why, name+" down: ") {
			t.Errorf("does not say that %s is down: %s", name, why)
		}
		loggedBy(t, r, `\[WARN\]  redlockd.quorum: master is down: db=0 master=`+name+` address=`+regexp.QuoteMeta(m.Addr)+` reason=`)
	}
}

// loggedBy waits until redlockd has logged a line that matches, and returns its groups.
func loggedBy(t *testing.T, r *Redlockd, line string) []string {
	t.Helper()
	var found []string
	eventually(t, "redlockd logs "+line, func() (bool, string) {
		found = regexp.MustCompile(line).FindStringSubmatch(r.Log())
		return found != nil, "does not"
	})
	return found
}
