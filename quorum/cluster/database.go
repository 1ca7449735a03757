package cluster

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/vote"
)

// Database is one database on all masters, with a link to each. Its exported methods are
// safe for concurrent use, and none but Wait and RaiseWithin blocks.
type Database struct {
	number int
	cfg    *Config
	change *change
	agreed *mark.Agreement
	// zero is database 0; nil if this is database 0.
	zero *Database
	// masters is the list in force.
	masters atomic.Pointer[List]
	// Only database 0 has the following: raised is the greatest hold that all marks were seen
	// to record and to let be granted, silentUntil is when this redlockd may grant locks again
	// after the clocks of a majority jumped together, by our clock (M5).
	raised, silentUntil atomic.Int64
	// jumpedAt is when they jumped, until it is known what was granted before that; steps is
	// held for it, and see handleStep.
	jumpedAt time.Duration
	steps    sync.Mutex
	now      clock.Clock
	stalls   *clock.StallDetector
	events   *events
}

// newDatabase returns a database whose monitors do not run yet.
func newDatabase(c *Cluster, number int) *Database {
	d := &Database{number: number, cfg: &c.cfg, change: &c.change, agreed: c.agreed, now: c.now, stalls: &c.stalls, events: c.events}
	if number != 0 {
		d.zero = c.Opened(0)
	}
	list := d.newList(c.masters)
	for i := range c.masters {
		list.Links = append(list.Links, d.newLink(c, c.masters[i]))
	}
	d.masters.Store(list)
	return d
}

// newLink returns a link to a master to which database 0, if this is another one, already
// has a link.
func (d *Database) newLink(c *Cluster, m Master) *Link {
	l := newLink(c.ctx, &c.cfg, m, d, c.now, c.log, c.events)
	if d.zero != nil {
		l.zero = d.zero.List().link(l.Name)
		l.traffic, l.clock = l.zero.traffic, l.zero.clock
		l.zero.mu.Lock()
		l.zero.others = append(l.zero.others, l)
		l.zero.mu.Unlock()
	}
	return l
}

// newList returns the list of these masters in a database, without links.
func (d *Database) newList(masters []Master) *List {
	list := &List{Needs: needsOf(masters), name: ListName(masters), seen: &seen{}}
	if d.zero != nil {
		list.seen = d.zero.List().seen
	}
	return list
}

// needsOf returns what votes need under a list of masters.
func needsOf(masters []Master) vote.Needs {
	n := vote.Needs{Quorum: vote.Majority(len(masters)), Required: -1}
	for i := range masters {
		if masters[i].Required {
			n.Required = i
		}
	}
	return n
}

// List returns the list of masters in force. The next call may return another one (M8).
func (d *Database) List() *List { return d.masters.Load() }

// Ready reports whether locks can be taken: a quorum may vote, the required master among
// them (V11), and this redlockd itself may grant (M5).
func (d *Database) Ready() bool { return d.silentFor(d.now()) == 0 && d.List().ready() }

// Wait returns nil as soon as the database is Ready, or ctx's error.
func (d *Database) Wait(ctx context.Context) error { return d.events.until(ctx, d.Ready) }

// Voting returns how many masters may be asked to create locks now (M4, M5).
func (d *Database) Voting() int {
	if d.silentFor(d.now()) > 0 {
		return 0
	}
	return d.List().count((*Link).canVote)
}

// WarmingUp returns how many masters do not vote yet only because their clocks are being
// watched (M5).
func (d *Database) WarmingUp() int {
	return d.first().List().count(func(l *Link) bool { return l.status.Reason == mark.WhyWarmingUp })
}

// Reachable returns how many masters may be asked anything now (M1).
func (d *Database) Reachable() int {
	return d.List().count(func(l *Link) bool { return l.open && !l.frozen(l.now()) })
}

// Raise makes sure that the marks record a hold before it is granted (M3): a master whose
// mark does not is silent. It returns true once all marks that can be written now record
// it. Otherwise it has asked the monitors to write them; they signal an event when they
// have (events.go).
func (d *Database) Raise(hold time.Duration) bool {
	if d.allRecord(hold) {
		return true
	}
	d = d.first()
	if hold > d.Floor() && !d.mayRecord(hold) {
		return true // AboveGrantLimit refuses it
	}
	// Ask for all marks, even if one has to be waited for.
	done, n, links := true, 0, d.List().Links
	for _, l := range links {
		recorded, waitFor := l.holdRecorded(hold)
		done = done && !waitFor
		if recorded {
			n++
		}
	}
	if n < len(links) || !done {
		return done
	}
	for old := d.raised.Load(); old < int64(hold) && !d.raised.CompareAndSwap(old, int64(hold)); {
		old = d.raised.Load()
	}
	return true
}

// allRecord reports whether all marks were seen to record a hold, and to let it be granted,
// and none that was seen since does not.
func (d *Database) allRecord(hold time.Duration) bool { return int64(hold) <= d.first().raised.Load() }

// RaiseWithin is Raise, but waits until the marks are written, for at most patience.
func (d *Database) RaiseWithin(hold, patience time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_ = d.events.until(ctx, func() bool { return d.Raise(hold) })
}

// Status returns the state of each master on the list in force, in its order.
func (d *Database) Status() []MasterStatus {
	list := d.List()
	out := make([]MasterStatus, len(list.Links))
	for i, l := range list.Links {
		out[i] = l.Describe()
		out[i].Required = i == list.Required
	}
	return out
}
