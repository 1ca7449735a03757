// Package vote turns the answers of the masters into a verdict. It consists of pure
// functions of the ballots: it performs no I/O and reads no clock. The rules that
// comments cite (V4, V8) are defined in docs/design.md.
//
// Each master's answer is a [Ballot]. What it counts for, its [Weight], follows from the
// master's [Standing] (weight.go): all that is known of its mark, seat and clock. [Count] adds the ballots up to a [Tally]
// (tally.go), given what the attempt requires of the masters ([Needs], needs.go): how
// many must agree, and which one must be among them. [VerdictOf] derives from the tally
// the answer to the [Question], if that is already certain (verdict.go).
//
// The kinds of operations and the verdicts are in kind.go; package quorum re-exports
// them to its callers.
package vote
