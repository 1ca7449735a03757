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
			time.Sleep(200 * time.Millisecond)
			s.free(ms, 0)
		}
	}
}

func names(ms []*master) string {
	out := ""
	for _, m := range ms {
		out += m.name
	}
	return out
}
