// Package history remembers, for people who look, what went through this redlockd:
// who holds which lock (locks.go takes it in, held.go tells it), what is wanted most (contention.go),
// what took long (slowlog.go), and what was counted since the start (counters.go).
// All of it is bounded, and none of it decides anything.
package history
