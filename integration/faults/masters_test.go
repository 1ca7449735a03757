package faults

import (
	"fmt"
	"time"
)

func aofRestart(s *schedule) func() {
	ms := s.takeMasters(1, func(m *master) bool { return m.fsync == "always" })
	if ms == nil {
		return nil
	}
	wait := rand64(s.rng, 300*time.Millisecond)
	return func() {
		s.b.h.fault("aof restart: master %s", ms[0].name)
		away := s.ofMasters("aof restart", ms...)
		defer s.b.endInQuarantine(away)
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
			away := s.ofMasters("disk full", m)
			if err := m.FullDisk(0); err != nil {
				s.b.tb.Errorf("limiting the disk of master %s: %v", m.name, err)
			}
			time.Sleep(wait)
			if fsync == "always" {
				m.Restart()
				s.b.endInQuarantine(away)
				s.free(ms, s.b.window)
				return
			}
			if err := m.FullDisk(-1); err != nil {
				s.b.tb.Errorf("the disk of master %s: %v", m.name, err)
			}
			s.b.h.end(away)
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
		away := s.ofMasters("memory full", ms...)
		s.b.do(ms[0], "CONFIG", "SET", "maxmemory", "1")
		time.Sleep(wait)
		s.b.do(ms[0], "CONFIG", "SET", "maxmemory", "0")
		s.b.h.end(away)
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
		away := s.ofMasters("freeze", ms...)
		for _, m := range ms {
			s.b.h.fault("freeze master: %s for %v", m.name, for1)
			m.Freeze()
		}
		time.Sleep(for1)
		for _, m := range ms {
			m.Thaw()
		}
		s.b.h.fault("freeze master: thawed")
		s.b.h.end(away)
		time.Sleep(200 * time.Millisecond)
		s.free(ms, 0)
	}
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
			away := s.ofMasters(fmt.Sprint(args...), ms...)
			defer s.b.h.end(away)
			s.b.do(ms[0], args...)
			s.free(ms, 0)
		}
	}
}

// ofMasters is a trouble of masters for every redlockd.
func (s *schedule) ofMasters(what string, ms ...*master) *trouble {
	t := trouble{what: what, redlockd: everyone, masters: s.indices(ms)}
	if what == "freeze" || what == "majority frozen" {
		t.late = forever // what it was sent waits in its socket
	}
	return s.b.h.begin(t)
}

func (s *schedule) indices(ms []*master) (out []int) {
	for _, m := range ms {
		out = append(out, s.index(m))
	}
	return out
}
