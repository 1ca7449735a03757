package script

// Sweep is Understand for a call whose KEYS find the keys listed, by pattern. The meaning
// is PerCall on them, and a key that is gone by then is not found. The error is a
// *NeedsKeysError if the call asks for another pattern. A run that takes a lock is refused:
// a key that comes after the listing is not found, so the call would not be atomic.
func (l *Library) Sweep(db int, sha string, keys, args []string, listed map[string][]string) (*Meaning, error) {
	c, err := l.find(sha)
	if err != nil {
		return nil, err
	}
	inputs := append(append([]string{}, keys...), args...)
	p := l.program(c, realForm(inputs, len(keys)), db)
	p.listed = listed
	m, err := perCall(p)
	if err != nil || m.Kind != PerCall {
		return m, err
	}
	each := m.Run
	m.Run = func(found []State) (Result, error) {
		res, err := each(found)
		for i, e := range res.Effects {
			if e.Kind == Set && !found[i].Found {
				return Result{}, &RefusedError{Did: "takes a lock and calls KEYS, which does not find locks that come meanwhile"}
			}
		}
		return res, err
	}
	return m, nil
}
