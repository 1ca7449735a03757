package quorum

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// seat is which server votes as one master (M9). Two servers may answer to one
// name, for instance while it moves to another address; the seat belongs to one
// of them. The marks of the other masters say to which: a server takes the seat
// by a new epoch that is written to so many of them that every majority meets
// one, and what is known of an earlier epoch counts no more.
type seat struct {
	// epoch counts the servers that have had the seat, from 1.
	epoch int
	// server is the id of the mark in its database 0, or vacant.
	server string
	// beat is the highest one that its mark was seen to bear (M4).
	beat int64
}

// vacant is the server of a seat that was taken from one that may not vote any
// more, and whose own mark could not be written to say so.
const vacant = "-"

// less reports whether other is a later holder of the seat.
func (s seat) less(other seat) bool {
	return s.epoch < other.epoch || s.epoch == other.epoch && s.server < other.server
}

// same reports whether both name one holder.
func (s seat) same(other seat) bool { return s.epoch == other.epoch && s.server == other.server }

// seats are those of all masters, by the hashes of their names.
type seats map[string]seat

// raise takes over one seat where it is later, or has a higher beat.
func (t seats) raise(name string, other seat) {
	if own := t[name]; own.less(other) || own.same(other) && own.beat < other.beat {
		t[name] = other
	}
}

// behind reports whether other has a later holder of any seat.
func (t seats) behind(other seats) bool {
	for name, s := range other {
		if t[name].less(s) {
			return true
		}
	}
	return false
}

// beats returns t with the higher beats of other, where the holder is the same.
func (t seats) beats(other seats) seats {
	out := maps.Clone(t)
	for name, s := range other {
		if t[name].same(s) {
			out.raise(name, s)
		}
	}
	return out
}

// overdue returns those of other whose beat is ahead of t by two or more.
func (t seats) overdue(other seats) seats {
	out := maps.Clone(other)
	maps.DeleteFunc(out, func(name string, s seat) bool { return s.beat-t[name].beat < 2 })
	return out
}

// merged returns the later of both for each seat.
func (t seats) merged(other seats) seats {
	out := maps.Clone(t)
	if out == nil {
		out = seats{}
	}
	for name, s := range other {
		out.raise(name, s)
	}
	return out
}

// String is how a mark bears them: hash:epoch:server:beat, separated by commas.
func (t seats) String() string {
	parts := make([]string, 0, len(t))
	for _, name := range slices.Sorted(maps.Keys(t)) {
		s := t[name]
		parts = append(parts, name+":"+strconv.Itoa(s.epoch)+":"+s.server+":"+decimal(s.beat))
	}
	return cmp.Or(strings.Join(parts, ","), "-")
}

// parseSeats reads what String wrote.
func parseSeats(text string) (seats, error) {
	out := seats{}
	if text == "-" {
		return out, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		f := strings.Split(part, ":")
		if len(f) != 4 {
			return nil, errNotAMark
		}
		epoch, err := strconv.Atoi(f[1])
		beat, err2 := strconv.ParseInt(f[3], 10, 64)
		if err != nil || err2 != nil {
			return nil, errNotAMark
		}
		out[f[0]] = seat{epoch: epoch, server: f[2], beat: beat}
	}
	return out, nil
}

// agreement is what the marks of all masters say together: who has the seats, and
// the greatest settings in use. It only ever rises. Safe for concurrent use.
type agreement struct {
	now clock.Clock

	mu    sync.Mutex
	seats seats
	// moved is when a seat's holder or beat was last seen to change, by our
	// clock.
	moved map[string]time.Duration
	// holders are the servers of all seats; a new map whenever one changes.
	holders atomic.Pointer[map[string]string]
	// inUse are the greatest settings in use; a new value whenever one changes.
	inUse atomic.Pointer[settings]
	// greatestHold is that of any mark; bearing is since when each master's mark
	// was seen to bear the greatest padding, smallest the smallest that was seen
	// (padding.go).
	greatestHold, smallest time.Duration
	bearing                map[string]time.Duration
}

// newAgreement begins with the settings of this redlockd.
func newAgreement(own settings, now clock.Clock) *agreement {
	c := &agreement{now: now, seats: seats{}, moved: map[string]time.Duration{},
		smallest: own.padding, bearing: map[string]time.Duration{}}
	c.holders.Store(&map[string]string{})
	c.use(own)
	return c
}

// saw takes over what a mark bears.
func (c *agreement) saw(m *mark) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sawPadding(m)
	c.use(c.greatest().greatest(m.settings))
	c.greatestHold = max(c.greatestHold, m.greatest)
	for name, s := range m.seats {
		c.raise(name, s)
	}
}

// raise needs mu.
func (c *agreement) raise(name string, s seat) {
	before := c.seats[name]
	c.seats.raise(name, s)
	after := c.seats[name]
	if after == before {
		return
	}
	c.moved[name] = c.now()
	if !after.same(before) {
		holders := maps.Clone(*c.holders.Load())
		holders[name] = after.server
		c.holders.Store(&holders)
	}
}

// sawBeat notes the beat of a seat's own mark.
func (c *agreement) sawBeat(name, holder string, beat int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.seats[name]; s.server == holder && s.beat < beat {
		s.beat = beat
		c.raise(name, s)
	}
}

// take gives a seat to a server, or leaves it vacant, where it still is as it
// was seen, and reports whether it did.
func (c *agreement) take(name string, seen seat, holder string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.seats[name].same(seen) {
		return false
	}
	c.raise(name, seat{epoch: seen.epoch + 1, server: holder})
	return true
}

// of returns a seat, and for how long nothing of it was seen to change.
func (c *agreement) of(name string) (seat, time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seats[name], c.now() - c.moved[name]
}

// all returns a copy of the seats of those that are on a list.
func (c *agreement) all(on func(name string) bool) seats {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := seats{}
	for name, s := range c.seats {
		if on(name) {
			out[name] = s
		}
	}
	return out
}

// holder is the server that has a seat. It takes no lock.
func (c *agreement) holder(name string) string { return (*c.holders.Load())[name] }

// lasting returns those of the seats that have been as they are for a while.
func (c *agreement) lasting(all seats, while time.Duration) seats {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := maps.Clone(all)
	maps.DeleteFunc(out, func(name string, _ seat) bool { return c.now()-c.moved[name] < while })
	return out
}

// everGranted returns the greatest hold that any mark was seen to bear.
func (c *agreement) everGranted() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.greatestHold
}

// greatest returns the greatest settings in use.
func (c *agreement) greatest() settings { return *c.inUse.Load() }

// use needs mu, so that none is lost.
func (c *agreement) use(s settings) {
	if last := c.inUse.Load(); last == nil || *last != s {
		c.inUse.Store(&s)
	}
}

// settings are what several redlockd must agree on where their files differ, as
// they do during a rolling restart: the marks bear the greatest of each, and
// everybody waits by those.
type settings struct {
	// hold is what max_ttl asks for.
	hold time.Duration
	// timeout is that of one attempt, padding what each lock gets (V3), least what
	// every living lock has, 0 where nobody knows (padding.go).
	timeout, padding, least time.Duration
}

func (s settings) greatest(other settings) settings {
	return settings{hold: max(s.hold, other.hold), timeout: max(s.timeout, other.timeout),
		padding: max(s.padding, other.padding), least: max(s.least, other.least)}
}
