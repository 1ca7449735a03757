package script

import "github.com/redlockd/redlockd/commands/script/lua"

// run is one run on one state of the keys: of a script, or of the commands of a
// transaction. To the interpreter it is the host (host.go), to the commands the
// database that they work on.
//
// Inside a run everything but the normal course is a panic. What ends the run
// (*RefusedError, *NeedsKeysError, leak, wanted, unproved, signalling) is
// recovered by execute.
type run struct {
	*lua.Budget
	chunk *chunk
	form  *form
	space *space
	// proving is false for runs on real values; token is the class that was
	// found to be the token, or -1.
	proving bool
	token   int
	time    int64
}
