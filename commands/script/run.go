package script

import "github.com/redlockd/redlockd/commands/script/lua"

// run is one run on one state of the keys, of a script or of the commands of a
// transaction. For the interpreter it is the host (host.go), for the commands the
// database.
//
// A run leaves its normal course only by panics. execute recovers those that end a run
// (*RefusedError, *NeedsKeysError, revealInput, tokenFound, unproved, signalling).
type run struct {
	*lua.Budget
	chunk *chunk
	form  *form
	space *space
	// proving is false in runs on real values. token is the class of the token as far as
	// known, or -1.
	proving bool
	token   int
	time    int64
}
