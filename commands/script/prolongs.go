package script

import (
	"slices"
	"strconv"
)

// perCall returns the meaning of a call of a script without a proof. That a script does nothing
// but prolong its KEYS is remembered for calls with as many inputs, since the dry runs take long
// with many keys. It is no proof: a run that does more is refused, and forgotten.
func (l *Library) perCall(c *chunk, inputs []string, keys, db int) (*Meaning, error) {
	p := l.program(c, realForm(inputs, keys), db)
	names := slices.Compact(slices.Sorted(slices.Values(p.keys)))
	shape := c.sha + " " + strconv.Itoa(keys) + " " + strconv.Itoa(len(inputs))
	if len(names) < max(keys, 2) || keys > maxKeys || len(inputs) > maxPerCallInputs {
		return perCall(p)
	}
	l.mu.Lock()
	known, _ := l.prolong.get([]byte(shape))
	l.mu.Unlock()
	if !known {
		m, err := perCall(p)
		if err == nil && m.Kind == PerCall && m.Prolongs && slices.Equal(names, slices.Sorted(slices.Values(m.Keys))) {
			l.remembers(shape, true)
		}
		return m, err
	}
	m := p.meaning(touchedKeys{locks: p.keys})
	m.Hashes, m.Prolongs = true, true
	run := m.Run
	m.Run = func(found []State) (Result, error) {
		res, err := run(found)
		if err == nil && slices.ContainsFunc(res.Effects, func(e Effect) bool { return e.Kind == Set || e.Kind == Delete }) || len(res.Notices) > 0 {
			err = &RefusedError{Did: "does more than prolong its keys in some calls: call it again"}
		}
		if err != nil {
			l.remembers(shape, false)
			return Result{}, err
		}
		return res, nil
	}
	return m, nil
}

// remembers records whether calls of a shape only prolong their keys.
func (l *Library) remembers(shape string, prolongs bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prolong.put(shape, prolongs)
}
