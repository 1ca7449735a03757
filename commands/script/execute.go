package script

// result is one finished run of a proof.
type result struct {
	reply   template
	key     *keyModel
	notices []sealedNotice
}

// ending is why a run did not finish: leak, wanted, unproved, signalling or
// *RefusedError, *NeedsKeysError; nil if it did.
type ending any

// execute runs what is to be done. It is the only place where the
// interpreter's panics end.
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

// script runs the statements and converts what they return or raise.
func (r *run) script() (reply template) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		e, ok := p.(*luaError)
		if !ok {
			panic(p)
		}
		if r.space.wrote() {
			refuse("fails after it has changed the key")
		}
		reply = r.raised(e)
	}()
	r.globals = r.form.tables(r.budget)
	_, results := r.block(r.chunk.stmts, &frame{variadic: true}, nil)
	return r.reply(firstOf(results), 0)
}
