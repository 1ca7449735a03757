package faults

import (
	"strings"
	"testing"
	"time"
)

// TestFaults is P1, P2, P4 and P5 under everything that happens to real
// masters.
func TestFaults(t *testing.T) {
	p := plan{length: 30 * time.Second, clients: 24, redlockds: 3, minTTL: 300 * time.Millisecond,
		maxTTL: 1100 * time.Millisecond, clocks: true}
	if m := number("MINUTES", 0); m > 0 {
		p.length, p.clients = time.Duration(m)*time.Minute, 64
	}
	p.clients = number("CLIENTS", p.clients)
	seed := seed()
	if seed%3 == 0 {
		p.maxTTL = 4 * time.Second
	}
	b := newBench(t, seed, p)
	s := newSchedule(b)
	b.run(s.run)
	b.wantCounts(s)
}

// wantCounts keeps the bench from passing by doing nothing.
func (b *bench) wantCounts(s *schedule) {
	b.tb.Logf("faults: %v", s.ran)
	minutes := b.length.Minutes()
	if got, want := b.h.counts["acquire yes"], int(minutes*300/b.maxTTL.Seconds()); got < want {
		b.tb.Errorf("%d locks were taken, want %d", got, want)
	}
	if want := int(2 * minutes); b.h.bare < want {
		b.tb.Errorf("%d locks lost a master of their bare majority, want %d", b.h.bare, want)
	}
	for _, k := range append(kinds(), whole()...) {
		// Each loss is followed by the greatest hold, so the longer that is the
		// fewer there are.
		want := int(minutes / b.window.Seconds())
		switch {
		case k.name == "ambush":
			want = max(2, int(6*minutes/b.window.Seconds()))
		case k.name == "freeze redlockd":
			want = max(3, int(6*minutes))
		case k.name == "majority restart", b.masters[4].aheadFile == "" && strings.HasPrefix(k.name, "clock"):
			continue
		}
		if s.ran[k.name] < want {
			b.tb.Errorf("fault %q: %d times, want %d", k.name, s.ran[k.name], want)
		}
	}
}
