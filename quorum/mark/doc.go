// Package mark holds what redlockd writes to each master about itself, the mark, and
// decides what the master may do by it: one with a real mark has forgotten nothing, and
// may vote. It asks no master; its inputs are passed in. The rules that comments cite
// (M3, M9) are defined in docs/design.md.
//
// A [Mark] is text in a key of the master (mark.go). It records
//
//   - the state of the list of masters, its [Generation] (generation.go);
//   - which server has each master's seat (seats.go), the greatest settings in use,
//     and the greatest and least padding of living locks (padding.go); what all marks say of these
//     together is the [Agreement] (agreement.go).
//
// One look at a master is an [Observation] (observation.go), with what the server reports
// of itself (info.go). What one link has seen of a master so far is a [View] (view.go,
// judge_memory.go). From these, [Judge] decides what the master may do and what its mark
// must say (judge.go, judge_state.go): vote, or wait until all locks that it
// may have forgotten are over.
package mark
