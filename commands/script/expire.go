package script

import (
	"math"

	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/commands/script/lua"
)

// expireArg parses a time and returns it in milliseconds, absolute if the unit is. The
// caller checks values below 1; relative times out of Redis's range are an error here.
func expireArg(r *run, v value, unit grammar.Unit, command string) (after linear, failure string) {
	n, failure := r.integerArg(v)
	if failure != "" {
		return n, failure
	}
	if n.class >= 0 {
		return sealedTime(n, unit)
	}
	ms, fits := unit.Millis(n.add)
	if !fits {
		return n, grammar.InvalidExpire(command)
	}
	n.add = ms
	if !unit.Absolute() && ms > math.MaxInt64-1<<42 { // plus the server's time it would overflow
		return n, grammar.InvalidExpire(command)
	}
	return n, ""
}

// futureArg is expireArg for times that must be more than 0.
func futureArg(r *run, v value, unit grammar.Unit, command string) (linear, string) {
	after, failure := expireArg(r, v, unit, command)
	if failure == "" && after.class < 0 && after.add <= 0 {
		failure = grammar.InvalidExpire(command)
	}
	return after, failure
}

// sealedTime returns a time that depends on an input. If it could be below 1 for some
// input, the input is revealed.
func sealedTime(n linear, unit grammar.Unit) (linear, string) {
	if unit.Absolute() {
		panic(unproved{})
	}
	if unit.InSeconds() {
		whole, ok := newLinear(n.class, float64(n.mul)*1000, float64(n.add)*1000)
		if !ok {
			panic(revealInput{n.class})
		}
		n = whole
	}
	if lo, _ := n.bounds(); lo < 1 {
		panic(revealInput{n.class})
	}
	return n, ""
}

// fromNow turns a time into one relative to now. An absolute one in the past is an error
// (C3), where Redis deletes the key, or stores nothing and answers as if it had.
func fromNow(r *run, after linear, unit grammar.Unit, command string) (linear, string) {
	if !unit.Absolute() {
		return after, ""
	}
	now := r.wallClock()
	if after.add <= now {
		return after, grammar.InvalidExpire(command) + grammar.InPast
	}
	after.add -= now
	return after, ""
}

// newExpiry returns the expiry that SET, MSETEX or GETEX gives.
func newExpiry(r *run, v value, unit grammar.Unit, command string) (expiry, string) {
	after, failure := futureArg(r, v, unit, command)
	if failure == "" {
		after, failure = fromNow(r, after, unit, command)
	}
	return expiry{given, after}, failure
}

// setExpiry returns EXPIRE, PEXPIRE, EXPIREAT or PEXPIREAT. A relative time of 0 or less
// deletes the key, as in Redis.
func setExpiry(unit grammar.Unit, command string) commandFunc {
	return func(r *run, args []value) (value, string) {
		k := r.touchAny(args[1])
		if k.signal && (!k.now.exists || len(args) > 3) {
			r.unknown(k) // an earlier call may have left items in it
		}
		flags, failure := expireFlags(r, args[3:])
		if failure != "" {
			return nil, failure
		}
		after, failure := expireArg(r, args[2], unit, command)
		if failure == "" {
			after, failure = fromNow(r, after, unit, command)
		}
		if failure != "" {
			return nil, failure
		}
		if !k.now.exists || !flagsAllow(r, k, flags, after) {
			return 0.0, ""
		}
		if after.class < 0 && after.add <= 0 {
			k.remove()
		} else {
			k.now.expiry = expiry{given, after}
		}
		return 1.0, ""
	}
}

// expireFlags parses NX, XX, GT and LT.
func expireFlags(r *run, args []value) (grammar.ExpireFlags, string) {
	flags, unsupported, failure := grammar.ParseExpireFlags(args, func(v value) string { return r.word(v) })
	if unsupported >= 0 {
		failure = lua.OneLine("ERR Unsupported option " + r.word(args[unsupported]))
	}
	return flags, failure
}

// flagsAllow reports whether the flags allow the new expiry. No expiry counts as an
// infinite one.
func flagsAllow(r *run, k *keyModel, flags grammar.ExpireFlags, after linear) bool {
	has := k.now.expiry.kind != never
	switch {
	case flags.NX && has, flags.XX && !has, flags.GT && !has:
		return false
	case flags.GT:
		return r.Compare("<", r.left(k, false), after.number())
	case flags.LT && has:
		return r.Compare("<", after.number(), r.left(k, false))
	}
	return true
}
