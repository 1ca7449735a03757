package faults

import (
	"net"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// kind is one kind of fault. prepare draws what it needs and takes it, or
// returns nil where that is not free; what it returns runs the fault.
type kind struct {
	name    string
	weight  int
	prepare func(s *schedule) func()
}

// losses are the ways in which a master forgets its locks; a step of its clock
// counts double, since only one forwards ends them.
var losses = []string{"empty restart", "flushall", "promotion", "eviction", "old disk", "clock step", "clock step",
	"clock fast"}

// whole are the faults that need all masters, and so come in turns of their
// own.
func whole() []kind {
	return []kind{
		{"ambush", 10, ambush},
		{"majority frozen", 3, majorityFrozen},
		{"majority restart", 1, majorityRestart},
		{"replace master", 2, replaceMaster},
	}
}

func kinds() []kind {
	return []kind{
		{"empty restart", 1, oneLoss("empty restart")},
		{"flushall", 1, oneLoss("flushall")},
		{"promotion", 1, oneLoss("promotion")},
		{"eviction", 1, oneLoss("eviction")},
		{"old disk", 1, oneLoss("old disk")},
		{"clock step", 1, oneLoss("clock step")},
		{"clock fast", 1, oneLoss("clock fast")},
		{"aof restart", 2, aofRestart},
		{"disk full, ends", 1, diskFull("always")},
		{"disk full, refuses", 2, diskFull("everysec")},
		{"memory full", 2, memoryFull},
		{"freeze master", 6, freezeMaster},
		{"freeze redlockd", 5, freezeRedlockd},
		{"kill redlockd", 2, killRedlockd},
		{"slow", 4, linkFault("slow")},
		{"stall", 4, linkFault("stall")},
		{"cut", 4, linkFault("cut")},
		{"drop", 4, linkFault("drop")},
		{"script flush", 3, harmless("SCRIPT", "FLUSH")},
		{"client kill", 3, harmless("CLIENT", "KILL", "TYPE", "normal")},
	}
}

// greatestStep is how far a clock steps at most.
const greatestStep = 6 * time.Second

// lose makes one master forget, in the way that how names. The random numbers
// are drawn before, so that a seed repeats.
func (s *schedule) lose(how string, m *master, peer *master, wait, ahead time.Duration) {
	s.b.h.fault("%s: master %s (peer %s, %v, %v)", how, m.name, peer.name, wait, ahead)
	defer s.b.h.fault("%s: master %s done", how, m.name)
	switch how {
	case "empty restart":
		m.Kill()
		time.Sleep(wait)
		m.RestartEmpty()
	case "flushall":
		s.b.do(m, "FLUSHALL")
	case "promotion":
		host, port, _ := net.SplitHostPort(peer.Addr)
		s.b.do(m, "REPLICAOF", host, port)
		time.Sleep(wait * 2)
		s.b.do(m, "REPLICAOF", "NO", "ONE")
	case "eviction":
		s.b.do(m, "CONFIG", "SET", "maxmemory", "1gb", "maxmemory-policy", "allkeys-random")
		time.Sleep(1500 * time.Millisecond) // an operator's change is seen within a second (M4)
		s.b.do(m, "CONFIG", "SET", "maxmemory", "1")
		time.Sleep(wait)
		s.b.do(m, "CONFIG", "SET", "maxmemory", "0", "maxmemory-policy", "noeviction")
	case "old disk":
		old := m.Dir + ".old"
		_ = exec.Command("cp", "-r", m.Dir, old).Run()
		time.Sleep(1100*time.Millisecond + wait) // longer than a beat (M4)
		m.Kill()
		_ = os.RemoveAll(m.Dir)
		_ = os.Rename(old, m.Dir)
		m.Restart()
	case "clock step":
		s.b.setAhead(m, m.ahead+ahead)
	case "clock fast":
		// By 3 % to 53 %: the drift that is allowed for is 1 %.
		rate := 0.03 + wait.Seconds()
		for began, before := time.Now(), time.Duration(0); before < 2*time.Second; {
			time.Sleep(2 * time.Millisecond)
			gone := time.Since(began)
			s.b.setAhead(m, m.ahead+time.Duration(float64(gone-before)*rate))
			before = gone
		}
	}
}

// pickLoss draws a way to forget that the master has.
func (s *schedule) pickLoss(m *master) string {
	for {
		how := losses[s.rng.IntN(len(losses))]
		if s.can(how, m) {
			return how
		}
	}
}

func (s *schedule) can(how string, m *master) bool {
	switch how {
	case "old disk":
		return m.fsync == "always"
	case "clock step", "clock fast":
		return m.aheadFile != ""
	}
	return true
}

// drawLoss draws the details of a loss, and returns it ready to run.
func (s *schedule) drawLoss(how string, m *master) func() {
	peer := s.b.masters[s.rng.IntN(len(s.b.masters))]
	for peer == m {
		peer = s.b.masters[s.rng.IntN(len(s.b.masters))]
	}
	wait := rand64(s.rng, 500*time.Millisecond)
	ahead := 300*time.Millisecond + rand64(s.rng, greatestStep-300*time.Millisecond)
	if s.rng.IntN(3) == 0 {
		ahead = -ahead
	}
	return func() { s.count(how); s.lose(how, m, peer, wait, ahead) }
}

// oneLoss makes one master forget, with an observer held still, so that a
// step of a clock is watched.
func oneLoss(how string) func(*schedule) func() {
	return func(s *schedule) func() {
		ms := s.takeMasters(1, func(m *master) bool { return s.can(how, m) })
		if ms == nil {
			return nil
		}
		watcher := s.takeRedlockd()
		if watcher < 0 {
			s.free(ms, 0)
			return nil
		}
		lose := s.drawLoss(how, ms[0])
		return func() {
			lose()
			time.Sleep(time.Second)
			s.freeRedlockd(watcher)
			s.free(ms, s.b.window)
		}
	}
}

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
	early := rand64(s.rng, 100*time.Millisecond)
	return func() {
		s.b.h.fault("ambush: masters %s and %s away for %v (cut %v), then %s of %s",
			away[0].name, away[1].name, apart, cut, how, victim.name)
		began := s.b.h.now()
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
		time.Sleep(time.Second)
		s.freeRedlockd(watcher)
		s.free(away, 0)
		s.free(ms[2:], s.b.window)
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

func aofRestart(s *schedule) func() {
	ms := s.takeMasters(1, func(m *master) bool { return m.fsync == "always" })
	if ms == nil {
		return nil
	}
	wait := rand64(s.rng, 300*time.Millisecond)
	return func() {
		s.b.h.fault("aof restart: master %s", ms[0].name)
		ms[0].Kill()
		time.Sleep(wait)
		ms[0].Restart()
		// It may end in quarantine, when a beat went by.
		s.free(ms, s.b.window)
	}
}

// diskFull fills the disk of a master that fsyncs as told: always ends at the
// next write, and everysec refuses writes until there is room.
func diskFull(fsync string) func(*schedule) func() {
	return func(s *schedule) func() {
		ms := s.takeMasters(1, func(m *master) bool { return m.fsync == fsync })
		if ms == nil {
			return nil
		}
		m, wait := ms[0], 200*time.Millisecond+rand64(s.rng, s.b.maxTTL)
		return func() {
			s.b.h.fault("disk full: master %s (%s) for %v", m.name, fsync, wait)
			if err := m.FullDisk(0); err != nil {
				s.b.tb.Errorf("limiting the disk of master %s: %v", m.name, err)
			}
			time.Sleep(wait)
			if fsync == "always" {
				m.Restart()
				s.free(ms, s.b.window)
				return
			}
			if err := m.FullDisk(-1); err != nil {
				s.b.tb.Errorf("the disk of master %s: %v", m.name, err)
			}
			time.Sleep(200 * time.Millisecond)
			s.free(ms, 0)
		}
	}
}

// memoryFull makes a master refuse what needs memory, without evicting.
func memoryFull(s *schedule) func() {
	ms := s.takeMasters(1, nil)
	if ms == nil {
		return nil
	}
	wait := 100*time.Millisecond + rand64(s.rng, s.b.maxTTL)
	return func() {
		s.b.h.fault("memory full: master %s for %v", ms[0].name, wait)
		s.b.do(ms[0], "CONFIG", "SET", "maxmemory", "1")
		time.Sleep(wait)
		s.b.do(ms[0], "CONFIG", "SET", "maxmemory", "0")
		s.free(ms, 0)
	}
}

func freezeMaster(s *schedule) func() {
	ms := s.takeMasters(1+s.rng.IntN(2), nil)
	if ms == nil {
		return nil
	}
	for1 := 50*time.Millisecond + rand64(s.rng, 2*s.b.maxTTL)
	return func() {
		for _, m := range ms {
			s.b.h.fault("freeze master: %s for %v", m.name, for1)
			m.Freeze()
		}
		time.Sleep(for1)
		for _, m := range ms {
			m.Thaw()
		}
		s.b.h.fault("freeze master: thawed")
		time.Sleep(200 * time.Millisecond)
		s.free(ms, 0)
	}
}

func freezeRedlockd(s *schedule) func() {
	n := s.takeRedlockd()
	if n < 0 {
		return nil
	}
	r := s.b.redlockds[n]
	for1 := 20*time.Millisecond + rand64(s.rng, 2*s.b.maxTTL)
	return func() {
		s.b.freeze(r, for1)
		s.freeRedlockd(n)
	}
}

// freeze stops a redlockd for a time.
func (b *bench) freeze(r *redlockd, for1 time.Duration) {
	b.h.fault("freeze redlockd: %s for %v", r.addr, for1)
	r.disturbing.Store(true)
	r.Freeze()
	time.Sleep(for1)
	r.Thaw()
	r.disturbed.Store(int64(b.h.now()))
	r.disturbing.Store(false)
	b.h.fault("freeze redlockd: %s thawed", r.addr)
}

// killRedlockd leaves the first alone: clients with equal tokens use it, and
// another process counts as another redlockd (P1).
func killRedlockd(s *schedule) func() {
	n := s.takeRedlockd()
	if n < 0 {
		return nil
	}
	if n == 0 {
		s.freeRedlockd(n)
		return nil
	}
	r := s.b.redlockds[n]
	wait := rand64(s.rng, 500*time.Millisecond)
	return func() {
		s.b.h.fault("kill redlockd: %d", n)
		r.disturbing.Store(true)
		r.Kill()
		time.Sleep(wait)
		r.Restart()
		r.killed.Store(int64(s.b.h.now()))
		r.disturbed.Store(int64(s.b.h.now()))
		r.disturbing.Store(false)
		s.freeRedlockd(n)
	}
}

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

// harmless is a command to a master that loses nothing.
func harmless(args ...any) func(*schedule) func() {
	return func(s *schedule) func() {
		ms := s.takeMasters(1, nil)
		if ms == nil {
			return nil
		}
		return func() {
			s.b.h.fault("%v: master %s", args, ms[0].name)
			s.b.do(ms[0], args...)
			s.free(ms, 0)
		}
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
		for _, m := range ms {
			m.Freeze()
		}
		time.Sleep(for1)
		for _, m := range ms {
			m.Thaw()
		}
		s.b.h.fault("majority frozen: thawed")
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
		for _, m := range ms {
			m.Kill()
		}
		for _, m := range ms {
			m.RestartEmpty()
		}
		s.free(ms, s.b.window)
	}
}
