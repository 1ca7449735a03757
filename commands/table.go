package commands

import "github.com/redlockd/redlockd/commands/grammar"

// Table lists the commands of this package. Callers must not change it.
func Table() []Spec { return table }

var (
	write  = []string{"write"}
	quick  = []string{"write", "fast"}
	stores = []string{"write", "denyoom"}
	takes  = []string{"write", "denyoom", "fast"}
	reads  = []string{"readonly", "fast"}
	slow   = []string{"readonly"}
	runs   = []string{"noscript", "stale", "skip_monitor", "no_mandatory_keys", "movablekeys"}
	looks  = []string{"readonly", "noscript", "stale", "skip_monitor", "no_mandatory_keys", "movablekeys"}
	loads  = []string{"noscript", "stale"}
	tells  = []string{"noscript"}
	kills  = []string{"noscript", "allow_busy"}
	helps  = []string{"loading", "stale"}
)

// What commands may mean. Under WATCH a command without a token is conditional, and an
// expiry of 0 or less deletes.
const (
	mayStore  = MayRemove | MayAcquire | MayExtend
	mayDelete = MayRemove | MayRelease
	mayExpire = MayRemove | MayExtend | MayRelease
	mayScript = MayAll &^ MayAdmin
)

var table = []Spec{
	{
		Name: "set", Arity: -3, Flags: stores, First: 1, Last: 1, Step: 1, May: MayAcquire | MayExtend | MayRead | MayRemove,
		run: set, token: 2, deny: true, conditional: setConditional,
	},
	{Name: "setnx", Arity: 3, Flags: takes, First: 1, Last: 1, Step: 1, May: MayAcquire, run: setnx, token: 2},
	{Name: "setex", Arity: 4, Flags: stores, First: 1, Last: 1, Step: 1, May: mayStore, run: setex, token: 3, deny: true},
	{Name: "psetex", Arity: 4, Flags: stores, First: 1, Last: 1, Step: 1, May: mayStore, run: psetex, token: 3, deny: true},
	{Name: "msetnx", Arity: -3, Flags: stores, First: 1, Last: -1, Step: 2, May: MayAcquire, run: msetnx},
	{
		Name: "msetex", Arity: -4, Flags: stores, May: MayAcquire | MayRemove,
		run: msetex, deniedWith: "set", deny: true, conditional: msetexConditional, keyCount: 1, keyStep: 2,
	},
	{Name: "getset", Arity: 3, Flags: takes, First: 1, Last: 1, Step: 1, May: MayRead | MayRemove, run: getset, needs: MayRead, token: 2, deny: true},
	{Name: "getdel", Arity: 2, Flags: quick, First: 1, Last: 1, Step: 1, May: MayRead | MayRemove, run: getdel, needs: MayRead, deny: true},

	{Name: "get", Arity: 2, Flags: reads, First: 1, Last: 1, Step: 1, May: MayRead, run: get},
	{
		Name: "getex", Arity: -2, Flags: quick, First: 1, Last: 1, Step: 1, May: MayRead | MayRemove,
		run: getex, deniedWith: "pexpire", deny: true, conditional: getexConditional,
	},
	{Name: "digest", Arity: 2, Flags: reads, First: 1, Last: 1, Step: 1, May: MayRead, run: digest},
	{Name: "mget", Arity: -2, Flags: reads, First: 1, Last: -1, Step: 1, May: MayRead, run: mget},
	{Name: "exists", Arity: -2, Flags: reads, First: 1, Last: -1, Step: 1, May: MayRead, run: exists, list: countList},
	{Name: "touch", Arity: -2, Flags: reads, First: 1, Last: -1, Step: 1, May: MayRead, run: exists},
	{Name: "ttl", Arity: 2, Flags: reads, First: 1, Last: 1, Step: 1, May: MayRead, run: ttlSeconds, list: secondsOfList},
	{Name: "pttl", Arity: 2, Flags: reads, First: 1, Last: 1, Step: 1, May: MayRead, run: pttl, list: millisOfList},
	{Name: "expiretime", Arity: 2, Flags: reads, First: 1, Last: 1, Step: 1, May: MayRead, run: expiretime},
	{Name: "pexpiretime", Arity: 2, Flags: reads, First: 1, Last: 1, Step: 1, May: MayRead, run: pexpiretime},
	{Name: "strlen", Arity: 2, Flags: reads, First: 1, Last: 1, Step: 1, May: MayRead, run: strlen},
	{Name: "type", Arity: 2, Flags: reads, First: 1, Last: 1, Step: 1, May: MayRead, run: typ, list: typeOfList},

	{Name: "del", Arity: -2, Flags: write, First: 1, Last: -1, Step: 1, May: mayDelete, run: del, deny: true, list: countList},
	{Name: "unlink", Arity: -2, Flags: quick, First: 1, Last: -1, Step: 1, May: mayDelete, run: del, deny: true, list: countList},
	{Name: "delex", Arity: -2, Flags: quick, First: 1, Last: 1, Step: 1, May: mayDelete, run: delex, deny: true, conditional: delexConditional},
	{Name: "delifeq", Arity: 3, Flags: quick, First: 1, Last: 1, Step: 1, May: MayRelease, run: delifeq},

	{Name: "expire", Arity: -3, Flags: quick, First: 1, Last: 1, Step: 1, May: mayExpire, run: expire, deny: true},
	{Name: "pexpire", Arity: -3, Flags: quick, First: 1, Last: 1, Step: 1, May: mayExpire, run: pexpire, deny: true},
	{Name: "expireat", Arity: -3, Flags: quick, First: 1, Last: 1, Step: 1, May: MayRemove | MayExtend, run: expireat, deny: true},
	{Name: "pexpireat", Arity: -3, Flags: quick, First: 1, Last: 1, Step: 1, May: MayRemove | MayExtend, run: pexpireat, deny: true},
	{Name: "persist", Arity: 2, Flags: quick, First: 1, Last: 1, Step: 1, May: MayExtend | MayRemove, run: persist, deny: true},

	{Name: "hset", Arity: -4, Flags: takes, First: 1, Last: 1, Step: 1, May: MayAcquire | MayExtend, run: allOrNone, needs: MayAcquire | MayExtend},
	{Name: "hsetnx", Arity: 4, Flags: takes, First: 1, Last: 1, Step: 1, May: MayAcquire, run: allOrNone, needs: MayAcquire},
	{Name: "hincrby", Arity: 4, Flags: takes, First: 1, Last: 1, Step: 1, May: MayAcquire | MayExtend, run: allOrNone, needs: MayAcquire | MayExtend},
	{Name: "hdel", Arity: -3, Flags: quick, First: 1, Last: 1, Step: 1, May: MayRelease, run: allOrNone, needs: MayRelease},
	{Name: "hget", Arity: 3, Flags: reads, First: 1, Last: 1, Step: 1, May: MayRead, run: allOrNone, needs: MayRead},
	{Name: "hmget", Arity: -3, Flags: reads, First: 1, Last: 1, Step: 1, May: MayRead, run: allOrNone, needs: MayRead},
	{Name: "hexists", Arity: 3, Flags: reads, First: 1, Last: 1, Step: 1, May: MayRead, run: allOrNone, needs: MayRead},
	{Name: "hlen", Arity: 2, Flags: reads, First: 1, Last: 1, Step: 1, May: MayRead, run: allOrNone, needs: MayRead},
	{Name: "hkeys", Arity: 2, Flags: slow, First: 1, Last: 1, Step: 1, May: MayRead, run: allOrNone, needs: MayRead},
	{Name: "hvals", Arity: 2, Flags: slow, First: 1, Last: 1, Step: 1, May: MayRead, run: allOrNone, needs: MayRead},
	{Name: "hgetall", Arity: 2, Flags: slow, First: 1, Last: 1, Step: 1, May: MayRead, run: allOrNone, needs: MayRead},

	{Name: "eval", Arity: -3, Flags: runs, May: mayScript, run: eval, keyCount: 2, keyStep: 1, inExec: evalInExec},
	{Name: "evalsha", Arity: -3, Flags: runs, May: mayScript, run: evalsha, keyCount: 2, keyStep: 1, inExec: evalshaInExec},
	{Name: "eval_ro", Arity: -3, Flags: looks, May: MayRead, run: eval, keyCount: 2, keyStep: 1, readOnly: true, inExec: notBeside},
	{Name: "evalsha_ro", Arity: -3, Flags: looks, May: MayRead, run: evalsha, keyCount: 2, keyStep: 1, readOnly: true, inExec: notBeside},
	{Name: "script", Arity: -2, inExec: notBeside, Subcommands: []Spec{
		{Name: "script|load", Arity: 3, Flags: loads, run: scriptLoad, actsWhenTranslated: true},
		{Name: "script|exists", Arity: -3, Flags: tells, run: scriptExists, actsWhenTranslated: true},
		{Name: "script|flush", Arity: -2, Flags: tells, May: MayAdmin, run: scriptFlush, needs: MayAdmin, actsWhenTranslated: true},
		{Name: "script|kill", Arity: 2, Flags: kills, May: MayAdmin, run: scriptKill, needs: MayAdmin, actsWhenTranslated: true},
		{Name: "script|debug", Arity: 3, Flags: tells, run: scriptDebug, actsWhenTranslated: true},
		{Name: "script|help", Arity: 2, Flags: helps, run: scriptHelp, actsWhenTranslated: true},
	}},
}

var byName = indexed()

// indexed returns the table by name.
func indexed() map[string]*Spec {
	m := make(map[string]*Spec, len(table))
	for i := range table {
		m[table[i].Name] = &table[i]
	}
	return m
}

// lookup finds a command by its name in any case, without allocating; nil if
// there is none.
func lookup(name []byte) *Spec {
	var lower [16]byte
	if len(name) > len(lower) {
		return nil
	}
	for i, c := range name {
		lower[i] = grammar.Lower(c)
	}
	return byName[string(lower[:len(name)])]
}
