package script

import "github.com/redlockd/redlockd/commands/script/lua"

// NeedsKeysError says that a call asks for all keys of a pattern: whoever wants
// to carry it out lists them and calls Sweep. Its text is for who cannot.
type NeedsKeysError struct{ Pattern string }

func (e *NeedsKeysError) Error() string {
	return "ERR KEYS in a script is allowed only outside MULTI"
}

// keysCommand is KEYS: those of the listed keys that are there.
func keysCommand(r *run, args []value) (value, string) {
	if r.proving {
		panic(unproved{})
	}
	glob := r.word(args[1])
	listed, ok := r.space.listed[glob]
	if !ok {
		panic(&NeedsKeysError{glob})
	}
	var there []value
	for _, name := range listed {
		if r.touch(name).now.exists {
			there = append(there, name)
		}
	}
	return lua.List(r.Budget, there...), ""
}

// Sweep is Understand for a call whose KEYS find these keys, by pattern: its
// meaning is PerCall on them, and a key that is gone meanwhile is not found.
// The error is a *NeedsKeysError where it asks for another pattern.
func (l *Library) Sweep(db int, sha string, keys, args []string, listed map[string][]string) (*Meaning, error) {
	c, err := l.find(sha)
	if err != nil {
		return nil, err
	}
	inputs := append(append([]string{}, keys...), args...)
	return perCall(scriptProgram(c, realForm(inputs, len(keys)), db, l.clock, listed))
}

// Scripts is how many scripts are kept.
func (l *Library) Scripts() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.scripts.entries)
}
