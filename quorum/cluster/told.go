package cluster

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
)

// A master that may have forgotten locks waits as long as any of them may last
// (M4), and the marks of the others say how long that is. A quorum of them always
// can: it meets the one that granted. Fewer can where what was granted had been
// told to all. So a hold above the floor is granted only where the mark in database
// 0 says that all marks bore it at one time (told); and whoever gets a new mark
// takes over the greatest hold of the others before it counts.

// granted is what the marks tell of the locks that may be held.
type granted struct {
	// greatest is the greatest hold, as a new mark bears it; wait is how long a
	// master that may have forgotten locks must be watched: what the expiry has
	// beyond the hold (V6) is part of it.
	greatest, wait time.Duration
	// remembered is whether any master could tell.
	remembered bool
}

// holdSince is what may be held of locks that were given before a time, by the
// marks of the others that were looked at since: the greatest hold that a quorum of
// them bears; with fewer, that of the survivors, and at least the floor; without
// any, at least that of max_ttl.
func (d *Database) holdSince(of *Link, since time.Duration) granted {
	var g granted
	known := 0
	for _, l := range d.List().Links {
		l.mu.Lock()
		if l.view.Under != nil {
			g.greatest = max(g.greatest, l.view.Under.Greatest)
		}
		if l != of && l.remembers(since) {
			known++
		}
		l.mu.Unlock()
	}
	most := d.agreed.Greatest()
	g.remembered = known >= d.List().Quorum
	least := time.Duration(0)
	if !g.remembered {
		var told time.Duration
		if told, g.remembered = d.survivors(of, since); g.remembered {
			g.greatest, least = max(g.greatest, told), min(d.cfg.Floor(), most.Hold)
		} else {
			least = most.Hold
		}
	}
	g.wait = max(g.greatest, least) + ExpirySpread + NameSlack + d.cfg.LookSlack() + most.Timeout
	return g
}

// survivors is the greatest hold that those bear which can tell alone, if there are
// any. Database 0's marks bear that of all databases.
func (d *Database) survivors(of *Link, since time.Duration) (greatest time.Duration, any bool) {
	for _, l := range d.first().List().Links {
		l.mu.Lock()
		if (of == nil || l.Name != of.Name) && l.remembers(since) && l.view.Under.Told > 0 {
			greatest, any = max(greatest, l.view.Under.Greatest), true
		}
		l.mu.Unlock()
	}
	return greatest, any
}

// first is database 0.
func (d *Database) first() *Database { return cmp.Or(d.zero, d) }

// Remembering reports whether any master bears a real mark, so that bootstrap would
// refuse.
func (d *Database) Remembering() bool {
	return d.first().List().count(func(l *Link) bool { return l.view.Real() && l.open }) > 0
}

// allBore is the hold that the marks of all masters bore at one time: each was seen
// to bear it, and was seen again after the last of them was. While the list changes
// there are masters that are not known here.
func (d *Database) allBore() time.Duration {
	list := d.List()
	least, since, again := time.Duration(math.MaxInt64), time.Duration(0), time.Duration(math.MaxInt64)
	for _, l := range list.Links {
		l.mu.Lock()
		m := l.view.Under
		ok := m != nil && m.Real && l.holdsSeat() && !l.joins(m) && m.Phase == mark.Final && m.Masters == list.name
		if ok {
			least, since, again = min(least, m.Greatest), max(since, l.view.BoreSince), min(again, l.view.Sent)
		}
		l.mu.Unlock()
		if !ok {
			return 0
		}
	}
	if again <= since {
		return 0
	}
	return least
}

// telling is what the marks of database 0 are to be told: told is the hold that all
// bore at one time, as seen here or by what a quorum of them says; sure is whether
// so many others were looked at just now that a master's mark may take over what
// they bear, and can tell alone from then on.
func (d *Database) telling(of *Link) (told time.Duration, sure bool) {
	since, known := d.now()-2*clock.LookEvery, 0
	list := d.List()
	var said []time.Duration
	for _, l := range list.Links {
		l.mu.Lock()
		if l.remembers(since) {
			said = append(said, l.view.Under.Told)
			if l != of {
				known++
			}
		}
		l.mu.Unlock()
	}
	slices.Sort(said)
	if len(said) >= list.Quorum {
		told = said[len(said)-list.Quorum]
	}
	return max(told, d.allBore()), known >= min(list.Quorum, len(list.Links)-1)
}

// mayTell reports whether a hold may be written to marks: where a quorum of them lets
// it be granted, or it can be, since all others can be told now. Else it would
// lengthen the quarantines of masters by what nobody has got.
func (d *Database) mayTell(hold time.Duration) bool {
	told, lacking := d.toldOf(hold)
	return told >= d.List().Quorum || len(lacking) == 0 && !d.List().Changing()
}

// UntoldOf reports whether a hold may not be granted, since too few marks of database 0
// say that all bore it (M3), and which masters cannot be told of it now, as text for
// people.
func (d *Database) UntoldOf(hold time.Duration) (untold bool, lacking []string) {
	if hold <= d.cfg.Floor() || int64(hold) <= d.raised.Load() {
		return false, nil
	}
	zero := d.first()
	told, lacking := zero.toldOf(hold)
	return told < zero.List().Quorum, lacking
}

// toldOf is how many marks of database 0 let a hold be granted, and who else cannot
// be told now.
func (d *Database) toldOf(hold time.Duration) (told int, lacking []string) {
	for _, l := range d.List().Links {
		l.mu.Lock()
		may := l.Embedded || l.view.Real() && l.lets(l.view.Under, hold)
		can := l.canVote()
		l.mu.Unlock()
		switch {
		case may:
			told++
		case !can:
			lacking = append(lacking, l.Name+" is "+strings.Replace(string(l.Describe().State), "quarantine", "in quarantine", 1))
		}
	}
	return told, lacking
}
