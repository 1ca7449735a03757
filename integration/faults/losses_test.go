package faults

import (
	"net"
	"time"
)

// losses are the ways in which a master forgets its locks. Those that keep its
// connections count double, since nothing but its mark tells of them; a step
// of its clock does, since only one forwards ends locks.
var losses = []string{"empty restart", "flushall", "flushall", "promotion", "promotion", "eviction", "old disk", "clock step", "clock step",
	"clock fast"}

// greatestStep is how far a clock steps at most.
const greatestStep = 6 * time.Second

// lose makes one master forget, in the way that how names. The random numbers
// are drawn before, so that a seed repeats.
func (s *schedule) lose(how string, m *master, peer *master, wait, ahead time.Duration) {
	s.b.h.fault("%s: master %s (peer %s, %v, %v)", how, m.name, peer.name, wait, ahead)
	defer s.b.h.fault("%s: master %s done", how, m.name)
	away := s.ofMasters(how, m)
	switch {
	case how == "clock step" && ahead < 0:
		away.back = -ahead
	case how == "promotion" && peer.ahead > m.ahead:
		away.back = peer.ahead - m.ahead
		m.copied = max(m.copied, away.back)
	}
	defer s.b.endInQuarantine(away)
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
		// One after the other: Redis 6.2 takes no two at once.
		s.b.do(m, "CONFIG", "SET", "maxmemory", "1gb")
		s.b.do(m, "CONFIG", "SET", "maxmemory-policy", "allkeys-random")
		time.Sleep(1500 * time.Millisecond) // an operator's change is seen within a second (M4)
		s.b.do(m, "CONFIG", "SET", "maxmemory", "1")
		time.Sleep(wait)
		s.b.do(m, "CONFIG", "SET", "maxmemory", "0")
		s.b.do(m, "CONFIG", "SET", "maxmemory-policy", "noeviction")
	case "old disk":
		m.CopyDisk()
		time.Sleep(1100*time.Millisecond + wait) // longer than a beat (M4)
		m.Kill()
		m.RestoreDisk()
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
