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
	// calls are the reads and writes of the masters and of redlockd.
	mastersCalls, redlockdCalls int64
	// known is whether the system tells the time of the masters and redlockd.
	known bool
}

func spentBy(p parts) spent {
	s := spent{known: len(p.masters) > 0, client: ownCPU()}
	for _, m := range p.masters {
		user, system, ok := cpuOf(m.pid())
		s.masters += user + system
		s.mastersCalls += callsOf(m.pid())
		s.known = s.known && ok
	}
	if p.redlockd != nil {
		var ok bool
		s.redlockdUser, s.redlockdSy, ok = cpuOf(p.redlockd.pid())
		s.known = s.known && ok
		s.redlockdCalls = callsOf(p.redlockd.pid())
	}
	if p.relay != nil {
		user, system, _ := cpuOf(p.relay.pid())
		s.relay = user + system
	}
	return s
}

func (s spent) since(before spent) spent {
	return spent{
		masters:       s.masters - before.masters,
		redlockdUser:  s.redlockdUser - before.redlockdUser,
		redlockdSy:    s.redlockdSy - before.redlockdSy,
		client:        s.client - before.client,
		relay:         s.relay - before.relay,
		mastersCalls:  s.mastersCalls - before.mastersCalls,
		redlockdCalls: s.redlockdCalls - before.redlockdCalls,
		known:         s.known && before.known,
	}
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
