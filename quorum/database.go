package quorum

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
)

// database is one database over all masters: a link to each.
type database struct {
	number int
	cfg    *Config
	change *change
	agreed *mark.Agreement
	// name is what this redlockd calls itself in the marks.
	name string
	// zero is database 0, for another one.
	zero *database
	// masters is the list in force.
	masters atomic.Pointer[masterList]
	// raised is a hold that all marks were seen to bear.
	raised atomic.Int64
	// silentUntil is until when, by our clock, nothing is granted (M5), see
	// silentFor.
	silentUntil atomic.Int64
	now         clock.Clock
	stalls      *clock.StallDetector
	keys        keyTable
	watch       watchTable
}

// newDatabase makes a database whose monitors do not run yet.
func newDatabase(ctx context.Context, q *Quorum, number int) *database {
	d := &database{number: number, cfg: &q.cfg, change: &q.change, agreed: q.agreed, name: q.name, now: q.now, stalls: &q.stalls}
	list := &masterList{Needs: needsOf(q.masters), name: listName(q.masters)}
	d.keys.init()
	if number != 0 {
		d.zero = q.databases[0].Load()
	}
	for i := range q.masters {
		l := newLink(ctx, &q.cfg, q.masters[i], d, q.now, q.log, q.events)
		if d.zero != nil {
			l.zero = d.zero.list().link(l.name)
			l.traffic = l.zero.traffic
		}
		list.links = append(list.links, l)
	}
	d.masters.Store(list)
	return d
}

// list is the list of masters in force.
func (d *database) list() *masterList { return d.masters.Load() }

// ready reports whether locks can be taken.
func (d *database) ready() bool { return d.silentFor(d.now()) == 0 && d.list().ready() }

// voting is how many masters may be asked to create locks.
func (d *database) voting() int {
	if d.silentFor(d.now()) > 0 {
		return 0
	}
	return d.list().count((*link).canVote)
}

// reachable is how many masters may be asked anything.
func (d *database) reachable() int {
	return d.list().count(func(l *link) bool { return l.open && !l.frozen(l.now()) })
}

// raise makes sure that the marks bear a hold before it is granted (M3): a
// master whose mark does not is silent. It returns true when all do that can
// be expected to, and otherwise has told the monitors, who say when they have
// written it (events).
func (d *database) raise(hold time.Duration) bool {
	if int64(hold) <= d.raised.Load() {
		return true
	}
	if hold > d.cfg.floor() && !d.first().mayTell(hold) {
		return true // and refused (untold)
	}
	// All are told, also when one is waited for.
	done := d.zero == nil || d.zero.raise(hold)
	n, links := 0, d.list().links
	for _, l := range links {
		bears, waitFor := l.bearsHold(hold)
		done = done && !waitFor
		if bears {
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

// clocks are the masters' clocks now, as far as they are known.
func (d *database) clocks() []int64 {
	var out []int64
	for _, l := range d.list().links {
		if t, ok := l.clock.Newest(); ok {
			out = append(out, t)
		}
	}
	slices.Sort(out)
	return out
}

// status describes the masters.
func (d *database) status() []MasterStatus {
	list := d.list()
	out := make([]MasterStatus, len(list.links))
	for i, l := range list.links {
		out[i] = l.describe()
		out[i].Required = i == list.Required
	}
	return out
}

// wholeHold is how long locks that were given before a time may be held, as
// far as the marks tell that were looked at since.
func (d *database) wholeHold(since time.Duration) time.Duration {
	return d.holdSince(nil, since).wait
}
