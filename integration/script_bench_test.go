package integration

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"
	"time"
)

// BenchmarkScriptRelease compares a release by EVALSHA with one by DELEX: in
// turn on one connection, where the way to the masters and back is what costs,
// and in batches, where it is the work in redlockd. Both kinds go by turns, so
// that a busy machine is busy for both.
func BenchmarkScriptRelease(b *testing.B) {
	r, _ := StartCluster(b, 5)
	w := DialWire(b, r.Addr)
	w.Ask("SCRIPT", "LOAD", releaseScript)
	for _, batch := range []int{1, 100} {
		b.Run(fmt.Sprintf("%d at a time", batch), func(b *testing.B) {
			keys := make([]string, batch)
			for i := range keys {
				keys[i] = fmt.Sprintf("release:%d", i)
			}
			const token = "cd97ffb1-2a7b-4d8f-9d0e-1c7b2f6a9b52"
			sum := sha1.Sum([]byte(releaseScript))
			sha := hex.EncodeToString(sum[:])
			contenders := []func(key string) []string{
				func(key string) []string { return []string{"EVALSHA", sha, "1", key, token} },
				func(key string) []string { return []string{"DELEX", key, "IFEQ", token} },
			}
			var times [2][]time.Duration
			released := func(kind int) time.Duration {
				var takes, frees [][]string
				for _, key := range keys {
					takes = append(takes, []string{"SET", key, token, "NX", "PX", "30000"})
					frees = append(frees, contenders[kind](key))
				}
				mustAnswer(b, w, takes, "+OK\r\n")
				start := time.Now()
				mustAnswer(b, w, frees, ":1\r\n")
				return time.Since(start)
			}
			for n := range 20 {
				released(n % 2)
			}
			for b.Loop() {
				for n := range 20 {
					// Both come first as often.
					kind := (n + n/2) % 2
					times[kind] = append(times[kind], released(kind))
				}
			}
			evalsha, delex := median(times[0]), median(times[1])
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(evalsha.Nanoseconds())/float64(batch)/1000, "µs/EVALSHA")
			b.ReportMetric(float64(delex.Nanoseconds())/float64(batch)/1000, "µs/DELEX")
			b.ReportMetric(float64(evalsha)/float64(delex), "EVALSHA/DELEX")
		})
	}
}

func mustAnswer(b *testing.B, w *Wire, commands [][]string, want string) {
	b.Helper()
	replies, err := w.batch(commands)
	if err != nil {
		b.Fatal(err)
	}
	for i, got := range replies {
		if got != want {
			b.Fatalf("%q: %q, want %q", commands[i], got, want)
		}
	}
}

func median(list []time.Duration) time.Duration {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}
