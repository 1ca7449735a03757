//go:build !unix

package proxy

// cpuSeconds returns 0: the processor time is not known on this system.
func cpuSeconds() (inUser, inSystem float64) { return 0, 0 }
