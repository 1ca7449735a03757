package script

import "github.com/redlockd/redlockd/commands/script/lua"

// ending is why a run did not finish: revealInput, tokenFound, unproved, signalling,
// *RefusedError or *NeedsKeysError; nil if it did.
type ending any

// execute runs the body. Only here are panics that end a run recovered.
func (r *run) execute(body func() template) (reply template, end ending) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case revealInput, tokenFound, unproved, signalling, *RefusedError, *NeedsKeysError:
			reply, end = template{}, p
		default:
			panic(p)
		}
	}()
	reply = body()
	noticesOfSignals(r)
	return reply, nil
}

// script runs the chunk and converts its result or error.
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
