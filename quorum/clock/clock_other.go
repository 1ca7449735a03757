//go:build !linux

package clock

func System() Clock { return Monotonic() }
