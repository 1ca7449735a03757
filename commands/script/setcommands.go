package script

import (
	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/commands/script/lua"
)

func getset(r *run, args []value) (value, string) {
	k, failure := r.touchString(args[1])
	if failure != "" {
		return nil, failure
	}
	old := k.get()
	r.store(k, args[2], expiry{})
	return old, ""
}

func setnx(r *run, args []value) (value, string) {
	k := r.touch(args[1])
	if k.now.exists {
		return 0.0, ""
	}
	r.store(k, args[2], expiry{})
	return 1.0, ""
}

func setex(unit grammar.Unit, command string) commandFunc {
	return func(r *run, args []value) (value, string) {
		k := r.touch(args[1])
		after, failure := futureArg(r, args[2], unit, command)
		if failure != "" {
			return nil, failure
		}
		r.store(k, args[3], expiry{given, after})
		return lua.Record(r.Budget, "ok", "OK"), ""
	}
}

// setOptions are the options behind SET's key and value.
type setOptions = grammar.SetOptions[value]

func parseSet(r *run, args []value) (setOptions, string) {
	o, ok := grammar.ParseSet(args, func(v value) string { return r.word(v) })
	if !ok {
		return o, grammar.ErrSyntax
	}
	return o, ""
}

// hasTime reports whether SET has an expiry.
func hasTime(o *setOptions) bool { return o.Expiry != grammar.NoUnit && o.Expiry != grammar.KeepTTL }

func set(r *run, args []value) (value, string) {
	k := r.touch(args[1])
	o, failure := parseSet(r, args[3:])
	if failure != "" {
		return nil, failure
	}
	e := expiry{}
	if hasTime(&o) {
		if e, failure = newExpiry(r, o.Number, o.Expiry, "set"); failure != "" {
			return nil, failure
		}
	}
	if o.Get || o.Condition != grammar.NoCondition {
		failure = k.notString()
	}
	if failure != "" {
		return nil, failure
	}
	old := k.get()
	done, refused := value(lua.Record(r.Budget, "ok", "OK")), value(false)
	if o.Get {
		done, refused = old, old
	}
	if (o.NX && k.now.exists) || (o.XX && !k.now.exists) {
		return refused, ""
	}
	if met, failure := meets(r, k, o.Condition, o.Compare); !met {
		return refused, failure
	}
	if o.Expiry == grammar.KeepTTL {
		e = k.now.expiry
	}
	r.store(k, args[2], e)
	return done, ""
}

// mset is MSET, which removes the expiry of every key it sets.
func mset(r *run, args []value) (value, string) {
	if len(args)%2 == 0 {
		return nil, "ERR wrong number of arguments for 'mset' command"
	}
	for i := 1; i < len(args); i += 2 {
		r.store(r.touch(args[i]), args[i+1], expiry{})
	}
	return lua.Record(r.Budget, "ok", "OK"), ""
}

func msetnx(r *run, args []value) (value, string) {
	if len(args)%2 == 0 {
		return nil, "ERR wrong number of arguments for 'msetnx' command"
	}
	for i := 1; i < len(args); i += 2 {
		if r.touch(args[i]).now.exists {
			return 0.0, ""
		}
	}
	_, failure := mset(r, args)
	return 1.0, failure
}

// msetex is MSETEX of Redis 8.4: it sets all keys or none.
func msetex(r *run, args []value) (value, string) {
	n, failure := r.position(args[1])
	switch {
	case failure != "":
		return nil, failure
	case n < 1:
		return nil, "ERR invalid numkeys value"
	case n > int64(len(args)-2)/2:
		return nil, "ERR wrong number of key-value pairs"
	}
	pairs := args[2 : 2+2*n]
	o, failure := parseSet(r, args[2+2*n:])
	if failure == "" && (o.Get || o.Condition != grammar.NoCondition) {
		failure = grammar.ErrSyntax
	}
	if failure != "" {
		return nil, failure
	}
	e := expiry{}
	if hasTime(&o) {
		if e, failure = newExpiry(r, o.Number, o.Expiry, "msetex"); failure != "" {
			return nil, failure
		}
	}
	for i := 0; i < len(pairs); i += 2 {
		if there := r.touch(pairs[i]).now.exists; (o.NX && there) || (o.XX && !there) {
			return 0.0, ""
		}
	}
	for i := 0; i < len(pairs); i += 2 {
		k, mine := r.touch(pairs[i]), e
		if o.Expiry == grammar.KeepTTL {
			mine = k.now.expiry
		}
		r.store(k, pairs[i+1], mine)
	}
	return 1.0, ""
}

// getex is GETEX.
func getex(r *run, args []value) (value, string) {
	word := ""
	if len(args) > 2 {
		word = r.word(args[2])
	}
	unit, persists := grammar.UnitOf(word), grammar.Is(word, "persist")
	if ok := len(args) == 2 || len(args) == 3 && persists || len(args) == 4 && unit != grammar.NoUnit; !ok {
		return nil, grammar.ErrSyntax
	}
	k, failure := r.touchString(args[1])
	if failure != "" {
		return nil, failure
	}
	old := k.get()
	switch {
	case !k.now.exists:
	case persists:
		k.now.expiry = expiry{}
	case unit != grammar.NoUnit:
		e, failure := newExpiry(r, args[3], unit, "getex")
		if failure != "" {
			return nil, failure
		}
		k.now.expiry = e
	}
	return old, ""
}
