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
		after, failure := r.expireArg(args[2], unit, command)
		if failure == "" && after.class < 0 && after.add <= 0 {
			failure = invalidExpire(command)
		}
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
	ifeq              value // nil: none
}

var setUnits = map[string]timeUnit{"EX": inSeconds, "PX": inMillis, "EXAT": atSecond, "PXAT": atMilli}

func (r *run) setOptions(args []value) (o setOptions, failure string) {
	for i := 0; i < len(args); i++ {
		word := strings.ToUpper(r.word(args[i]))
		_, isTime := setUnits[word]
		switch {
		case word == "NX" && !o.xx && o.ifeq == nil:
			o.nx = true
		case word == "XX" && !o.nx:
			o.xx = true
		case word == "GET":
			o.get = true
		case word == "KEEPTTL" && o.time == nil:
			o.keep = true
		case word == "IFEQ" && !o.nx && o.ifeq == nil && i+1 < len(args):
			i++
			o.ifeq = args[i]
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
		after, failure := r.expireArg(o.time, unit, "set")
		if failure == "" && after.class < 0 && after.add <= 0 {
			failure = invalidExpire("set")
		}
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
	if (o.nx && k.now.exists) || (o.xx && !k.now.exists) || (o.ifeq != nil && !r.holds(k, o.ifeq)) {
		return refused, ""
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
