package faults

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// ambush drives locks onto a bare majority: two masters are frozen or cut
// off, and when they are back one of the other three forgets or freezes.
func ambush(s *schedule) func() {
	ms := s.takeMasters(3, nil)
	if ms == nil {
		return nil
	}
	watcher := s.takeRedlockd()
	if watcher < 0 {
		s.free(ms, 0)
		return nil
	}
	away, victim := ms[:2], ms[2]
	cut := s.rng.IntN(3) == 0
	how := s.pickLoss(victim)
	lose := s.drawLoss(how, victim)
	apart := timeout + 200*time.Millisecond + rand64(s.rng, s.b.maxTTL/2)
	// The two may be back for long enough to vote before the third is lost.
	early := rand64(s.rng, []time.Duration{50 * time.Millisecond, 500 * time.Millisecond}[s.rng.IntN(2)])
	return func() {
		s.untilOthersVote(watcher, away)
		s.b.h.fault("ambush: masters %s and %s away for %v (cut %v), then %s of %s",
			away[0].name, away[1].name, apart, cut, how, victim.name)
		began := s.b.h.now()
		absent := s.ofMasters("ambush", away...)
		for _, m := range away {
			s.setAway(m, true, cut)
		}
		if how == "eviction" || how == "old disk" {
			// These take a while of their own.
			time.Sleep(timeout)
			var back sync.WaitGroup
			back.Go(func() {
				time.Sleep(apart)
				for _, m := range away {
					s.setAway(m, false, cut)
				}
			})
			lose()
			back.Wait()
		} else {
			time.Sleep(apart - early)
			for _, m := range away {
				s.setAway(m, false, cut)
			}
			time.Sleep(early)
			// Later ones may be on the masters that have come back.
			s.b.h.bareMajority(began+timeout, s.b.h.now()-early)
			lose()
		}
		s.b.h.fault("ambush: masters %s and %s back", away[0].name, away[1].name)
		s.b.h.end(absent)
		time.Sleep(time.Second)
		s.freeRedlockd(watcher)
		s.free(away, 0)
		s.free(ms[2:], s.b.window)
	}
}

// untilOthersVote waits until a redlockd says that a majority votes without the masters that
// are to be away, since otherwise no lock can be taken meanwhile. It gives up after a while.
func (s *schedule) untilOthersVote(redlockd int, away []*master) {
	c := rig.Direct(s.b.redlockds[redlockd].addr, "")
	defer c.Close()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end) && !s.b.ended(); time.Sleep(100 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		text, err := c.Info(ctx, "redlockd").Result()
		cancel()
		if err != nil {
			continue
		}
		voting := strings.Count(text, ",state=voting,")
		for _, m := range away {
			if _, line, found := strings.Cut(text, ":name="+m.name+","); found {
				line, _, _ = strings.Cut(line, "\r")
				voting -= strings.Count(line, ",state=voting,")
			}
		}
		if voting > len(s.b.masters)/2 {
			return
		}
	}
}

func (s *schedule) setAway(m *master, away, cut bool) {
	switch {
	case cut:
		for _, r := range s.b.redlockds {
			setCut(r.links[s.index(m)], away)
		}
	case away:
		m.Freeze()
	default:
		m.Thaw()
	}
}

func setCut(l *rig.Link, cut bool) {
	if cut {
		l.Cut()
	} else {
		l.Mend()
	}
}

func majorityFrozen(s *schedule) func() {
	if !s.allFree() {
		return nil
	}
	ms := s.takeMasters(3, nil)
	for1 := 100*time.Millisecond + rand64(s.rng, 2*s.b.maxTTL)
	return func() {
		s.b.h.fault("majority frozen: %s for %v", names(ms), for1)
		away := s.ofMasters("majority frozen", ms...)
		for _, m := range ms {
			m.Freeze()
		}
		time.Sleep(for1)
		for _, m := range ms {
			m.Thaw()
		}
		s.b.h.fault("majority frozen: thawed")
		s.b.h.end(away)
		s.free(ms, 0)
	}
}

// majorityRestart restarts three masters empty at once: there is no service
// until the greatest hold is over, and no second holder.
func majorityRestart(s *schedule) func() {
	if !s.allFree() {
		return nil
	}
	ms := s.takeMasters(3, nil)
	return func() {
		s.b.h.fault("majority restart: %s", names(ms))
		away := s.ofMasters("majority restart", ms...)
		defer s.b.endInQuarantine(away)
		for _, m := range ms {
			m.Kill()
		}
		for _, m := range ms {
			m.RestartEmpty()
		}
		s.free(ms, s.b.window)
	}
}

// majorityOfDisks restarts three masters that keep all on their disks, while
// one redlockd stands still: with what they had, or one of them with what it had
// longer than a beat before (M4).
func majorityOfDisks(s *schedule) func() {
	if !s.allFree() {
		return nil
	}
	ms := s.takeMasters(3, func(m *master) bool { return m.fsync == "always" })
	n := s.takeRedlockd()
	old, wait := s.rng.IntN(2) == 0, rand64(s.rng, 300*time.Millisecond)
	return func() {
		s.b.h.fault("majority of disks: %s, one of them an old one: %v", names(ms), old)
		away := s.ofMasters("majority of disks", ms...)
		if n < 0 {
			s.restartDisks(ms, old, wait)
		} else {
			s.b.frozenFor(s.b.redlockds[n], func() { s.restartDisks(ms, old, wait) })
			s.freeRedlockd(n)
		}
		s.b.endInQuarantine(away)
		s.free(ms, s.b.window)
	}
}

func (s *schedule) restartDisks(ms []*master, old bool, wait time.Duration) {
	if old {
		ms[0].CopyDisk()
		time.Sleep(1100*time.Millisecond + wait) // longer than a beat (M4)
	}
	for _, m := range ms {
		m.Kill()
	}
	time.Sleep(wait)
	if old {
		ms[0].RestoreDisk()
	}
	for _, m := range ms {
		m.Restart()
	}
}
