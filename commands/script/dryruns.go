package script

import (
	"fmt"
	"time"

	"github.com/redlockd/redlockd/commands/script/lua"
	"github.com/redlockd/redlockd/commands/values"
)

// The dry runs, which find out what keys a call uses before any master is asked.

// touchedKeys are the keys that a program uses.
type touchedKeys struct {
	locks   []string
	signals map[string]bool
	decodes bool // whether a run decoded JSON
	latches bool // whether a run used one
	hashes  bool // whether a run called a command on hashes
	// prolonged are the states in which a run prolonged locks; more reports whether one did
	// anything else.
	prolonged []State
	more      bool
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
		var res Result
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
		res, err = p.run(b, s)
		if _, refused := err.(*RefusedError); refused && (values.Hidden(state.Value) || s.hashes && state.Found) {
			err, t.more = nil, true // the keys may never hold that
		} else if last = res; err != nil {
			break
		}
		t.note(s, known, state)
	}
	for name := range learned {
		t.signals[name] = true
	}
	if more = len(learned) > 0; !more && err == nil && len(t.locks) > maxKeys {
		err = &RefusedError{Did: fmt.Sprintf("uses more than %d keys", maxKeys)}
	}
	return last, more, err
}

// note adds what a dry run in a state has touched, of keys that are not among the first known.
func (t *touchedKeys) note(s *space, known int, state State) {
	prolongs := false
	for i, k := range s.keys {
		t.latches = t.latches || k.latch
		if k.signal || k.latch {
			continue
		}
		if i >= known {
			t.locks = append(t.locks, k.name.(string))
		}
		switch {
		case !k.wrote():
		case k.effect().Kind == SetTTL:
			prolongs = true
		default:
			t.more = true
		}
	}
	if prolongs {
		t.prolonged = append(t.prolonged, state)
	}
	t.more = t.more || len(s.notices) > 0 || len(s.signalKeys) > 0
	t.decodes, t.hashes = t.decodes || s.decodes, t.hashes || s.hashes
}

// prolongsEach reports whether the program, which only prolongs locks, does so to each by what
// that one holds: of any two, one is held and the other is not in one of the runs.
func (p *program) prolongsEach(t touchedKeys) bool {
	for _, state := range t.prolonged {
		all := make([]State, len(t.locks))
		for i := range all {
			all[i] = state
		}
		whole, err := p.runOn(lua.NewBudget(), t, all)
		for bit := 1; err == nil && bit < 2*len(all); bit <<= 1 {
			for _, held := range []int{0, bit} {
				some := make([]State, len(all))
				for i := range some {
					if i&bit == held {
						some[i] = state
					}
				}
				var part Result
				if part, err = p.runOn(lua.NewBudget(), t, some); err != nil {
					break
				}
				for i, e := range part.Effects {
					if want := whole.Effects[i]; i&bit == held && e != want || i&bit != held && e.Kind != None {
						return false
					}
				}
			}
		}
		if err != nil {
			return false
		}
	}
	return len(t.prolonged) > 0
}

func (t *touchedKeys) addKeys(keys []string) {
	known := map[string]bool{}
	for _, name := range t.locks {
		known[name] = true
	}
	for _, name := range keys {
		if !known[name] && !t.signals[name] && !IsLatch(name) && len(t.locks) < maxKeys {
			t.locks = append(t.locks, name)
		}
		known[name] = true
	}
}

// maxDryInputs bounds the inputs that are tried as what the keys hold. Scripts with more tell
// their keys apart by the fields of hashes, or name all of them in every state.
const maxDryInputs = 64

// dryStates returns the states in which a script may act differently: absent, each input once,
// hashes of all inputs, of which a release leaves nothing or something, and of none of them, and
// another string.
func dryStates(inputs []string) []State {
	dry, seen, other := []State{{}}, map[string]bool{}, "other"
	add := func(value string) { dry = append(dry, State{Found: true, Value: value, TTL: time.Minute}) }
	var once, twice []values.Member
	for _, s := range inputs {
		if !seen[s] && len(inputs) <= maxDryInputs && !values.Hidden(s) {
			add(s)
		}
		if !seen[s] {
			once, twice = append(once, values.Member{Field: s, Value: "1"}), append(twice, values.Member{Field: s, Value: "2"})
		}
		seen[s] = true
	}
	for seen[other] {
		other += "-"
	}
	add(string(values.HashOf(once...)))
	add(string(values.HashOf(twice...)))
	add(string(values.HashOf(values.Member{Field: other, Value: "1"})))
	add(other)
	return dry
}
