package script

// Sweep is Understand for a call whose KEYS find the keys listed, by pattern. The meaning
// is PerCall on them, and a key that is gone by then is not found. The error is a
// *NeedsKeysError if the call asks for another pattern.
func (l *Library) Sweep(db int, sha string, keys, args []string, listed map[string][]string) (*Meaning, error) {
	c, err := l.find(sha)
	if err != nil {
		return nil, err
	}
	inputs := append(append([]string{}, keys...), args...)
	return perCall(scriptProgram(c, realForm(inputs, len(keys)), db, l.clock, listed))
}
