// Package clock knows what can be known of a master's clock from readings of it:
// what time it may be there, and whether it runs evenly. It asks nobody and knows
// neither masters nor marks. The rules that comments cite (M5, V6) are defined in
// docs/design.md.
//
// A [Watch] is that of one master (watch.go). Every answer of the master brings a
// reading, and Watch says by it what
//
//   - the latest and the earliest possible time there are (looks.go), by which
//     expiries and deadlines are counted;
//   - the clock's offset was all the time (offsets.go), so that a step shows;
//   - others may still tell of a step that could not be seen here (warmup.go).
//
// What a step means for the votes, and whose it was, is for package quorum to say.
//
// This process has a clock too (clock.go, clock_linux.go, clock_other.go), which is
// monotonic and counts sleep, and may stand still (stalls.go).
package clock
