// Package history remembers, for operators, what this redlockd has answered: who holds
// which lock (locks.go records it, held.go returns it), which locks ended without their holders
// (lost.go; mentions.go says when the log tells of one), how long locks were waited for and held
// (times.go), which keys are contended (contention.go) and to whom they were refused
// (refusals.go), which commands were slow (slowlog.go), and counts since the start
// (counters.go). All of it is bounded, and none of it decides anything.
package history
