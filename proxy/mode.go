package proxy

// replyMode is CLIENT REPLY: which replies are not sent. It belongs to the reading
// goroutine.
type replyMode struct{ off, skip, skipNext bool }

// next begins a command.
func (m *replyMode) next() { m.skip, m.skipNext = m.skipNext, false }

// skipOne leaves out the reply of the command at hand and of the next one.
func (m *replyMode) skipOne() { m.skip, m.skipNext = true, !m.off }

// on sends replies, that of the command at hand too.
func (m *replyMode) on() { m.off, m.skip = false, false }

// silent reports whether the reply of the command at hand is not to be sent.
func (m *replyMode) silent() bool { return m.off || m.skip }
