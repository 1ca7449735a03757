package script

import (
	"strings"

	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/commands/script/lua"
)

// Command is one command of a transaction: its words, or the call of a script.
type Command struct {
	Words []string
	// SHA is set for a script; then Keys and Args are its inputs.
	SHA        string
	Keys, Args []string
}

// Transact returns what commands do when they are carried out one after the other with
// nothing in between. The reply is the array of their replies; if one is an error, that
// is the whole reply and nothing is done. The meaning is PerCall, or Nothing if no key is
// named. The error is a *RefusedError, or ErrNoScript.
func (l *Library) Transact(db int, commands []Command) (*Meaning, error) {
	p := &program{db: db, clock: l.clock, latch: l.latch}
	steps := make([]func(*run) template, len(commands))
	for i, c := range commands {
		if c.SHA == "" {
			steps[i] = commandStep(c.Words)
			continue
		}
		script, err := l.find(c.SHA)
		if err != nil {
			return nil, err
		}
		steps[i] = scriptStep(script, c)
		p.inputs = append(append(p.inputs, c.Keys...), c.Args...)
		p.keys = append(p.keys, c.Keys...)
	}
	p.carryOut = func(b *lua.Budget, s *space) (template, ending) {
		r := &run{Budget: b, form: realForm(nil, 0), token: -1, space: s}
		return r.execute(func() template { return transaction(r, steps) })
	}
	m, err := perCall(p)
	if err != nil || m.Kind != PerCall {
		return m, err
	}
	each := m.Run
	m.Run = func(found []State) (Result, error) {
		res, err := each(found)
		if err == nil && res.Reply.Kind == Error {
			res = Result{Effects: make([]Effect, len(found)), Reply: res.Reply}
		}
		return res, err
	}
	return m, nil
}

// transaction runs all steps, also behind an error, since a dry run has to find the keys
// of all commands.
func transaction(r *run, steps []func(*run) template) template {
	all := template{value: Value{Kind: Array, Items: make([]Value, 0, len(steps))}}
	var failed *template
	for _, step := range steps {
		reply := step(r)
		if reply.value.Kind == Error && failed == nil {
			failed = &reply
		}
		all.value.Items = append(all.value.Items, reply.value)
	}
	if failed != nil {
		return *failed
	}
	return all
}

func commandStep(words []string) func(*run) template {
	return func(r *run) template {
		args := make([]value, len(words))
		for i, w := range words {
			args[i] = w
		}
		if _, known := keyCommands[strings.ToUpper(words[0])]; !known {
			lua.Refuse("holds %.40s", strings.ToUpper(words[0]))
		}
		v, failure := runCommand(r, args)
		if failure != "" {
			return template{value: Value{Kind: Error, Text: failure}}
		}
		reply := r.reply(v, 0)
		if reply.value.Kind == Array && grammar.Is(words[0], "hgetall") {
			reply.value.Kind = Map
		}
		return reply
	}
}

func scriptStep(c *chunk, call Command) func(*run) template {
	inputs := append(append([]string{}, call.Keys...), call.Args...)
	return func(r *run) template {
		sub := &run{Budget: r.Budget, chunk: c, form: realForm(inputs, len(call.Keys)), token: -1, space: r.space}
		return sub.script()
	}
}
