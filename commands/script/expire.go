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

// fromMasterTime turns an absolute time into one relative to the masters' time.
func fromMasterTime(r *run, after linear, unit grammar.Unit) linear {
	if unit.Absolute() {
		after.add -= r.masterTime()
	}
	return after
}

// isPast reports whether a time, relative to now, is certainly not in the future.
func isPast(after linear) bool { return after.class < 0 && after.add <= 0 }

// newExpiry returns the expiry that SET or MSETEX gives. One in the past is an error (C3),
// where Redis stores nothing and answers as if it had.
func newExpiry(r *run, o *setOptions, command string) (expiry, string) {
	after, failure := futureArg(r, o.Number, o.Expiry, command)
	if failure != "" {
		return expiry{}, failure
	}
	after = fromMasterTime(r, after, o.Expiry)
	if isPast(after) {
		return expiry{}, grammar.InvalidExpire(command) + grammar.InPast
	}
	return expiry{given, after}, ""
}

// expireAfter gives the key an expiry, or deletes it if the expiry is in the past.
func (k *keyModel) expireAfter(after linear) {
	if isPast(after) {
		k.remove()
		return
	}
	k.now.expiry = expiry{given, after}
}

// setExpiry returns EXPIRE, PEXPIRE, EXPIREAT or PEXPIREAT.
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
		if failure != "" {
			return nil, failure
		}
		if !k.now.exists {
			return 0.0, ""
		}
		after = fromMasterTime(r, after, unit)
		if !flagsAllow(r, k, flags, after) {
			return 0.0, ""
		}
		k.expireAfter(after)
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
