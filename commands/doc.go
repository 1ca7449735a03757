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
// Check and Exec do the same for MULTI and EXEC (S4). The files, from the
// question to the answer:
//
//   - table.go: a command is one row, from which all that is said of it is made;
//     spec.go: what a row holds; categories.go and validate.go: what is made of it;
//   - commands.go: the Interpreter, from a name to its row; call.go: one command on
//     its way to a Request (request.go); lengths.go and rights.go: what it may name and
//     do; config.go: what the configuration says;
//   - set.go, several.go (MSETNX, MSETEX), expire.go (and GETEX, PERSIST), read.go,
//     remove.go, conditional.go (DELEX and SET with conditions): what each command
//     means; ttl.go and numbers.go: their times;
//   - readfirst.go: what depends on what one lock is, plan.go what depends on
//     several, and authorize.go whether that may be done;
//   - script.go: EVAL and its kin; meaning.go: a script whose meaning was proved,
//     unproved.go: one that runs on what was found; sweep.go: one that asks for all
//     keys of a pattern;
//   - exec.go: EXEC, where it is one operation on one key and where it is more;
//     transaction.go: several commands or keys as one conditional operation;
//     watched.go: an operation under the condition of WATCH;
//   - shapes.go: replies by their outcomes; errors.go: the texts of
//     errors; notice.go: what those who wait for a lock are told when
//     it was released.
//
// A row's function takes the call and hands back the Request; it does not know the
// table.
//
// A reply has Redis's own type and words (C1); where a lock server must differ
// from Redis (TTLs, C2, C3 and V13), the error names the setting.
//
// It does not know connections, protocols (RESP2 or RESP3), databases' limits
// or who is logged in: that is package proxy. It does not know who agreed:
// that is package quorum. What a reply is, and how integers are read, is package
// resp; how options are read is package grammar.
package commands
