//go:build unix

package main

import (
	"math"
	"syscall"
)

// descriptorLimit returns how many descriptors this process may have open.
func descriptorLimit() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return math.MaxInt32
	}
	return int(min(uint64(limit.Cur), math.MaxInt32))
}
