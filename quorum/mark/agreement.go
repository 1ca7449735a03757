package mark

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// Agreement is what the marks of all masters say together: which servers have the seats,
// and the greatest settings in use. Its values only ever rise. Safe for concurrent use.
type Agreement struct {
	now clock.Clock

	mu sync.Mutex
	// number is the greatest number of a list that any mark records.
	number int
	// moved is when a seat's server or beat was last seen to change, by our clock.
	moved map[string]time.Duration
	// seats are read without a lock; a new map whenever one changes.
	seats atomic.Pointer[Seats]
	// inUse are the greatest settings in use; a new value whenever one changes.
	inUse atomic.Pointer[Settings]
	// greatestHold is the greatest hold that any mark records, smallest the smallest padding
	// seen. paddings are those that the marks were last seen to record, leastPadding is the
	// least of those in view (padding.go).
	greatestHold, smallest time.Duration
	paddings               map[string]seenPadding
	leastPadding           atomic.Int64
}

// NewAgreement returns an agreement with the settings of this redlockd.
func NewAgreement(own Settings, now clock.Clock) *Agreement {
	c := &Agreement{now: now, moved: map[string]time.Duration{},
		smallest: own.Padding(), paddings: map[string]seenPadding{}}
	c.leastPadding.Store(int64(own.Padding()))
	c.seats.Store(&Seats{})
	c.use(own)
	return c
}

// Saw takes over what a mark records.
func (c *Agreement) Saw(m *Mark) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sawPadding(m)
	others := m.Settings
	others.Least = 0 // what is remembered of it counts for nothing (padding.go)
	c.use(c.Greatest().greatest(others))
	c.greatestHold, c.number = max(c.greatestHold, m.Greatest), max(c.number, m.Number)
	for name, s := range m.Seats {
		c.raise(name, s)
	}
	if m.Phase == Final && m.Number == c.number {
		c.forgetSeats(m.Masters)
	}
}

// forgetSeats drops the seats of masters that are not on the latest list, as the marks do
// (refreshed): if one joins again, its seat is as new here as for others. The caller
// must hold mu.
func (c *Agreement) forgetSeats(list string) {
	if kept := c.Seats().on(list); len(kept) < len(*c.Seats()) {
		maps.DeleteFunc(c.moved, func(name string, _ time.Duration) bool { return kept[name] == Seat{} })
		c.seats.Store(&kept)
	}
}

// raise takes over one seat if it is newer. The caller must hold mu.
func (c *Agreement) raise(name string, s Seat) {
	if !c.Seat(name).behind(s) {
		return
	}
	c.moved[name] = c.now()
	seats := maps.Clone(*c.Seats())
	seats[name] = s
	c.seats.Store(&seats)
}

// SawBeat takes over the beat of the mark of the server that has a seat.
func (c *Agreement) SawBeat(name, server string, beat int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.Seat(name); s.Server == server && s.Beat < beat {
		s.Beat = beat
		c.raise(name, s)
	}
}

// Take gives a seat to a server, or makes it vacant, if the seat still is of the
// one seen. reading is the master's clock. It reports whether it did.
func (c *Agreement) Take(name string, seen Seat, server string, reading int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.Seat(name).Same(seen) {
		return false
	}
	epoch := seen.Epoch + 1
	if seen.Epoch == 0 {
		epoch = c.firstEpoch(reading)
	}
	c.raise(name, Seat{Epoch: epoch, Server: server})
	return true
}

// Begin gives a seat to a server in a new cluster (M6). No instance remembers a later server of
// before.
func (c *Agreement) Begin(name, server string, reading int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raise(name, Seat{Epoch: c.firstEpoch(reading) + renewal, Server: server})
}

// firstEpoch is that of a seat of which nothing is known. The caller must hold mu.
func (c *Agreement) firstEpoch(reading int64) int64 {
	known := int64(0)
	for _, s := range *c.Seats() {
		known = max(known, s.Epoch)
	}
	return firstEpoch(known, c.number, reading)
}

// Of returns a seat, and for how long no change of it was seen.
func (c *Agreement) Of(name string) (Seat, time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Seat(name), c.now() - c.moved[name]
}

// All returns a copy of the seats of the masters that satisfy on.
func (c *Agreement) All(on func(name string) bool) Seats {
	out := maps.Clone(*c.Seats())
	maps.DeleteFunc(out, func(name string, _ Seat) bool { return !on(name) })
	return out
}

// Seats returns the seats now; the value does not change. It takes no lock.
func (c *Agreement) Seats() *Seats { return c.seats.Load() }

// Seat returns a seat. It takes no lock.
func (c *Agreement) Seat(name string) Seat { return (*c.Seats())[name] }

// Lasting returns those of the seats that have not changed for at least while.
func (c *Agreement) Lasting(all Seats, while time.Duration) Seats {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := maps.Clone(all)
	maps.DeleteFunc(out, func(name string, _ Seat) bool { return c.now()-c.moved[name] < while })
	return out
}

// EverGranted returns the greatest hold that any mark was seen to record.
func (c *Agreement) EverGranted() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.greatestHold
}

// Greatest returns the greatest settings in use.
func (c *Agreement) Greatest() Settings { return *c.inUse.Load() }

// use stores the settings. The caller must hold mu, so that no update is lost.
func (c *Agreement) use(s Settings) {
	if last := c.inUse.Load(); last == nil || *last != s {
		c.inUse.Store(&s)
	}
}

// Settings are what several instances must agree on even if their configuration files
// differ, as during a rolling restart. The marks record the greatest of each, and every
// instance waits and holds locks by these.
type Settings struct {
	// Hold is the hold of max_ttl.
	Hold time.Duration `json:"max"`
	// Timeout is that of one attempt, Least the least padding of all living locks, 0 if it is
	// not known (padding.go): in Rules, that to which marks are raised.
	Timeout time.Duration `json:"timeout"`
	Least   time.Duration `json:"least,omitempty"`
}

// Padding is what the hold of each new lock has beyond its TTL, apart from drift: one timeout
// from the attempt's first byte to the reply's last, and one for a clock step that no
// instance can see (V2, V3). Earlier attempts, such as those that were split, need none:
// each attempt has a hold of its own.
func (s Settings) Padding() time.Duration { return 2 * s.Timeout }

func (s Settings) greatest(other Settings) Settings {
	return Settings{Hold: max(s.Hold, other.Hold), Timeout: max(s.Timeout, other.Timeout), Least: max(s.Least, other.Least)}
}
