// Package commands knows what a client asked for and how its answer must
// look. It is pure: bytes in, operations and the shape of a reply out, with no
// I/O, no clock of its own and no goroutine.
//
// An Interpreter turns one command into a Request: the operations on locks
// that it means (quorum.Op), and the function that fills its reply from their
// outcomes. The session carries the operations out between the two:
//
//	request, known := interpreter.Understand(db, args)
//	reply := request.Reply(outcomes)
//
// Check and Exec do the same for MULTI and EXEC (S4). Request.Notices are what
// those who wait for a lock are told once it was released (notice.go). A
// command is one row in table.go, from which all that is said of it is made.
//
// What a command means is said beside its kin: SET in set.go, DELEX and SET
// IFEQ in conditional.go, EVAL in script.go and meaning.go, EXEC in
// transaction.go where it holds one operation on one key, in exec.go where it
// holds more; what a run on several keys asks for is in plan.go. Every text of an error that a client may see is in
// errors.go. A reply has Redis's own type and words (C1); where a lock server
// must differ from Redis (TTLs, C2, C3 and V13), the error names the setting.
//
// It does not know connections, protocols (RESP2 or RESP3), databases' limits
// or who is logged in: that is package proxy. It does not know who agreed:
// that is package quorum.
package commands
