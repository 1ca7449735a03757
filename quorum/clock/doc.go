// Package clock judges a master's clock by readings of it: what time it may show there,
// and whether it runs evenly. It does no I/O and knows neither masters nor marks. The
// rules that comments cite (M5, V6) are defined in docs/design.md.
//
// A [Watch] watches one master's clock (watch.go). Every answer of the master brings a
// reading, from which Watch finds
//
//   - the latest and the earliest possible time there (looks.go), from which
//     expiries and deadlines are counted;
//   - the same by the readings of a longer time, so that a step shows (looks.go; step.go
//     has what a step is);
//   - how long other redlockd may take to record a step that could not be seen here
//     (warmup.go).
//
// Package cluster decides what a step means for the votes, and what its cause was.
//
// The process has a clock of its own too (clock.go, clock_linux.go, clock_other.go). It
// is monotonic and counts sleep; stalls.go detects when the process stood still.
package clock
