// Package replies writes the replies to a session's commands in their order (S1), and
// undoes grants whose reply could not be delivered (P5).
//
// Every command has a Slot in the Pipeline of its session (slot.go, pipeline.go), which
// is filled when its outcomes arrive, and has its further effects in the order of the
// commands (settle.go). While the first slots are ready, the Writers, which
// all sessions share, give the session turns (writers.go, turns.go). Each turn confirms
// the grants, gathers the replies into one write (write.go, socket_unix.go,
// socket_other.go), and undoes what could not be answered in time (V2). A grant that has
// waited too long is renewed first (renew.go); promises.go is what the package needs of a
// grant.
//
// A session is known here as an Owner that can be killed.
package replies
