package faults

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// wantNothingLeft is P5 and P2: the greatest hold later nothing is left. A
// clock that went back a while ago makes its copies last that much longer.
func (b *bench) wantNothingLeft() {
	time.Sleep(b.window)
	for _, m := range b.masters {
		var keys []string
		var err error
		for end := time.Now().Add(greatestStep); ; time.Sleep(100 * time.Millisecond) {
			keys, err = m.Client.Keys(context.Background(), "*").Result()
			if err == nil && len(keys) == 1 && keys[0] == "redlockd:mark" {
				break
			}
			if m.aheadFile == "" || time.Now().After(end) {
				b.tb.Errorf("when all is over master %s has %q, %v; want only redlockd's mark", m.name, keys, err)
				break
			}
		}
	}
}

// check reads the histories.
func (b *bench) check() {
	var mu sync.Mutex
	var wg sync.WaitGroup
	gate := make(chan struct{}, 2)
	checked, certain, stale := 0, 0, 0
	for _, key := range slices.Sorted(maps.Keys(b.h.keys)) {
		calls := bySent(b.h.keys[key])
		gate <- struct{}{}
		wg.Go(func() {
			defer func() { <-gate }()
			for _, c := range calls {
				c.frozen = c.frozen || b.h.stoodStill(c.sent, c.got)
			}
			spans := spansOf(calls, bySending)
			mu.Lock()
			checked++
			certain += len(spans)
			mu.Unlock()
			if x, y, found := twoHolders(spansOf(calls, byArrival)); found {
				b.h.violation("TWO HOLDERS of %s, who count from the arrival of their OK:\n  %v\n  %v\n%s", key,
					x.by, y.by, b.story(key, x.start-5*time.Second, y.start+time.Second))
			}
			if x, y, found := twoHolders(spans); found {
				b.h.violation("TWO HOLDERS of %s from %.3f to %.3f:\n  %v\n  %v\n%s", key, y.start.Seconds(),
					min(x.end, y.end).Seconds(), x.by, y.by, b.story(key, y.start-5*time.Second, y.start+time.Second))
			}
			for _, c := range denials(calls, spans) {
				b.h.violation("DENIED while somebody held %s for certain: %v", key, c)
			}
			switch {
			case linearizable(calls, unchecked) != porcupine.Ok:
				b.h.violation("porcupine: %s is not one lock\n%s", key, b.story(key, 0, time.Hour))
			case b.old > 0:
				// With a required master an attempt that is about to be lost
				// refuses others there, as a lock does (V11).
			case linearizable(calls, byHolders) == porcupine.Ok:
			case linearizable(calls, byCopies) == porcupine.Ok:
				mu.Lock()
				stale++
				mu.Unlock()
			default:
				b.h.violation("porcupine: %s was refused though nobody held it\n%s", key, b.story(key, 0, time.Hour))
			}
		})
	}
	wg.Wait()
	b.tb.Logf("%d histories; calls: %v", checked, b.h.counts)
	b.tb.Logf("%d times a client was a certain holder, %d of them on a bare majority of which one master was lost", certain, b.h.onBares())
	b.tb.Logf("in %d histories somebody was refused by copies that a release had not reached", stale)
	if stale > 1+checked/100 {
		b.tb.Errorf("in %d of %d histories copies of a released lock refused, want 1 %% at most", stale, checked)
	}
	for i, v := range b.h.violations {
		if i == 12 {
			b.tb.Errorf("... and %d violations more", len(b.h.violations)-i)
			break
		}
		b.tb.Errorf("SEED=%d: %s", b.seed, v)
	}
}

// story is all that is known about a key in a time.
func (b *bench) story(key string, from, to time.Duration) string {
	var out []string
	calls := bySent(b.h.keys[key])
	for _, c := range calls {
		if c.got >= from && c.sent <= to {
			out = append(out, c.String())
		}
	}
	if len(calls) > 0 {
		out = append(out, b.h.near(max(from, calls[0].sent), min(to, calls[len(calls)-1].got))...)
	}
	out = append(out, b.traceOf(key)...)
	slices.Sort(out)
	return strings.Join(out, "\n")
}
