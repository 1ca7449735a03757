//go:build !linux

package quorum

func systemClock() clock { return monotonic() }
