// Package vote says what the answers of the masters amount to: pure functions of the
// ballots, which ask nobody and wait for nothing. The rules that comments cite (V4, V8)
// are defined in docs/design.md.
//
// Each master's answer is a [Ballot]. [Count] makes a [Tally] of them (tally.go), given
// what is needed of the masters ([Needs], needs.go): how many must agree, and which one
// must be among them. [VerdictOf] says by the tally how the [Question] is decided, if
// that is certain (verdict.go).
//
// The kinds of operations and the verdicts are in kind.go; package quorum gives them to
// its callers.
package vote
