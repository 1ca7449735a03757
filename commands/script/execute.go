package script

// result is one finished run.
type result struct {
	reply template
	key   *keyModel
}

// ending is why a run did not finish: leak, wanted, unproved or
// *RefusedError; nil if it did.
type ending any

// execute runs the script on key. It is the only place where the interpreter's
// panics end.
func (r *run) execute() (res result, end ending) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case leak, wanted, unproved, *RefusedError:
			res, end = result{}, p
		default:
			panic(p)
		}
	}()
	r.globals = r.form.tables(r.budget)
	return result{reply: r.body(), key: r.key}, nil
}

// body runs the statements and converts what they return or raise.
func (r *run) body() (reply template) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		e, ok := p.(*luaError)
		if !ok {
			panic(p)
		}
		if r.key.wrote() {
			refuse("fails after it has changed the key")
		}
		reply = r.raised(e)
	}()
	_, results := r.block(r.chunk.stmts, &frame{variadic: true}, nil)
	return r.reply(first(results), 0)
}
