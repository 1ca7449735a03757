package commands

import (
	"time"

	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/commands/script"
	"github.com/redlockd/redlockd/internal/resp"
)

// Spec describes one command; its exported fields are those that COMMAND shows.
type Spec struct {
	// Name is in lower case, for a subcommand "script|load".
	Name string
	// Arity includes the name; -n means n or more.
	Arity int
	Flags []string
	// First, Last and Step are the positions of the keys; Last -1 is the last argument.
	// All are 0 if there are none, or none at fixed positions.
	First, Last, Step int
	// Subcommands are those of SCRIPT.
	Subcommands []Spec

	// May are the operations that the command may mean, for ACL CAT. A call that needs
	// more is refused to every user with limits.
	May Operations

	run func(call) Request
	// keyCount is the argument with the number of keys, which follow it, keyStep apart; 0
	// if First and Last apply.
	keyCount, keyStep int
	// needs is what each call of the command needs, besides its operations; a part of
	// May.
	needs Operations
	// deny allows Config.Deny to name the command; deniedWith is a command whose denial
	// applies to this one too. conditional reports whether a call names a token, or
	// spares an existing lock, and so is not denied; nil is never.
	deny        bool
	deniedWith  string
	conditional func(call) bool
	// token is the argument that is stored as a token; 0 is none.
	token int
	// readOnly marks commands whose scripts may change nothing.
	readOnly bool
	// actsWhenTranslated marks commands that act while they are translated.
	actsWhenTranslated bool
	// inExec returns the command as a part of a transaction of several, or the error text
	// if it cannot be one; nil stands for the command's words.
	inExec func(call) (script.Command, string)
	// list changes the reply r where a signal list has the key's name and is kept for the
	// time left; nil changes nothing.
	list func(r *resp.Reply, left time.Duration)
}

// resolve returns the command, or its subcommand, that args call, or the error text: an
// unknown subcommand, a wrong number of arguments.
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

// takes reports whether the command may have n words, its name included.
func (s *Spec) takes(n int) bool { return Takes(s.Arity, n) }

// Takes reports whether an arity lets a command have n words, its name included.
func Takes(arity, n int) bool { return n == arity || arity < 0 && n >= -arity }

// KeysOf returns the keys by their positions, as Redis finds them, in a call with enough
// words; false if the argument with the number of keys is wrong.
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
