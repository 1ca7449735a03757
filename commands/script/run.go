package script

import "github.com/redlockd/redlockd/commands/script/lua"

type value = lua.Value

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

// ending is why a run did not finish: leak, wanted, unproved, signalling or
// *RefusedError, *NeedsKeysError; nil if it did.
type ending any

// execute runs what is to be done. It is the only place where what ends a run
// is recovered.
func (r *run) execute(body func() template) (reply template, end ending) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case leak, wanted, unproved, signalling, *RefusedError, *NeedsKeysError:
			reply, end = template{}, p
		default:
			panic(p)
		}
	}()
	reply = body()
	r.noticesOfSignals()
	return reply, nil
}

// script runs the chunk and converts what it returns or raises.
func (r *run) script() template {
	results, raised := r.chunk.code.Call(r.Budget, globals, r.form.tables(r.Budget), r)
	switch {
	case raised != nil && r.space.wrote():
		lua.Refuse("fails after it has changed the key")
	case raised != nil:
		return r.raised(raised)
	case len(results) == 0:
		return r.reply(nil, 0)
	}
	return r.reply(results[0], 0)
}
