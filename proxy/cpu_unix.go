//go:build unix

package proxy

import "syscall"

// cpuSeconds is the time this process has used, as user and as system.
func cpuSeconds() (inUser, inSystem float64) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	return float64(u.Utime.Nano()) / 1e9, float64(u.Stime.Nano()) / 1e9
}
