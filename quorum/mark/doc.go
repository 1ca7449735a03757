// Package mark is what redlockd writes to each master about itself, and what follows
// from that: a master that bears a real mark remembers, and may vote. It asks nobody;
// what it judges by is told to it. The rules that comments cite (M3, M9) are defined in
// docs/design.md.
//
// A [Mark] is text in a key of the master (mark.go). In it stand
//
//   - the state of the list of masters, its [Generation] (generation.go);
//   - which server has each master's seat (seats.go), with the greatest settings in
//     use and the paddings of living locks (padding.go): what all marks say of them
//     together is the [Agreement] (agreement.go);
//   - who names its attempts by what (residue.go).
//
// One look at a master is an [Observation] (observation.go), with what the server says
// of itself (info.go). What one link has seen of a master, now and before, is a [View]
// (view.go, judge_memory.go). [Judge] says by them what the master may do and what its
// mark is to say (judge.go, judge_state.go, state.go): vote, or wait until all locks
// that it may have forgotten are over.
package mark
