package faults

import (
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// linkFault disturbs the links of one redlockd, or of all, to one or two
// masters.
func linkFault(how string) func(*schedule) func() {
	return func(s *schedule) func() {
		ms := s.takeMasters(1+s.rng.IntN(2), nil)
		if ms == nil {
			return nil
		}
		which := s.rng.IntN(len(s.b.redlockds) + 1)
		latency := 10*time.Millisecond + rand64(s.rng, 400*time.Millisecond)
		for1 := 100*time.Millisecond + rand64(s.rng, 2*s.b.maxTTL)
		each := func(f func(*rig.Link)) {
			for n, r := range s.b.redlockds {
				for _, m := range ms {
					if n == which || which == len(s.b.redlockds) {
						f(r.links[s.index(m)])
					}
				}
			}
		}
		return func() {
			s.b.h.fault("%s: redlockd %d (%d is all) to %s, latency %v, for %v", how, which, len(s.b.redlockds), names(ms), latency, for1)
			whose := which
			if which == len(s.b.redlockds) {
				whose = everyone
			}
			late := map[string]time.Duration{"slow": latency, "stall": forever}[how]
			t := s.b.h.begin(trouble{what: how, redlockd: whose, masters: s.indices(ms), late: late})
			switch how {
			case "drop":
				each((*rig.Link).Drop)
				for1 = 100 * time.Millisecond
			case "cut":
				each((*rig.Link).Cut)
			case "stall":
				each((*rig.Link).Stall)
			case "slow":
				each(func(l *rig.Link) { l.Slow(latency) })
			}
			time.Sleep(for1)
			each(func(l *rig.Link) { l.Mend(); l.Slow(0) })
			s.b.h.fault("%s: over", how)
			s.b.h.end(t)
			time.Sleep(200 * time.Millisecond)
			s.free(ms, 0)
		}
	}
}

// oneWay makes one redlockd's way to most masters slow in one direction, by
// about as much as an attempt may take: what it gave up arrives, or is answered
// when it counts no more.
func oneWay(s *schedule) func() {
	if !s.allFree() {
		return nil
	}
	ms := s.takeMasters(3+s.rng.IntN(3), nil)
	which, to := s.rng.IntN(len(s.b.redlockds)), s.rng.IntN(4) > 0
	latency := timeout/2 + rand64(s.rng, timeout)
	for1 := time.Second + rand64(s.rng, 2*s.b.maxTTL)
	return func() {
		s.b.h.fault("one way: redlockd %d and %s, towards the masters %v, latency %v, for %v", which, names(ms), to, latency, for1)
		slow, late := (*rig.Link).SlowFrom, time.Duration(0)
		if to {
			slow, late = (*rig.Link).SlowTo, latency
		}
		t := s.b.h.begin(trouble{what: "one way", redlockd: which, masters: s.indices(ms), late: late})
		links := s.b.redlockds[which].links
		for _, i := range s.indices(ms) {
			slow(links[i], latency)
		}
		time.Sleep(for1)
		for _, i := range s.indices(ms) {
			slow(links[i], 0)
		}
		s.b.h.fault("one way: over")
		s.b.h.end(t)
		s.free(ms, 0)
	}
}

func names(ms []*master) string {
	out := ""
	for _, m := range ms {
		out += m.name
	}
	return out
}
