// Package quorum asks N independent masters and says what a majority of them
// agreed on. It is the only package that knows rueidis. The rules that comments
// cite (V3, M4) are defined in docs/design.md.
//
// An operation ([Op]) goes in by [Quorum.Do] and its [Outcome] comes out by a
// callback. In between stand, from the outside in:
//
//   - the key queue (keys.go): operations on one key, one at a time (V7);
//   - the call (call.go): one operation with its attempts, tried again after
//     a split (split.go) and, where it depends on what is there, after a read
//     (decide.go);
//   - the attempt (attempt.go, ask.go): one fan-out to all masters with its
//     votes, its name (names.go, live_names.go), and what undoes it
//     (rollback.go), and what was told of it (terms.go);
//   - the tally (tally.go, verdict.go): what the votes amount to, given what
//     is needed of the masters (needs.go), a pure function of them, like all
//     the arithmetic (arithmetic.go);
//   - the link (link.go): one master's database: its batches (sender.go,
//     batch.go), what a master is asked in them, one by one (request.go) or
//     many at once (bundle.go), and what it answers (answer.go), what is repeated
//     to it (retries.go), its connection (connection.go), its mark (mark.go) and
//     its clock (looks.go, offsets.go, steps.go, warmup.go), and the monitor
//     that dials, fences, looks and judges (monitor.go, judge.go, reconcile.go).
//
// What several redlockd must agree on stands in the marks: which server has each
// master's seat (seats.go; standing.go, seat_change.go and address.go are a
// link's part), that a restart has lost nothing (exemption.go), who names its
// attempts by what (residue.go), and the greatest settings in use.
//
// The links stand in the list of masters (list.go), which an attempt keeps. What
// the marks say of the list is its generation (generation.go); change.go takes
// a change of it from phase to phase, announce.go begins one, and replace.go
// puts the new list in force.
//
// A link is silent at once when its master cannot answer: nothing on the way
// of an operation dials, waits for a dial or starts a goroutine.
//
// A won operation carries a grant (outcome.go): the session asks it right
// before it writes the reply whether that still is in time, and undoes it if
// the client has gone.
//
// What nobody can tell is an [UndecidedError]; its texts are in undecided.go, and
// noquorum.go fills them in.
//
// The package does not know what a client sent or how a reply looks. Locks live
// on the masters only: what is kept of those that were told is their names, so
// that no other attempt gets one (V6).
package quorum
