//go:build unix

package proxy

import "syscall"

// cpuSeconds returns the processor time that this process has used in user and in system
// mode.
func cpuSeconds() (inUser, inSystem float64) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	return float64(u.Utime.Nano()) / 1e9, float64(u.Stime.Nano()) / 1e9
}
