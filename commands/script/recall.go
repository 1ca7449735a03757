package script

// memory is what is remembered of one shape: the inputs that had to be revealed so far,
// and the summaries by the bytes of these inputs.
type memory struct {
	revealed uint32
	unproved int
	meanings *lru[*summary]
}

// unprovable is the summary of a shape with too many PerCall meanings.
var unprovable = &summary{kind: PerCall}

// recall returns the script and the remembered summary of the form, or nil; it sets
// f.revealed to what is revealed in all forms of this shape.
func (l *Library) recall(sha string, f *form) (*chunk, *summary, error) {
	c, err := l.find(sha)
	if err != nil {
		return nil, nil, err
	}
	var buffer [512]byte
	l.mu.Lock()
	defer l.mu.Unlock()
	m, ok := l.shapes.get(f.appendShape(buffer[:0], c.sha))
	switch {
	case !ok:
		return c, nil, nil
	case m.unproved > maxUnproved:
		return c, unprovable, nil
	}
	f.revealed = m.revealed
	known, _ := m.meanings.get(f.appendRevealed(buffer[:0]))
	return c, known, nil
}

// remember keeps the summary of the form. A shape only ever reveals more inputs;
// summaries with fewer revealed inputs are dropped.
func (l *Library) remember(sha string, f *form, known *summary) {
	shape := f.appendShape(nil, sha)
	l.mu.Lock()
	defer l.mu.Unlock()
	m, ok := l.shapes.get(shape)
	if !ok {
		m = &memory{meanings: newLRU[*summary](maxMeanings)}
		l.shapes.put(string(shape), m)
	}
	if known.refused == nil && known.kind == PerCall {
		m.unproved++
	}
	if all := m.revealed | f.revealed; all != m.revealed {
		m.revealed, m.meanings = all, newLRU[*summary](maxMeanings)
	}
	// Another session may have revealed more meanwhile. The longer key covers fewer
	// calls, so the summary is still true for them.
	mine := *f
	mine.revealed = m.revealed
	if key := mine.appendRevealed(nil); len(key) <= maxRevealed && known.size() <= maxReplies {
		m.meanings.put(string(key), known)
	}
}
