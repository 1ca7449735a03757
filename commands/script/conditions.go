package script

import "github.com/redlockd/redlockd/commands/grammar"

// delex is DELEX of Redis 8.4.
func delex(r *run, args []value) (value, string) {
	switch {
	case len(args) == 2:
		return del(r, args)
	case len(args) != 4:
		return nil, "ERR wrong number of arguments for 'delex' command"
	}
	cond := grammar.ConditionOf(r.word(args[2]))
	if cond == grammar.NoCondition {
		return nil, grammar.InvalidCondition
	}
	k, failure := r.touchString(args[1])
	if failure != "" || !k.now.exists {
		return 0.0, failure
	}
	met, failure := meets(r, k, cond, args[3])
	if !met {
		return 0.0, failure
	}
	k.remove()
	return 1.0, ""
}

// meets reports whether the key's value, or its absence, meets the condition.
func meets(r *run, k *keyModel, c grammar.Condition, operand value) (bool, string) {
	switch {
	case c == grammar.NoCondition:
		return true, ""
	case !k.now.exists:
		return c.Absent(), ""
	case c == grammar.IfEqual, c == grammar.IfNot:
		return r.holds(k, operand) == (c == grammar.IfEqual), ""
	}
	return c.Meets(r.text(k.now.value), r.word(operand))
}

// digest is DIGEST of Redis 8.4.
func digest(r *run, args []value) (value, string) {
	k, failure := r.touchString(args[1])
	if failure != "" || !k.now.exists {
		return false, failure
	}
	return grammar.Digest(r.text(k.now.value)), ""
}

// delifeq is DELIFEQ of Valkey 9.
func delifeq(r *run, args []value) (value, string) {
	k, failure := r.touchString(args[1])
	if failure != "" || !r.holds(k, args[2]) {
		return 0.0, failure
	}
	k.remove()
	return 1.0, ""
}
