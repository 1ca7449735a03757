package script

import "strings"

func getset(r *run, args []value) (value, string) {
	k := r.touch(args[1])
	old := k.held()
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

func setex(unit timeUnit, command string) commandFunc {
	return func(r *run, args []value) (value, string) {
		k := r.touch(args[1])
		after, failure := r.futureArg(args[2], unit, command)
		if failure != "" {
			return nil, failure
		}
		r.store(k, args[3], expiry{given, after})
		return field(r.budget, "ok", "OK"), ""
	}
}

// setOptions are the words behind SET's key and value.
type setOptions struct {
	nx, xx, get, keep bool
	time              value // nil: none
	word              string
	cond              Condition
	operand           value
}

var setUnits = map[string]timeUnit{"EX": inSeconds, "PX": inMillis, "EXAT": atSecond, "PXAT": atMilli}

func (r *run) setOptions(args []value) (o setOptions, failure string) {
	for i := 0; i < len(args); i++ {
		word := strings.ToUpper(r.word(args[i]))
		_, isTime := setUnits[word]
		cond := ConditionOf(word)
		switch {
		case word == "NX" && !o.xx && o.cond == NoCondition:
			o.nx = true
		case word == "XX" && !o.nx && (o.cond == NoCondition || o.cond == IfEqual):
			o.xx = true
		case word == "GET":
			o.get = true
		case word == "KEEPTTL" && o.time == nil:
			o.keep = true
		case cond != NoCondition && !o.nx && o.cond == NoCondition && (!o.xx || cond == IfEqual) && i+1 < len(args):
			i++
			o.cond, o.operand = cond, args[i]
		case isTime && !o.keep && (o.time == nil || o.word == word) && i+1 < len(args):
			i++
			o.time, o.word = args[i], word
		default:
			return o, syntax
		}
	}
	return o, ""
}

func set(r *run, args []value) (value, string) {
	k := r.touch(args[1])
	o, failure := r.setOptions(args[3:])
	if failure != "" {
		return nil, failure
	}
	e, unit := expiry{}, setUnits[o.word]
	if o.time != nil {
		after, failure := r.futureArg(o.time, unit, "set")
		if failure != "" {
			return nil, failure
		}
		e = expiry{given, after}
	}
	old := k.held()
	done, refused := value(field(r.budget, "ok", "OK")), value(false)
	if o.get {
		done, refused = old, old
	}
	if (o.nx && k.now.exists) || (o.xx && !k.now.exists) {
		return refused, ""
	}
	if met, failure := r.meets(k, o.cond, o.operand); !met {
		return refused, failure
	}
	if o.keep {
		e = k.now.expiry
	}
	r.store(k, args[2], e)
	if o.time != nil && unit.absolute {
		r.expireAfter(k, r.lapse(e.after, unit))
	}
	return done, ""
}

// mset is MSET, which takes the expiry from every key it sets.
func mset(r *run, args []value) (value, string) {
	if len(args)%2 == 0 {
		return nil, "ERR wrong number of arguments for 'mset' command"
	}
	for i := 1; i < len(args); i += 2 {
		r.store(r.touch(args[i]), args[i+1], expiry{})
	}
	return field(r.budget, "ok", "OK"), ""
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
	o, failure := r.setOptions(args[2+2*n:])
	if failure == "" && (o.get || o.cond != NoCondition) {
		failure = syntax
	}
	if failure != "" {
		return nil, failure
	}
	e, unit := expiry{}, setUnits[o.word]
	if o.time != nil {
		if e.after, failure = r.futureArg(o.time, unit, "msetex"); failure != "" {
			return nil, failure
		}
		e.kind = given
	}
	for i := 0; i < len(pairs); i += 2 {
		if there := r.touch(pairs[i]).now.exists; (o.nx && there) || (o.xx && !there) {
			return 0.0, ""
		}
	}
	for i := 0; i < len(pairs); i += 2 {
		k, mine := r.touch(pairs[i]), e
		if o.keep {
			mine = k.now.expiry
		}
		r.store(k, pairs[i+1], mine)
		if o.time != nil && unit.absolute {
			r.expireAfter(k, r.lapse(e.after, unit))
		}
	}
	return 1.0, ""
}

// getex is GETEX.
func getex(r *run, args []value) (value, string) {
	word, unit, isTime := "", timeUnit{}, false
	if len(args) > 2 {
		word = strings.ToUpper(r.word(args[2]))
		unit, isTime = setUnits[word]
	}
	if ok := len(args) == 2 || len(args) == 3 && word == "PERSIST" || len(args) == 4 && isTime; !ok {
		return nil, syntax
	}
	k := r.touch(args[1])
	old := k.held()
	switch {
	case !k.now.exists:
	case word == "PERSIST":
		k.now.expiry = expiry{}
	case isTime:
		after, failure := r.futureArg(args[3], unit, "getex")
		if failure != "" {
			return nil, failure
		}
		r.expireAfter(k, r.lapse(after, unit))
	}
	return old, ""
}
