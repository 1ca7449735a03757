package mark

import (
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// The marks bear two paddings: the greatest, which each new lock gets, and the
// least that a living lock may have, which a read takes off again (V3). They
// differ after a redlockd with a longer timeout has joined, until the locks of
// before are over: to take off more than such a lock has would tell its holder that
// it has none. Whoever starts meanwhile cannot know of those locks, so the least
// stands in the marks as well. It is raised by any redlockd that has itself seen the
// greatest on a quorum for long enough. Where it is raised late, or never, reads
// tell the newer locks by the difference too long, which gives nobody a lock: who
// has it is what the masters say.

// sawPadding notes what a mark bears, before the greatest settings are taken over.
// Needs mu.
func (c *Agreement) sawPadding(m *Mark) {
	if m.Padding > c.Greatest().Padding {
		clear(c.bearing)
	}
	if m.Padding > 0 {
		c.smallest = min(c.smallest, m.Padding)
	}
	_, bore := c.bearing[m.Name]
	switch {
	case m.DB != 0:
	case m.Padding < c.Greatest().Padding:
		delete(c.bearing, m.Name)
	case !bore:
		c.bearing[m.Name] = c.now()
	}
}

// RaiseLeast takes the greatest padding for the least, once all locks with less are
// over: the marks of a quorum have borne it since before the greatest hold began.
// Whoever grants has looked at a quorum within clock.LookAge, and so has met one of them.
func (c *Agreement) RaiseLeast(masters []string, quorum int, slack time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	since, n := c.now()-clock.LookAge-c.greatestHold-slack-c.Greatest().Timeout, 0
	for _, name := range masters {
		if at, bears := c.bearing[name]; bears && at <= since {
			n++
		}
	}
	if n >= quorum {
		s := c.Greatest()
		s.Least = s.Padding
		c.use(s)
	}
}

// ReadPadding is what a read takes off a lock. Where no mark tells, none has been
// there for long.
func (c *Agreement) ReadPadding() time.Duration {
	if least := c.Greatest().Least; least > 0 {
		return least
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.smallest
}
