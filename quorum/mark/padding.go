package mark

import (
	"cmp"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// The marks record two paddings: the greatest, which each new lock gets, and the least
// that a living lock may have, which says which round trips tell of a step of a clock (V3).
// They differ after a redlockd with a longer timeout has joined, until the earlier locks are
// over: a step that is not seen must be no greater than what such a lock has. A redlockd that
// starts meanwhile cannot know of those locks, so the least padding stands in the marks
// as well. Any instance raises it once it has itself seen the greatest padding on a
// quorum for long enough. If it is raised late, or never, a master with long round trips
// does not vote.

// A least padding counts by what the marks in view say, never by one instance's memory, nor
// by one mark: masters may have lost theirs and begun anew with a redlockd that knew of no
// longer timeout. Each majority of marks includes one with the least padding of every lock.

// raised returns the settings of a mark, raised to others. If the mark records no least padding,
// that is the padding so far: once this is raised, who starts later cannot know of it.
func (s Settings) raised(to Settings) Settings {
	if s.Least == 0 && s.Timeout < to.Timeout {
		s.Least = s.Padding()
	}
	return s.greatest(to)
}

// seenPadding is the least padding that a mark was last seen to record, at the time at, and
// timeout that of its greatest padding, which it has recorded since then.
type seenPadding struct {
	id             string
	least, timeout time.Duration
	at, since      time.Duration
}

// leastInView is how long a mark counts for the least padding after it was seen.
const leastInView = 5 * clock.LookEvery

// sawPadding takes over the padding that a mark records, and works out the least of all that
// are in view. A mark that began anew, or was out of view, may have had a smaller one meanwhile.
// The caller must hold mu.
func (c *Agreement) sawPadding(m *Mark) {
	if m.Timeout > 0 {
		c.smallest = min(c.smallest, m.Padding())
	}
	now := c.now()
	p := seenPadding{id: m.ID, least: m.Least, timeout: m.Timeout, at: now, since: now}
	if was := c.paddings[m.Name]; was.id == m.ID && was.timeout == m.Timeout && now-was.at <= 2*clock.LookEvery {
		p.since = was.since
	}
	c.paddings[m.Name] = p
	least := cmp.Or(m.Least, c.smallest)
	for _, l := range c.paddings {
		if now-l.at <= leastInView {
			least = min(least, cmp.Or(l.least, c.smallest))
		}
	}
	c.leastPadding.Store(int64(least))
}

// LeastMayRise reports whether the least padding in the marks may be raised to the greatest
// now, since all locks with less are over: the marks of a quorum are in view, and have recorded
// the greatest for longer than the greatest hold. A redlockd that grants has looked at a quorum within
// clock.LookAge, and so at one of these marks.
func (c *Agreement) LeastMayRise(masters []string, quorum int, slack time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, greatest, n := c.now(), c.Greatest().Timeout, 0
	since := now - clock.LookAge - c.greatestHold - slack - greatest
	for _, name := range masters {
		if p := c.paddings[name]; p.timeout == greatest && p.since <= since && now-p.at <= 2*clock.LookEvery {
			n++
		}
	}
	return n >= quorum
}

// LeastPadding returns the least padding of the marks in view. For one that records none, the
// smallest padding that was seen counts.
func (c *Agreement) LeastPadding() time.Duration { return time.Duration(c.leastPadding.Load()) }
