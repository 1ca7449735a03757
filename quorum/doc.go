// Package quorum asks N independent masters and says what a majority of them
// agreed on. It is the only package that knows rueidis. The rules that comments
// cite (V3, M4) are defined in docs/design.md.
//
// An operation ([Op]) goes in by [Quorum.Do] and its [Outcome] comes out by a
// callback. In between stand, from the outside in:
//
//   - what callers see: quorum.go, operation.go, config.go, status.go, and what a
//     transaction watches (watch.go);
//   - the key queue (keys.go): operations on one key, one at a time (V7), some of
//     which share a fan-out (sharing.go) or sleep between two attempts (asleep.go);
//   - the call (call.go): one operation with its attempts, tried again after
//     a split (split.go) and, where it depends on what is there, after a read
//     (decide.go); inflight.go counts them;
//   - the attempt (attempt.go, ask.go): one fan-out to all masters with its votes
//     (ballots.go) and its time (deadlines.go), its name (names.go, live_names.go, expiries.go),
//     what undoes it (rollback.go), what heals it (heal.go) and what repeats a change that
//     it has won (changed.go);
//   - the verdict: what the votes amount to, which package vote says, a pure function
//     of them like all the arithmetic (arithmetic.go);
//   - the outcome (outcome.go): what is told, renewed where it leaves late (renew.go),
//     and until when its client may count on it (terms.go, recent.go);
//   - the link (link.go): one master's database (database.go). What may be asked
//     follows from its mark and its clock (standing.go, link_clock.go). What waits
//     for it (queue.go) and what may not have arrived is in its outbox, which goes out
//     in batches (sender.go) over one connection at a time (connection.go): what a
//     master is asked in them, and what it answers, is package outbox's;
//   - its clock, which package clock watches: whose step it was (steps.go), and
//     the wait for others of one that has just begun to watch (warmup.go);
//   - its monitor (monitor.go), which dials, fences and looks, has package mark judge
//     what is seen, and writes the mark (reconcile.go).
//
// What several redlockd must agree on stands in the marks (package mark). A monitor
// looks after which server has its master's seat (seat_change.go, address.go) and that
// a restart has lost nothing (exemption.go); told.go has the longest hold, and
// bootstrap.go writes the first marks.
//
// The links stand in the list of masters (list.go), which an attempt keeps. What
// the marks say of the list is its generation (borne.go); change.go takes a
// change of it from phase to phase, announce.go begins one, and replace.go
// puts the new list in force.
//
// Beside the votes people may look: at the keys and copies there are (scan.go,
// copies.go), at the rights that masters give (rights.go), at counts and times
// (events.go, latency.go).
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
