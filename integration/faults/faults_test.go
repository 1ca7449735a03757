package faults

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestFaults is P1, P2, P4 and P5 under everything that happens to real
// masters.
func TestFaults(t *testing.T) {
	t.Parallel()
	p := plan{length: 15 * time.Second, clients: 24, redlockds: 3, minTTL: 300 * time.Millisecond,
		maxTTL: 1100 * time.Millisecond, clocks: true}
	if m := number("MINUTES", 0); m > 0 {
		p.length, p.clients = time.Duration(m)*time.Minute, 64
	}
	p.clients = number("CLIENTS", p.clients)
	seed, again := seed(), readSchedule(t)
	if again != nil {
		seed, p.length, p.clients = again.seed, again.plan.length, again.plan.clients
	}
	if seed%3 == 0 {
		p.maxTTL = 4 * time.Second
	}
	p.differ = seed%4 == 1
	b := newBench(t, seed, p)
	b.recordPlan()
	s, clocks := newSchedule(b), b.masters[4].clock != ""
	if again != nil {
		b.run(func() { s.repeat(again) })
		t.Logf("faults repeated: %v", s.ran)
		return
	}
	s.over = func() bool {
		now := b.h.now()
		return b.ended() || now > b.length && (len(b.missing(s, clocks)) == 0 || now > 4*b.length)
	}
	b.run(s.run)
	t.Logf("faults: %v", s.ran)
	if missing := b.missing(s, clocks); len(missing) > 0 && !t.Failed() {
		t.Errorf("%v were not enough: %s", 4*b.length, strings.Join(missing, "; "))
	}
}

// missing keeps the bench from passing by doing nothing: it is what must happen
// in a run and has not happened yet, with steps of clocks where there are clocks
// that step. A busy machine takes longer for it.
func (b *bench) missing(s *schedule, clocks bool) (out []string) {
	want := func(n, atLeast int, of string) {
		if n < atLeast {
			out = append(out, fmt.Sprintf("%s: %d times, want %d", of, n, atLeast))
		}
	}
	minutes := b.length.Minutes()
	want(b.h.count("acquire yes"), int(minutes*300/b.maxTTL.Seconds()), "a lock is taken")
	want(b.h.onBares(), int(2*minutes), "a lock loses a master of its bare majority")
	for _, k := range append(kinds(), whole()...) {
		// Each loss is followed by the greatest hold, so the longer that is the
		// fewer there are.
		least := int(minutes / b.window.Seconds())
		switch {
		case k.name == "ambush":
			least = max(2, int(6*minutes/b.window.Seconds()))
		case k.name == "freeze redlockd":
			least = max(3, int(6*minutes))
		case k.name == "majority restart", !clocks && strings.HasPrefix(k.name, "clock"):
			continue
		}
		want(s.counted(k.name), least, "fault "+k.name)
	}
	return out
}
