// Package hostile sets thousands of hostile clients on a redlockd that honest
// ones use: they send a byte at a time, absurd lengths, nothing at all, wrong
// passwords, and commands whose replies they never read.
//
// It looks at redlockd's memory, and at how long the honest ones wait with and
// without the others. In go test it is small and short; `make hostile` is
// 10,000 clients for a minute. Both ends of the connections need open files:
// 20,000 at least (ulimit -n).
package hostile
