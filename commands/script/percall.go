package script

import (
	"fmt"

	"github.com/redlockd/redlockd/commands/script/lua"
	"github.com/redlockd/redlockd/commands/values"
)

// maxPerCallInputs bounds the inputs, and with them the dry runs.
const maxPerCallInputs = 512

// program is what a PerCall meaning runs on real values: a script, or the commands of a
// transaction.
type program struct {
	carryOut func(b *lua.Budget, s *space) (template, ending)
	// inputs are the strings with which it may compare what it finds, keys those that
	// were passed as keys.
	inputs, keys []string
	db           int
	clock        func() int64
	listed       map[string][]string
	latch        func(db int, name string) (Latch, bool)
}

// program returns the program of a script with its real inputs (f is a realForm).
func (l *Library) program(c *chunk, f *form, db int) *program {
	p := &program{inputs: f.inputs, keys: f.inputs[:f.keys], db: db, clock: l.clock, latch: l.latch}
	p.carryOut = func(b *lua.Budget, s *space) (template, ending) {
		r := &run{Budget: b, chunk: c, form: f, token: -1, space: s}
		return r.execute(r.script)
	}
	return p
}

// perCall returns the meaning of a call without a proof. Its keys are found by dry runs:
// with all keys absent, holding each input in turn, and holding something else.
func perCall(p *program) (*Meaning, error) {
	if len(p.inputs) > maxPerCallInputs {
		return nil, &RefusedError{Did: fmt.Sprintf("has more than %d keys and arguments", maxPerCallInputs)}
	}
	touched, last, err := p.dryRuns()
	switch {
	case err != nil:
		return nil, err
	case len(touched.locks) == 0 && len(touched.signals) > 0:
		return nil, &RefusedError{Did: "fills a list and names no lock"}
	case len(touched.locks) == 0 && len(last.Notices) > 0:
		return nil, &RefusedError{Did: "publishes and names no lock"}
	case len(touched.locks) == 0 && touched.latches:
		return nil, &RefusedError{Did: "keeps a reply and names no lock"}
	case len(touched.locks) == 0:
		return &Meaning{Kind: Nothing, Reply: &[states]Value{last.Reply, last.Reply, last.Reply}}, nil
	}
	m := p.meaning(touched)
	// Dry runs prove nothing, so what only looks at strings is carried out on all keys or on none.
	m.Hashes = touched.hashes
	m.Prolongs = touched.hashes && len(touched.locks) > 1 && !touched.more && p.prolongsEach(touched)
	return m, nil
}

// meaning returns the PerCall of the locks that were touched.
func (p *program) meaning(t touchedKeys) *Meaning {
	run := func(found []State) (Result, error) { return p.runOn(lua.NewBudget(), t, found) }
	return &Meaning{Kind: PerCall, Key: t.locks[0], Extra: &Extra{Keys: t.locks, Run: run}}
}

// runOn runs the program on the states found of its locks.
func (p *program) runOn(b *lua.Budget, touched touchedKeys, found []State) (Result, error) {
	s := p.space(touched.signals, func(string) (State, bool) { return State{}, false })
	for i, name := range touched.locks {
		s.keys = append(s.keys, model(name, found[i]))
	}
	res, err := p.run(b, s)
	if more, ok := err.(signalling); ok {
		err = &RefusedError{Did: lua.OneLine(fmt.Sprintf("fills the list %.40q by what a key holds", more.name))}
	}
	if err != nil {
		return Result{}, err
	}
	res.Effects = make([]Effect, len(touched.locks))
	for i := range touched.locks {
		res.Effects[i] = s.keys[i].effect()
		if refused := s.keys[i].unfit(); refused != nil {
			return Result{}, refused
		}
	}
	return res, nil
}

// run runs the program in a space. Nothing is sealed, so it succeeds, is refused, needs
// keys, or has found a signal.
func (p *program) run(b *lua.Budget, s *space) (res Result, err error) {
	reply, end := p.carryOut(b, s)
	switch end := end.(type) {
	case *RefusedError:
		return res, end
	case signalling:
		return res, end
	case *NeedsKeysError:
		return res, end
	}
	res = Result{Reply: reply.value, Notices: noticesOf(s.notices, nil), ReadsLeft: s.readsLeft}
	res.Latches, err = latchesOf(s)
	return res, err
}

// space returns the database of a run on real values. look returns the state of a lock,
// and false for one that the run may not use.
func (p *program) space(signals map[string]bool, look func(name string) (State, bool)) *space {
	s := &space{db: p.db, clock: p.clock, listed: p.listed}
	s.newKey = func(name value) *keyModel {
		key := name.(string)
		switch {
		case signals[key]:
			return &keyModel{name: name, signal: true}
		case IsLatch(key):
			return p.latchModel(key, s.signalKeys != nil)
		}
		state, ok := look(key)
		if !ok {
			lua.Refuse("uses the key %.40q only if another key holds something", key)
		}
		return model(key, state)
	}
	return s
}

// model returns a key of a run on real values.
func model(name string, s State) *keyModel {
	found := content{}
	if s.Found {
		found = content{exists: true, value: s.Value, expiry: expiry{kind: asFound}}
	}
	if values.Hidden(s.Value) {
		found.value = values.Hash(s.Value)
	}
	return &keyModel{name: name, found: found, now: found, foundMillis: max(1, s.TTL.Milliseconds())}
}

// latchModel returns a latch as it is remembered; in a dry run none is.
func (p *program) latchModel(name string, dry bool) *keyModel {
	k := model(name, State{})
	if l, ok := p.latch(p.db, name); ok && !dry {
		k = model(name, State{Found: true, Value: l.Value, TTL: l.TTL})
	}
	k.latch = true
	return k
}
