package commands

import (
	"time"

	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/commands/script"
	"github.com/redlockd/redlockd/internal/resp"
)

// Spec describes one command as COMMAND tells it.
type Spec struct {
	// Name is in lower case; of a subcommand it is "script|load".
	Name string
	// Arity counts the name; -n means n or more.
	Arity int
	Flags []string
	// First, Last and Step say which arguments are keys; Last -1 is the last
	// argument, all 0 is none or not known from the place.
	First, Last, Step int
	// Subcommands are those of SCRIPT.
	Subcommands []Spec

	// May are the operations that the command may mean, for ACL CAT. What it
	// turns out to need besides is refused to every user with limits.
	May Operations

	run func(call) Request
	// keyCount is the argument that says how many keys follow it, keyStep apart;
	// 0 where First and Last tell.
	keyCount, keyStep int
	// needs is what the command needs whatever its operations are; a part of
	// May.
	needs Operations
	// deny says that Config.Deny may name the command; like is a command whose
	// denial is this one's too. conditional reports whether a call names a token,
	// or spares a lock that is there, and so is not denied; nil is never.
	deny        bool
	like        string
	conditional func(call) bool
	// token is the argument that is stored as a token, if it is one; 0 is none.
	token int
	// readOnly is for scripts that may change nothing.
	readOnly bool
	// atOnce says that the command acts while it is understood.
	atOnce bool
	// inExec is the command as a part of a transaction of several, or why it
	// cannot be one; nil is by its words.
	inExec func(call) (script.Command, string)
	// list is what the reply becomes where there is a signal list of that name
	// with some time left, where r is what it is for the lock; nil is the same.
	list func(r *resp.Reply, left time.Duration)
}

// Table lists the commands of this package. Callers must not change it.
func Table() []Spec { return table }

var (
	write  = []string{"write"}
	quick  = []string{"write", "fast"}
	stores = []string{"write", "denyoom"}
	takes  = []string{"write", "denyoom", "fast"}
	reads  = []string{"readonly", "fast"}
	runs   = []string{"noscript", "stale", "skip_monitor", "no_mandatory_keys", "movablekeys"}
	looks  = []string{"readonly", "noscript", "stale", "skip_monitor", "no_mandatory_keys", "movablekeys"}
	loads  = []string{"noscript", "stale"}
	tells  = []string{"noscript"}
	kills  = []string{"noscript", "allow_busy"}
	helps  = []string{"loading", "stale"}
)

