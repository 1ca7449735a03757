// Package replies writes what the commands of a session are answered, in their order
// (S1), and undoes what could not be told (P5).
//
// Every command has a Slot in the Pipeline of its session (slot.go, pipeline.go): it is
// filled when its outcomes arrive. While the first slots are ready the Writers, which
// all sessions share, give the session turns (writers.go, turns.go): each confirms what
// was granted, gathers the replies into one write (write.go, socket_unix.go,
// socket_other.go), and undoes what could not be told (V2). A grant that has waited for
// too long is renewed first (renew.go); promises.go is what a grant holds.
//
// It knows a session as an Owner that can be ended.
package replies
