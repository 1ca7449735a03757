// Package quorum carries an operation out on N independent masters and says what a
// majority of them agreed on. The rules that comments cite (V3, M4) are defined in
// docs/design.md.
//
// An operation ([Op], operation.go) goes in by [Quorum.Do] (quorum.go) and its [Outcome]
// comes out by a callback. In between stand, from the outside in:
//
//   - what callers see: status.go, masters.go, and what a transaction watches (watch.go);
//     inflight.go and counts.go count;
//   - a database with the queues of its keys (keyspace.go, keys.go): operations on one
//     key, one at a time (V7), some of which share a fan-out (sharing.go) or sleep
//     between two attempts (asleep.go);
//   - the call (call.go): one operation with its attempts, tried again after a split
//     (split.go) and, where it depends on what is there, after a read (decide.go);
//   - the attempt (attempt.go, ask.go): one fan-out to all masters with its votes
//     (ballots.go) and its time (deadlines.go); its name (names.go, expiries.go); what
//     undoes it (rollback.go), and what follows where it was won: masters that missed it
//     are repaired (repair.go);
//   - the verdict: what the votes amount to, which package vote says, a pure function;
//   - the outcome (outcome.go): what is told, renewed where it leaves late (renew.go),
//     and what is remembered of that (given.go): until when its client may count on it
//     (terms.go), what was asked for a moment ago (recent.go), the names of locks that
//     may live (live_names.go).
//
// Below it, each of which knows nothing of those above: package cluster has the
// masters and what each may be asked, package outbox what waits for one of them,
// package mark what is written on it, package clock what time it has, package
// scripts what runs there; package latency counts.
//
// Nothing on the way of an operation dials, waits for a dial or starts a goroutine.
//
// Beside the votes people may look at the keys and copies there are (scan.go,
// copies.go).
//
// A won operation carries a grant (renew.go): the session asks it right before it
// writes the reply whether that still is in time, and undoes it if the client has gone.
//
// What nobody can tell is an [UndecidedError]; its texts are in undecided.go, and
// noquorum.go fills them in, by the votes and by what package cluster says of the masters.
//
// The package does not know what a client sent or how a reply looks. Locks live
// on the masters only: what is kept of those that were told is their names, so
// that no other attempt gets one (V6).
package quorum
