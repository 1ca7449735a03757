package script

import (
	"fmt"
	"time"

	"github.com/redlockd/redlockd/commands/script/lua"
)

// maxPerCallInputs bounds the inputs, and with them the dry runs.
const maxPerCallInputs = 64

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
}

// scriptProgram returns the program of a script with its real inputs (f is a realForm).
func scriptProgram(c *chunk, f *form, db int, clock func() int64, listed map[string][]string) *program {
	p := &program{inputs: f.inputs, keys: f.inputs[:f.keys], db: db, clock: clock, listed: listed}
	p.carryOut = func(b *lua.Budget, s *space) (template, ending) {
		r := &run{Budget: b, chunk: c, form: f, token: -1, space: s}
		return r.execute(r.script)
	}
	return p
}

// touchedKeys are the keys that a program uses.
type touchedKeys struct {
	locks   []string
	signals map[string]bool
	decodes bool // whether a run decoded JSON
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
	case len(touched.locks) == 0:
		return &Meaning{Kind: Nothing, Reply: &[states]Value{last.Reply, last.Reply, last.Reply}}, nil
	}
	return &Meaning{Kind: PerCall, Key: touched.locks[0], Extra: &Extra{Keys: touched.locks, Run: func(found []State) (Result, error) {
		return p.runOn(lua.NewBudget(), touched, found)
	}}}, nil
}

// dryRuns finds the keys that runs touch. If there are several, or if a run decodes JSON,
// which no dry state is, all keys that were passed as keys are added, whether a dry run
// touched them or not.
func (p *program) dryRuns() (touched touchedKeys, last Result, err error) {
	touched.signals = map[string]bool{}
	b := lua.NewBudget()
	for more := true; more; { // each round adds signals, so it ends
		last, more, err = p.touch(b, &touched)
	}
	if err == nil && (len(touched.locks) > 1 || len(touched.locks) == 1 && touched.decodes) {
		touched.addKeys(p.keys)
	}
	return touched, last, err
}

// touch runs the program once in every dry state and sets t; more reports whether there
// were signals that were not known before.
func (p *program) touch(b *lua.Budget, t *touchedKeys) (last Result, more bool, err error) {
	t.locks = nil
	learned := map[string]bool{}
	for _, state := range dryStates(p.inputs) {
		var s *space
		s = p.space(t.signals, func(string) (State, bool) {
			if len(s.keys) >= 2*maxKeys { // some may turn out to be signals
				lua.Refuse("uses more than %d keys", maxKeys)
			}
			return state, true
		})
		for _, name := range t.locks {
			s.keys = append(s.keys, model(name, state))
		}
		s.signalKeys = learned
		known := len(s.keys)
		if last, err = p.run(b, s); err != nil {
			break
		}
		for _, k := range s.keys[known:] {
			if !k.signal {
				t.locks = append(t.locks, k.name.(string))
			}
		}
		t.decodes = t.decodes || s.decodes
	}
	for name := range learned {
		t.signals[name] = true
	}
	if more = len(learned) > 0; !more && err == nil && len(t.locks) > maxKeys {
		err = &RefusedError{Did: fmt.Sprintf("uses more than %d keys", maxKeys)}
	}
	return last, more, err
}

func (t *touchedKeys) addKeys(keys []string) {
	known := map[string]bool{}
	for _, name := range t.locks {
		known[name] = true
	}
	for _, name := range keys {
		if !known[name] && !t.signals[name] && len(t.locks) < maxKeys {
			t.locks = append(t.locks, name)
		}
		known[name] = true
	}
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
	return Result{Reply: reply.value, Notices: noticesOf(s.notices, nil)}, nil
}

// space returns the database of a run on real values. look returns the state of a lock,
// and false for one that the run may not use.
func (p *program) space(signals map[string]bool, look func(name string) (State, bool)) *space {
	s := &space{db: p.db, clock: p.clock, listed: p.listed}
	s.newKey = func(name value) *keyModel {
		key := name.(string)
		if signals[key] {
			return &keyModel{name: name, signal: true}
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
	return &keyModel{name: name, found: found, now: found, foundMillis: max(1, s.TTL.Milliseconds())}
}

// dryStates returns the states in which a script may act differently, each value once.
func dryStates(inputs []string) []State {
	dry, seen, other := []State{{}}, map[string]bool{}, "other"
	for _, s := range inputs {
		if !seen[s] {
			dry = append(dry, State{Found: true, Value: s, TTL: time.Minute})
		}
		seen[s] = true
	}
	for seen[other] {
		other += "-"
	}
	return append(dry, State{Found: true, Value: other, TTL: time.Minute})
}

// effect returns what a real run did to the key.
func (k *keyModel) effect() Effect {
	ttl, keeps := time.Duration(0), k.now.expiry.kind == asFound
	switch k.now.expiry.kind {
	case asFound:
		ttl = millis(k.foundMillis)
	case given:
		ttl = millis(k.now.expiry.after.add)
	}
	switch {
	case !k.wrote():
		return Effect{}
	case !k.now.exists:
		return Effect{Kind: Delete}
	case k.found.exists && k.now.value == k.found.value:
		return Effect{Kind: SetTTL, TTL: ttl, Keeps: keeps}
	}
	return Effect{Kind: Set, Value: k.now.value.(string), TTL: ttl, Keeps: keeps}
}
