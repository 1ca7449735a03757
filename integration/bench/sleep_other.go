//go:build !linux

package main

import "time"

// preciseSleep is time.Sleep, which is exact enough on BSD and macOS.
func preciseSleep() func(time.Duration) { return time.Sleep }
