package integration

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// BenchmarkOver measures how long after its TTL a lock that nobody releases is told to be over, by
// the redlockd that granted it, by another one, and by one that has just started; and when the
// next client gets it (V15).
func BenchmarkOver(b *testing.B) {
	masters := StartMasters(b, 5)
	cfg := overFive(masters)
	cfg.Timeout = 50 * time.Millisecond // the default
	granter := StartRedlockd(b, cfg, masters)
	other := JoinRedlockd(b, cfg)
	for _, ttl := range []time.Duration{100 * time.Millisecond, time.Second, 30 * time.Second} {
		b.Run(ttl.String(), func(b *testing.B) {
			var after [4]time.Duration
			for b.Loop() {
				fresh := JoinRedlockd(b, cfg)
				DialWire(b, fresh.Addr).Ask("GET", "over") // answered once it has a majority
				w := DialWire(b, granter.Addr)
				sent := time.Now()
				if got := w.Ask("SET", "over", "t", "NX", "PX", fmt.Sprint(ttl.Milliseconds())); got != "+OK\r\n" {
					b.Fatalf("%q", got)
				}
				var all sync.WaitGroup
				for i, addr := range []string{granter.Addr, other.Addr, fresh.Addr, other.Addr} {
					asks, over := []string{"GET", "over"}, "$-1\r\n"
					if i == 3 {
						asks, over = []string{"SET", "over", "u", "NX", "PX", "1"}, "+OK\r\n"
					}
					w := DialWire(b, addr)
					all.Go(func() {
						for time.Sleep(ttl - 20*time.Millisecond); w.Ask(asks...) != over; {
							time.Sleep(time.Millisecond / 2)
						}
						after[i] += time.Since(sent) - ttl
					})
				}
				all.Wait()
				fresh.Stop()
			}
			b.ReportMetric(0, "ns/op")
			for i, what := range []string{"granter", "other", "started", "taken"} {
				b.ReportMetric(float64(after[i].Microseconds())/1000/float64(b.N), "ms/"+what)
			}
		})
	}
}
