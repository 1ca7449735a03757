package main

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// spent is the processor time of all parts at one moment, or what lies between
// two moments.
type spent struct {
	masters                  time.Duration
	redlockdUser, redlockdSy time.Duration
	client, relay            time.Duration
	// known is whether the system tells the time of the masters and redlockd.
	known bool
}

func spentBy(p parts) spent {
	s := spent{known: len(p.masters) > 0, client: ownCPU()}
	for _, m := range p.masters {
		user, system, ok := cpuOf(m.pid())
		s.masters += user + system
		s.known = s.known && ok
	}
	if p.redlockd != nil {
		var ok bool
		s.redlockdUser, s.redlockdSy, ok = cpuOf(p.redlockd.pid())
		s.known = s.known && ok
	}
	if p.relay != nil {
		user, system, _ := cpuOf(p.relay.pid())
		s.relay = user + system
	}
	return s
}

func (s spent) since(before spent) spent {
	return spent{s.masters - before.masters, s.redlockdUser - before.redlockdUser,
		s.redlockdSy - before.redlockdSy, s.client - before.client,
		s.relay - before.relay, s.known && before.known}
}

// ownCPU is the processor time of this process.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// rss is the memory of a process in bytes, as ps tells it on every system.
func rss(pid int) (float64, error) {
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return 0, fmt.Errorf("ps: %w", err)
	}
	kib, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	return kib * 1024, err
}
