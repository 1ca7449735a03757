package mark

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// Agreement is what the marks of all masters say together: who has the seats, and
// the greatest settings in use. It only ever rises. Safe for concurrent use.
type Agreement struct {
	now clock.Clock

	mu    sync.Mutex
	seats Seats
	// moved is when a seat's holder or beat was last seen to change, by our
	// clock.
	moved map[string]time.Duration
	// holders are the servers of all seats; a new map whenever one changes.
	holders atomic.Pointer[map[string]string]
	// inUse are the greatest settings in use; a new value whenever one changes.
	inUse atomic.Pointer[Settings]
	// greatestHold is that of any mark; bearing is since when each master's mark
	// was seen to bear the greatest padding, smallest the smallest that was seen
	// (padding.go).
	greatestHold, smallest time.Duration
	bearing                map[string]time.Duration
}

// NewAgreement begins with the settings of this redlockd.
func NewAgreement(own Settings, now clock.Clock) *Agreement {
	c := &Agreement{now: now, seats: Seats{}, moved: map[string]time.Duration{},
		smallest: own.Padding, bearing: map[string]time.Duration{}}
	c.holders.Store(&map[string]string{})
	c.use(own)
	return c
}

// Saw takes over what a mark bears.
func (c *Agreement) Saw(m *Mark) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sawPadding(m)
	c.use(c.Greatest().greatest(m.Settings))
	c.greatestHold = max(c.greatestHold, m.Greatest)
	for name, s := range m.Seats {
		c.raise(name, s)
	}
}

// raise needs mu.
func (c *Agreement) raise(name string, s Seat) {
	before := c.seats[name]
	c.seats.raise(name, s)
	after := c.seats[name]
	if after == before {
		return
	}
	c.moved[name] = c.now()
	if !after.Same(before) {
		holders := maps.Clone(*c.holders.Load())
		holders[name] = after.Server
		c.holders.Store(&holders)
	}
}

// SawBeat notes the beat of a seat's own mark.
func (c *Agreement) SawBeat(name, holder string, beat int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.seats[name]; s.Server == holder && s.Beat < beat {
		s.Beat = beat
		c.raise(name, s)
	}
}

// Take gives a seat to a server, or leaves it vacant, where it still is as it
// was seen, and reports whether it did.
func (c *Agreement) Take(name string, seen Seat, holder string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.seats[name].Same(seen) {
		return false
	}
	c.raise(name, Seat{Epoch: seen.Epoch + 1, Server: holder})
	return true
}

// Of returns a seat, and for how long nothing of it was seen to change.
func (c *Agreement) Of(name string) (Seat, time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seats[name], c.now() - c.moved[name]
}

// All returns a copy of the seats of those that are on a list.
func (c *Agreement) All(on func(name string) bool) Seats {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := Seats{}
	for name, s := range c.seats {
		if on(name) {
			out[name] = s
		}
	}
	return out
}

// Holder is the server that has a seat. It takes no lock.
func (c *Agreement) Holder(name string) string { return (*c.holders.Load())[name] }

// Lasting returns those of the seats that have been as they are for a while.
func (c *Agreement) Lasting(all Seats, while time.Duration) Seats {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := maps.Clone(all)
	maps.DeleteFunc(out, func(name string, _ Seat) bool { return c.now()-c.moved[name] < while })
	return out
}

// EverGranted returns the greatest hold that any mark was seen to bear.
func (c *Agreement) EverGranted() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.greatestHold
}

// Greatest returns the greatest settings in use.
func (c *Agreement) Greatest() Settings { return *c.inUse.Load() }

// use needs mu, so that none is lost.
func (c *Agreement) use(s Settings) {
	if last := c.inUse.Load(); last == nil || *last != s {
		c.inUse.Store(&s)
	}
}

// Settings are what several redlockd must agree on where their files differ, as
// they do during a rolling restart: the marks bear the greatest of each, and
// everybody waits by those.
type Settings struct {
	// Hold is what max_ttl asks for.
	Hold time.Duration
	// Timeout is that of one attempt, Padding what each lock gets (V3), Least what
	// every living lock has, 0 where nobody knows (padding.go).
	Timeout, Padding, Least time.Duration
}

func (s Settings) greatest(other Settings) Settings {
	return Settings{Hold: max(s.Hold, other.Hold), Timeout: max(s.Timeout, other.Timeout),
		Padding: max(s.Padding, other.Padding), Least: max(s.Least, other.Least)}
}
