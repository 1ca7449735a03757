package mark

import (
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// The marks record two paddings: the greatest, which each new lock gets, and the least
// that a living lock may have, which a read subtracts (V3). They differ after a redlockd
// with a longer timeout has joined, until the earlier locks are over: subtracting more
// than such a lock has would tell its holder that the lock is gone. A redlockd that
// starts meanwhile cannot know of those locks, so the least padding stands in the marks
// as well. Any redlockd raises it once it has itself seen the greatest padding on a
// quorum for long enough. If it is raised late, or never, reads report the newer locks as
// too long by the difference. That gives no client a lock, because only the masters
// decide who holds it.

// sawPadding notes the padding that a mark records, before the greatest settings are
// taken over. The caller must hold mu.
func (c *Agreement) sawPadding(m *Mark) {
	if m.Padding > c.Greatest().Padding {
		clear(c.paddingSince)
	}
	if m.Padding > 0 {
		c.smallest = min(c.smallest, m.Padding)
	}
	_, recorded := c.paddingSince[m.Name]
	switch {
	case m.DB != 0:
	case m.Padding < c.Greatest().Padding:
		delete(c.paddingSince, m.Name)
	case !recorded:
		c.paddingSince[m.Name] = c.now()
	}
}

// RaiseLeast raises the least padding to the greatest, once all locks with less are over:
// the marks of a quorum have recorded the greatest for longer than the greatest hold. A
// redlockd that grants has looked at a quorum within clock.LookAge, and so at one of
// these marks.
func (c *Agreement) RaiseLeast(masters []string, quorum int, slack time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	since, n := c.now()-clock.LookAge-c.greatestHold-slack-c.Greatest().Timeout, 0
	for _, name := range masters {
		if at, recorded := c.paddingSince[name]; recorded && at <= since {
			n++
		}
	}
	if n >= quorum {
		s := c.Greatest()
		s.Least = s.Padding
		c.use(s)
	}
}

// ReadPadding returns what a read subtracts from a lock's remaining time. If no mark
// records a least padding, it is the smallest padding that was seen.
func (c *Agreement) ReadPadding() time.Duration {
	if least := c.Greatest().Least; least > 0 {
		return least
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.smallest
}
