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
