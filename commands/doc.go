// Package commands translates commands: it determines what a client asked for and how the
// reply must look. It is pure: bytes in, operations and the shape of a reply out, with no
// I/O, no clock of its own and no goroutine.
//
// An Interpreter turns one command into a Request: the operations on locks that the
// command means (quorum.Op), and the function that makes its reply from their outcomes.
// The session carries the operations out in between:
//
//	request, known := interpreter.Understand(db, args)
//	reply := request.Reply(outcomes)
//
// Check and Exec do the same for MULTI and EXEC (S4). The files, from the command to its
// reply:
//
//   - table.go: each command is one row, from which everything about it is derived;
//     spec.go: what a row holds; categories.go and validate.go: what is derived from it;
//   - commands.go: the Interpreter, from a name to its row; call.go: one command on
//     its way to a Request (request.go); lengths.go and rights.go: which keys it may name
//     and what it may do; config.go: the configuration;
//   - set.go, several.go (MSETNX, MSETEX), expire.go (and GETEX, PERSIST), read.go,
//     remove.go, conditional.go (DELEX and SET with conditions): what each command
//     means; ttl.go and numbers.go: their times;
//   - readfirst.go: commands that depend on the state of one lock, plan.go on that of
//     several; authorize.go: whether the result is allowed; foresee.go: what was seen last, so
//     that nothing need be read before;
//   - script.go: EVAL and EVALSHA; meaning.go: a script whose meaning was proved,
//     unproved.go: one that runs anew on each state found; prolong.go: one that prolongs several
//     keys, one by one; sweep.go: one that asks for all
//     keys of a pattern;
//   - exec.go: EXEC, as one operation on one key or as more; transaction.go: several
//     commands or keys as one conditional operation; watched.go: an operation under the
//     condition of WATCH;
//   - shapes.go: replies by their outcomes; errors.go: the texts of errors; notice.go:
//     what is published, or pushed to a list, when a lock was released.
//
// A row's function takes the call and returns the Request; it does not use the table.
//
// A reply has Redis's own type and words (C1); where a lock server must differ
// from Redis (TTLs, C2, C3 and V13), the error names the setting.
//
// It does not know connections, protocols (RESP2 or RESP3), limits or users: that is
// package proxy. It does not know how the masters voted: that is package quorum. Package
// resp has replies and reads integers; package grammar reads options.
package commands
