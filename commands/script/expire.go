package script

import (
	"math"
	"strconv"
	"strings"
)

const (
	notInteger = "ERR value is not an integer or out of range"
	syntax     = "ERR syntax error"
)

func invalidExpire(command string) string {
	return "ERR invalid expire time in '" + command + "' command"
}

// integerArg reads a number as Redis does: no sign but a minus, no leading
// zeros, no spaces.
func (r *run) integerArg(v value) (linear, string) {
	switch v := r.operand(v).(type) {
	case linear:
		return v, ""
	default:
		s := r.word(v)
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || strconv.FormatInt(n, 10) != s {
			return linear{}, notInteger
		}
		return constant(n), ""
	}
}

// timeUnit is how a command counts its time.
type timeUnit struct{ seconds, absolute bool }

// expireArg reads a time as milliseconds from now. Below 1 is for the caller
// to judge; relative times out of Redis's range are its error.
func (r *run) expireArg(v value, unit timeUnit, command string) (after linear, failure string) {
	n, failure := r.integerArg(v)
	if failure != "" {
		return n, failure
	}
	if n.class >= 0 {
		return r.sealedTime(n, unit)
	}
	if unit.seconds {
		if n.add > math.MaxInt64/1000 || n.add < math.MinInt64/1000 {
			return n, invalidExpire(command)
		}
		n.add *= 1000
	}
	if unit.absolute {
		return n, ""
	}
	if n.add > math.MaxInt64-1<<42 { // plus the server's time it would overflow
		return n, invalidExpire(command)
	}
	return n, ""
}

// futureArg is expireArg for what must be more than 0.
func (r *run) futureArg(v value, unit timeUnit, command string) (linear, string) {
	after, failure := r.expireArg(v, unit, command)
	if failure == "" && after.class < 0 && after.add <= 0 {
		failure = invalidExpire(command)
	}
	return after, failure
}

// sealedTime is a time that depends on an input. All values of it must be
// times to come; else the input is revealed.
func (r *run) sealedTime(n linear, unit timeUnit) (linear, string) {
	if unit.absolute {
		panic(unproved{})
	}
	if unit.seconds {
		whole, ok := newLinear(n.class, float64(n.mul)*1000, float64(n.add)*1000)
		if !ok {
			panic(leak{n.class})
		}
		n = whole
	}
	if lo, _ := n.bounds(); lo < 1 {
		panic(leak{n.class})
	}
	return n, ""
}

// lapse turns an absolute time into one from now.
func (r *run) lapse(after linear, unit timeUnit) linear {
	if unit.absolute {
		after.add -= r.masterTime()
	}
	return after
}

// expireAfter gives the key an expiry, or deletes it when it is in the past.
func (r *run) expireAfter(k *keyModel, after linear) {
	if after.class < 0 && after.add <= 0 {
		k.remove()
		return
	}
	k.now.expiry = expiry{given, after}
}

// setExpiry is EXPIRE and its kin.
func setExpiry(unit timeUnit, command string) commandFunc {
	return func(r *run, args []value) (value, string) {
		k := r.touchAny(args[1])
		if k.signal && (!k.now.exists || len(args) > 3) {
			r.unknown(k) // it may hold what an earlier call has left
		}
		flags, failure := r.expireFlags(args[3:])
		if failure != "" {
			return nil, failure
		}
		after, failure := r.expireArg(args[2], unit, command)
		if failure != "" {
			return nil, failure
		}
		if !k.now.exists {
			return 0.0, ""
		}
		after = r.lapse(after, unit)
		if !r.flagsAllow(k, flags, after) {
			return 0.0, ""
		}
		r.expireAfter(k, after)
		return 1.0, ""
	}
}

// expireFlags reads NX, XX, GT and LT.
func (r *run) expireFlags(args []value) (map[string]bool, string) {
	if len(args) == 0 {
		return nil, ""
	}
	flags := map[string]bool{}
	for _, a := range args {
		switch word := strings.ToUpper(r.word(a)); word {
		case "NX", "XX", "GT", "LT":
			flags[word] = true
		default:
			return nil, oneLine("ERR Unsupported option " + r.word(a))
		}
	}
	switch {
	case flags["NX"] && len(flags) > 1:
		return nil, "ERR NX and XX, GT or LT options at the same time are not compatible"
	case flags["GT"] && flags["LT"]:
		return nil, "ERR GT and LT options at the same time are not compatible"
	}
	return flags, ""
}

// flagsAllow compares with the present expiry; none counts as infinite.
func (r *run) flagsAllow(k *keyModel, flags map[string]bool, after linear) bool {
	has := k.now.expiry.kind != never
	switch {
	case flags["NX"] && has, flags["XX"] && !has, flags["GT"] && !has:
		return false
	case flags["GT"]:
		return r.less(r.left(k, false), after.number())
	case flags["LT"] && has:
		return r.less(after.number(), r.left(k, false))
	}
	return true
}
