package script

// meaning returns the Meaning of a call with these inputs.
func (l *summary) meaning(inputs []string) *Meaning {
	m := &Meaning{Kind: l.kind, TTL: millis(l.ttl.of(inputs))}
	switch key := l.key.(type) {
	case sealed:
		m.Key = inputs[key.class]
	case string:
		m.Key = key
	}
	if l.token >= 0 {
		m.Token = inputs[l.token]
	}
	if m.Reply = l.fixed; m.Reply == nil {
		m.Reply = l.replies(inputs)
	}
	if l.hasNotices() {
		m.Extra = &Extra{}
		for state := range l.notices {
			m.Notices[state] = noticesOf(l.notices[state], inputs)
		}
	}
	return m
}

// replies returns the reply table of a call with these inputs.
func (l *summary) replies(inputs []string) *[states]Value {
	var all [states]Value
	for state := range l.reply {
		all[state] = l.reply[state].fill(inputs)
	}
	return &all
}