// What commands may mean. Under WATCH what names no token is conditional, and
// a time that is over deletes.
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
		run: msetex, like: "set", deny: true, conditional: msetexConditional, keyCount: 1, keyStep: 2,
	},
	{Name: "getset", Arity: 3, Flags: takes, First: 1, Last: 1, Step: 1, May: MayRead | MayRemove, run: getset, needs: MayRead, token: 2, deny: true},
	{Name: "getdel", Arity: 2, Flags: quick, First: 1, Last: 1, Step: 1, May: MayRead | MayRemove, run: getdel, needs: MayRead, deny: true},

	{Name: "get", Arity: 2, Flags: reads, First: 1, Last: 1, Step: 1, May: MayRead, run: get},
	{
		Name: "getex", Arity: -2, Flags: quick, First: 1, Last: 1, Step: 1, May: MayRead | MayRemove,
		run: getex, like: "pexpire", deny: true, conditional: getexConditional,
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

	{Name: "del", Arity: -2, Flags: write, First: 1, Last: -1, Step: 1, May: mayDelete, run: del, deny: true},
	{Name: "unlink", Arity: -2, Flags: quick, First: 1, Last: -1, Step: 1, May: mayDelete, run: del, deny: true},
	{Name: "delex", Arity: -2, Flags: quick, First: 1, Last: 1, Step: 1, May: mayDelete, run: delex, deny: true, conditional: delexConditional},
	{Name: "delifeq", Arity: 3, Flags: quick, First: 1, Last: 1, Step: 1, May: MayRelease, run: delifeq},

	{Name: "expire", Arity: -3, Flags: quick, First: 1, Last: 1, Step: 1, May: mayExpire, run: expire, deny: true},
	{Name: "pexpire", Arity: -3, Flags: quick, First: 1, Last: 1, Step: 1, May: mayExpire, run: pexpire, deny: true},
	{Name: "expireat", Arity: -3, Flags: quick, First: 1, Last: 1, Step: 1, May: mayExpire, run: expireat, deny: true},
	{Name: "pexpireat", Arity: -3, Flags: quick, First: 1, Last: 1, Step: 1, May: mayExpire, run: pexpireat, deny: true},
	{Name: "persist", Arity: 2, Flags: quick, First: 1, Last: 1, Step: 1, May: MayExtend | MayRemove, run: persist, deny: true},

	{Name: "eval", Arity: -3, Flags: runs, May: mayScript, run: eval, keyCount: 2, keyStep: 1, inExec: evalInExec},
	{Name: "evalsha", Arity: -3, Flags: runs, May: mayScript, run: evalsha, keyCount: 2, keyStep: 1, inExec: evalshaInExec},
	{Name: "eval_ro", Arity: -3, Flags: looks, May: MayRead, run: eval, keyCount: 2, keyStep: 1, readOnly: true, inExec: notBeside},
	{Name: "evalsha_ro", Arity: -3, Flags: looks, May: MayRead, run: evalsha, keyCount: 2, keyStep: 1, readOnly: true, inExec: notBeside},
	{Name: "script", Arity: -2, inExec: notBeside, Subcommands: []Spec{
		{Name: "script|load", Arity: 3, Flags: loads, run: scriptLoad, atOnce: true},
		{Name: "script|exists", Arity: -3, Flags: tells, run: scriptExists, atOnce: true},
		{Name: "script|flush", Arity: -2, Flags: tells, May: MayAdmin, run: scriptFlush, needs: MayAdmin, atOnce: true},
		{Name: "script|kill", Arity: 2, Flags: kills, May: MayAdmin, run: scriptKill, needs: MayAdmin, atOnce: true},
		{Name: "script|debug", Arity: 3, Flags: tells, run: scriptDebug, atOnce: true},
		{Name: "script|help", Arity: 2, Flags: helps, run: scriptHelp, atOnce: true},
	}},
}

var byName = indexed()

// indexed is the table by name.
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

// resolve is the command, or the subcommand of it, that args call, or why they
// cannot: an unknown subcommand, a wrong number of arguments.
func (s *Spec) resolve(args [][]byte) (*Spec, string) {
	if !s.takes(len(args)) {
		return nil, wrongArity(s.Name)
	}
	if s.Subcommands == nil {
		return s, ""
	}
	for i := range s.Subcommands {
		sub := &s.Subcommands[i]
		if !grammar.Is(args[1], sub.Name[len(s.Name)+1:]) {
			continue
		}
		if !sub.takes(len(args)) {
			return nil, wrongArity(sub.Name)
		}
		return sub, ""
	}
	return nil, unknownSubcommand(s.Name, args[1])
}

// takes reports whether the command may have so many words, its name included.
func (s *Spec) takes(n int) bool { return Takes(s.Arity, n) }

// Takes reports whether an arity lets a command have n words, its name included.
func Takes(arity, n int) bool { return n == arity || arity < 0 && n >= -arity }

// KeysOf are the keys by their places, as Redis finds them, in a call that has
// enough words; false where the number of keys is not one.
func (s *Spec) KeysOf(args [][]byte) (keys [][]byte, ok bool) {
	first, last, step := s.First, s.Last, s.Step
	switch {
	case s.keyCount > 0:
		first, step = s.keyCount+1, s.keyStep
		n, ok := resp.ParseInt(args[s.keyCount])
		if !ok || n < 0 || n > int64(len(args)-first)/int64(step) {
			return nil, false
		}
		last = first + step*int(n) - 1
	case first == 0:
		return nil, true
	case last < 0:
		last += len(args)
	}
	if step == 1 {
		return args[first : last+1], true
	}
	for i := first; i <= last; i += step {
		keys = append(keys, args[i])
	}
	return keys, true
}
