// Package quorum carries an operation out on N independent masters and reports what a
// majority of them agreed on. The rules that comments cite (V3, M4) are defined in
// docs/design.md.
//
// An operation ([Op], operation.go) enters by [Quorum.Do] (quorum.go), and a callback
// receives its [Outcome]. The layers in between, from the outside in:
//
//   - what callers see: status.go, masters.go, messages.go (the way to the other instances,
//     package pubsub), and the watches of transactions (watch.go);
//     inflight.go and counts.go count operations;
//   - a database with the queues of its keys (keyspace.go, keys.go): operations on one
//     key run one at a time (V7), some of which share a fan-out (sharing.go) or sleep
//     between two attempts (asleep.go);
//   - the call (call.go): one operation with its attempts, which is retried after a split
//     (split.go) and, if it depends on the current state, begins with a read (decide.go);
//     on several keys it may take two attempts after that (transact.go);
//   - the attempt (attempt.go, ask.go): one fan-out to all masters with what it does to the keys
//     (effects.go), its votes (ballots.go) and its time (deadlines.go); its rollback (rollback.go); what masters
//     that missed it are sent afterwards (repeat.go), or that lost the lock (mend.go);
//   - the verdict: package vote derives it from the votes, as a pure function;
//   - the outcome (outcome.go): the answer to the client, which is renewed if it leaves
//     late (renew.go).
//
// Each package below knows nothing of those above it: package cluster has the masters and
// what each may be asked, package outbox what waits for one of them, package tail what a
// copy says of itself, package mark what else is written on a master, package clock the
// time it may have, package scripts the scripts that run on it; package latency has
// histograms.
//
// No step of an operation dials or waits for a dial, and none starts a goroutine, except
// once for each greater hold (call.go).
//
// Operators may also list the keys, and the copies of one key (scan.go, copies.go);
// these are no operations with votes.
//
// A won operation carries a grant (renew.go): right before it writes the reply, the
// session asks the grant whether the reply still is in time, and takes the grant back if
// the client has gone.
//
// If no majority can decide an operation, its error is an [UndecidedError]. The texts are
// in undecided.go; noquorum.go fills them in from the votes and the states of the masters.
//
// The package does not know what a client sent or how a reply looks. Locks live on the
// masters only, and each copy says until when its client has it (package tail): nothing of
// a lock that was granted is remembered here.
package quorum
