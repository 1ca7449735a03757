// Package cluster has the masters: what each of them may be asked, and what all
// redlockd agree on about them. It knows tasks (package outbox), but not the operations
// that they are part of. The rules that comments cite (M4, M8) are defined in
// docs/design.md.
//
// A [Cluster] (cluster.go, new.go; config.go, arithmetic.go) has databases
// (database.go), and each of them a [Link] to every master on the [List] in force
// (list.go).
//
// A link (link.go) is one database of one master. What may be asked follows from its
// mark and its clock (standing.go, link_clock.go), with its mutex held ([Locked],
// locked.go). Tasks wait for it (queue.go) and go out in batches (sender.go) over one
// connection at a time (connection.go). It is silent at once when its master cannot
// answer (M1).
//
// Its monitor (monitor.go) dials, fences and looks, has package mark judge what is
// seen, and writes the mark (reconcile.go). It looks after which server has its master's
// seat (seat_change.go, address.go), that a restart has lost nothing (exemption.go), and
// which rights redlockd lacks (rights.go).
//
// What a clock's step was: the master's, or our own pause (steps.go); the wait for
// others of one that has just begun to watch (warmup.go).
//
// What several redlockd must agree on stands in the marks: told.go has the longest hold
// that all of them were told of, borne.go the state of the list of masters. change.go
// takes a change of that from phase to phase, announce.go begins one, and
// replace.go puts the new list in force. bootstrap.go writes the first marks.
//
// events.go wakes those who wait for a change of a master's state, and logs it;
// master_status.go is what people see.
package cluster
