package script

import "strings"

// commandFunc carries out one command; args[0] is its name. failure is the
// text of Redis's error reply.
type commandFunc = func(r *run, args []value) (reply value, failure string)

// keyCommand bounds the number of arguments, the name included; most 0 is no
// bound.
type keyCommand struct {
	least, most int
	run         commandFunc
}

var (
	inSeconds   = timeUnit{seconds: true}
	inMillis    = timeUnit{}
	atSecond    = timeUnit{seconds: true, absolute: true}
	atMilli     = timeUnit{absolute: true}
	keyCommands map[string]keyCommand
)

func init() {
	keyCommands = map[string]keyCommand{
		"GET":         {2, 2, get},
		"MGET":        {2, 0, mget},
		"GETSET":      {3, 3, getset},
		"GETDEL":      {2, 2, getdel},
		"SET":         {3, 0, set},
		"SETNX":       {3, 3, setnx},
		"SETEX":       {4, 4, setex(inSeconds, "setex")},
		"PSETEX":      {4, 4, setex(inMillis, "psetex")},
		"DEL":         {2, 0, del},
		"UNLINK":      {2, 0, del},
		"EXISTS":      {2, 0, exists},
		"EXPIRE":      {3, 0, setExpiry(inSeconds, "expire")},
		"PEXPIRE":     {3, 0, setExpiry(inMillis, "pexpire")},
		"EXPIREAT":    {3, 0, setExpiry(atSecond, "expireat")},
		"PEXPIREAT":   {3, 0, setExpiry(atMilli, "pexpireat")},
		"TTL":         {2, 2, ttl(true)},
		"PTTL":        {2, 2, ttl(false)},
		"PEXPIRETIME": {2, 2, expireTime(1)},
		"EXPIRETIME":  {2, 2, expireTime(1000)},
		"PERSIST":     {2, 2, persist},
		"STRLEN":      {2, 2, strlen},
		"TYPE":        {2, 2, keyType},
	}
}

// held is GET's reply: the value, or Lua's false for null.
func (r *run) held() value {
	if !r.key.now.exists {
		return false
	}
	return r.key.now.value
}

func get(r *run, args []value) (value, string) {
	r.touch(args[1])
	return r.held(), ""
}

func mget(r *run, args []value) (value, string) {
	var values []value
	for _, name := range args[1:] {
		r.touch(name)
		values = append(values, r.held())
	}
	return listOf(r.budget, values...), ""
}

func getset(r *run, args []value) (value, string) {
	r.touch(args[1])
	old := r.held()
	r.store(args[2], expiry{})
	return old, ""
}

func getdel(r *run, args []value) (value, string) {
	r.touch(args[1])
	old := r.held()
	r.remove()
	return old, ""
}

func setnx(r *run, args []value) (value, string) {
	r.touch(args[1])
	if r.key.now.exists {
		return 0.0, ""
	}
	r.store(args[2], expiry{})
	return 1.0, ""
}

func setex(unit timeUnit, command string) commandFunc {
	return func(r *run, args []value) (value, string) {
		r.touch(args[1])
		after, failure := r.expireArg(args[2], unit, command)
		if failure == "" && after.class < 0 && after.add <= 0 {
			failure = invalidExpire(command)
		}
		if failure != "" {
			return nil, failure
		}
		r.store(args[3], expiry{given, after})
		return field(r.budget, "ok", "OK"), ""
	}
}

// setOptions are the words behind SET's key and value.
type setOptions struct {
	nx, xx, get, keep bool
	time              value // nil: none
	word              string
}

var setUnits = map[string]timeUnit{"EX": inSeconds, "PX": inMillis, "EXAT": atSecond, "PXAT": atMilli}

func (r *run) setOptions(args []value) (o setOptions, failure string) {
	for i := 0; i < len(args); i++ {
		word := strings.ToUpper(r.word(args[i]))
		_, isTime := setUnits[word]
		switch {
		case word == "NX" && !o.xx:
			o.nx = true
		case word == "XX" && !o.nx:
			o.xx = true
		case word == "GET":
			o.get = true
		case word == "KEEPTTL" && o.time == nil:
			o.keep = true
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
	r.touch(args[1])
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
	old := r.held()
	done, refused := value(field(r.budget, "ok", "OK")), value(false)
	if o.get {
		done, refused = old, old
	}
	if (o.nx && r.key.now.exists) || (o.xx && !r.key.now.exists) {
		return refused, ""
	}
	if o.keep {
		e = r.key.now.expiry
	}
	r.store(args[2], e)
	if o.time != nil && unit.absolute {
		r.expireAfter(r.lapse(e.after, unit))
	}
	return done, ""
}

func del(r *run, args []value) (value, string) {
	count := 0.0
	for _, name := range args[1:] {
		r.touch(name)
		if r.key.now.exists {
			count++
			r.remove()
		}
	}
	return count, ""
}

func exists(r *run, args []value) (value, string) {
	count := 0.0
	for _, name := range args[1:] {
		r.touch(name)
		if r.key.now.exists {
			count++
		}
	}
	return count, ""
}

func ttl(seconds bool) commandFunc {
	return func(r *run, args []value) (value, string) {
		r.touch(args[1])
		return r.left(seconds), ""
	}
}

// expireTime is PEXPIRETIME and EXPIRETIME: the time in units of millis.
func expireTime(millis int64) commandFunc {
	return func(r *run, args []value) (value, string) {
		r.touch(args[1])
		left := r.left(false)
		if f, ok := left.(float64); ok && f < 0 {
			return f, ""
		}
		at := r.masterTime() + int64(r.reveal(left).(float64))
		return float64((at + millis/2) / millis), ""
	}
}

func persist(r *run, args []value) (value, string) {
	r.touch(args[1])
	if !r.key.now.exists || r.key.now.expiry.kind == never {
		return 0.0, ""
	}
	r.key.now.expiry = expiry{}
	return 1.0, ""
}

func strlen(r *run, args []value) (value, string) {
	r.touch(args[1])
	if !r.key.now.exists {
		return 0.0, ""
	}
	return float64(len(r.text(r.key.now.value))), ""
}

func keyType(r *run, args []value) (value, string) {
	r.touch(args[1])
	if !r.key.now.exists {
		return field(r.budget, "ok", "none"), ""
	}
	return field(r.budget, "ok", "string"), ""
}
