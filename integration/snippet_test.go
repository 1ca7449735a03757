package integration

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// snippetThreads is how many threads the sample of StackExchange.Redis starts.
const snippetThreads = 10

// TestTenThreadsOneToken is the sample of StackExchange.Redis in which ten
// threads take one lock with one value, and each releases it: WATCH and GET,
// and where the value is the own one, MULTI, DEL and EXEC. Each round has
// exactly one take and one release.
func TestTenThreadsOneToken(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 100
	}
	r, masters := StartCluster(t, 5)
	wires := make([]*Wire, snippetThreads)
	for i := range wires {
		wires[i] = DialWire(t, r.Addr)
	}
	const key, token = "snippet", "the same"
	took := map[string]int{}
	started := time.Now()
	for n := range rounds {
		takes := allAtOnce(wires, func(w *Wire) (string, error) {
			replies, err := w.batch([][]string{{"SET", key, token, "EX", "10", "NX"}})
			return fmt.Sprintf("%q", replies), err
		})
		if want := map[string]int{`["+OK\r\n"]`: 1, `["$-1\r\n"]`: snippetThreads - 1}; !maps.Equal(takes, want) {
			t.Fatalf("round %d: takes %v, want one OK and %d null", n, takes, snippetThreads-1)
		}
		releases := allAtOnce(wires, func(w *Wire) (string, error) {
			if n%2 == 1 { // some come late and find nothing
				time.Sleep(rand.N(3 * time.Millisecond))
			}
			return releaseWatched(w, key, token)
		})
		for how, count := range releases {
			took[how] += count
		}
		lost := releases["EXEC is null"] + releases["not its value"]
		if releases["released"] != 1 || lost != snippetThreads-1 {
			t.Fatalf("round %d: releases %v, want one that was released", n, releases)
		}
	}
	t.Logf("%d rounds in %v: %v", rounds, time.Since(started).Round(time.Millisecond), took)
	waitGone(t, masters, key)
}

// releaseWatched is a release as a transaction. It counts as done when EXEC is
// an array with one deletion.
func releaseWatched(w *Wire, key, token string) (string, error) {
	replies, err := w.batch([][]string{{"WATCH", key}, {"GET", key}})
	if err != nil {
		return "", err
	}
	switch held := fmt.Sprintf("$%d\r\n%s\r\n", len(token), token); {
	case replies[0] != "+OK\r\n":
		return fmt.Sprintf("WATCH %q", replies[0]), nil
	case replies[1] == "$-1\r\n":
		replies, err = w.batch([][]string{{"UNWATCH"}})
		if err == nil && replies[0] != "+OK\r\n" {
			return fmt.Sprintf("UNWATCH %q", replies[0]), nil
		}
		return "not its value", err
	case replies[1] != held:
		return fmt.Sprintf("GET %q", replies[1]), nil
	}
	replies, err = w.batch([][]string{{"MULTI"}, {"DEL", key}, {"EXEC"}})
	if err != nil {
		return "", err
	}
	switch {
	case replies[0] != "+OK\r\n" || replies[1] != "+QUEUED\r\n":
		return fmt.Sprintf("MULTI and DEL %q", replies), nil
	case replies[2] == "*-1\r\n":
		return "EXEC is null", nil
	case replies[2] == "*1\r\n:1\r\n":
		return "released", nil
	}
	return fmt.Sprintf("EXEC %q", replies[2]), nil
}

// allAtOnce lets all connections do the same at the same time, and counts what
// came of it.
func allAtOnce(wires []*Wire, do func(*Wire) (string, error)) map[string]int {
	var mu sync.Mutex
	seen := map[string]int{}
	start := make(chan struct{})
	var wg sync.WaitGroup
	for _, w := range wires {
		wg.Go(func() {
			<-start
			outcome, err := do(w)
			if err != nil {
				outcome = err.Error()
			}
			mu.Lock()
			defer mu.Unlock()
			seen[outcome]++
		})
	}
	close(start)
	wg.Wait()
	return seen
}
