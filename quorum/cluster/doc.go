// Package cluster manages the masters: what each of them may be asked, and what all
// instances agree on about them. It knows tasks (package outbox), but not the operations
// that they are part of. The rules that comments cite (M4, M8) are defined in
// docs/design.md.
//
// A [Cluster] (cluster.go; config.go; arithmetic.go, which works out the times of copies)
// has databases (database.go), each with a [Link] to every master on the [List] in force
// (list.go).
//
// A link (link.go) is one database of one master. What may be sent over it follows from
// the master's mark and clock (standing.go, link_clock.go), read with the link's mutex
// held ([Locked]). Tasks are queued (queue.go) and go out in batches (sender.go;
// going_out.go has what is decided about each at that moment) over one connection at a time
// (connection.go; alert.go finds out why TLS fails). While the master cannot answer, its
// votes are silent at once (M1).
//
// The link's monitor (monitor.go) dials, fences earlier connections (fence.go) and looks, has
// package mark judge what it saw, and writes the mark (reconcile.go), which is one for all
// databases of a master: those other than 0 follow (follow.go). It also finds out which
// server has its master's seat (seat_change.go, address.go), whether the other marks record
// that, whether a restart has lost nothing (exemption.go), and which rights redlockd lacks
// (rights.go).
//
// steps.go tells a step of a master's clock from a pause of this redlockd, and makes one that
// has no baseline for a clock wait for others that have.
//
// What several instances must agree on stands in the marks: grant_limit.go finds the
// longest hold that all marks have recorded, recorded.go the states of the list of masters
// that they record. change.go takes a change of the list from phase to phase, phases.go says
// which phase may be written, and which states lead to no other; announce.go begins a change,
// and replace.go puts the new list in force. bootstrap.go writes the first marks.
//
// events.go wakes goroutines that wait for a change of a master's state, and counts the
// changes; news.go decides what the log says of them; master_status.go is what operators see.
package cluster
