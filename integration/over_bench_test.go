package integration

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkOverRelease compares releases through the redlockd that told their clients,
// where the masters need not look at an expiry, with those through another one, where
// they do (V15). Both kinds go by turns.
func BenchmarkOverRelease(b *testing.B) {
	masters := StartMasters(b, 5)
	r := StartRedlockd(b, overFive(masters), masters)
	other := JoinRedlockd(b, overFive(masters))
	wires := []*Wire{DialWire(b, r.Addr), DialWire(b, other.Addr)}
	for _, batch := range []int{1, 100} {
		b.Run(fmt.Sprintf("%d at a time", batch), func(b *testing.B) {
			var takes, frees [][]string
			for i := range batch {
				key := fmt.Sprintf("over:%d", i)
				takes = append(takes, []string{"SET", key, "t", "NX", "PX", "30000"})
				frees = append(frees, []string{"DELEX", key, "IFEQ", "t"})
			}
			var times [2][]time.Duration
			for b.Loop() {
				for n := range 20 {
					kind := (n + n/2) % 2
					mustAnswer(b, wires[0], takes, "+OK\r\n")
					start := time.Now()
					mustAnswer(b, wires[kind], frees, ":1\r\n")
					times[kind] = append(times[kind], time.Since(start))
				}
			}
			here, there := median(times[0]), median(times[1])
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(here.Nanoseconds())/float64(batch)/1000, "µs/here")
			b.ReportMetric(float64(there)/float64(here), "there/here")
		})
	}
}
