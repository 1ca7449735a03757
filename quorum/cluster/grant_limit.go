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

// A master that may have forgotten locks waits as long as any of them may last (M4), and
// the other masters' marks say how long that is. A quorum of them always knows, since it
// includes a master that took part in the grant. Fewer know only if the hold had been
// recorded in all marks. So a hold above the floor is granted only if the mark says that
// all marks recorded it at one time (GrantLimit), and a new mark takes over the greatest
// hold of the others before it counts. The floor is in the marks too, since a mark that no
// instance with a greater max_ttl ever reached can tell nothing of its locks.

// granted is what the marks tell of the locks that may be held.
type granted struct {
	// greatest is the greatest hold, which a new mark records; wait is how long the
	// quarantine of a master that may have forgotten locks lasts. It includes what an
	// expiry has beyond its hold (V6).
	greatest, wait time.Duration
	// remembered is whether enough masters could tell what was granted, byQuorum whether a
	// quorum did: fewer know nothing of locks up to the floor.
	remembered, byQuorum bool
}

// holdSince returns what the marks tell of locks granted before since: the greatest hold
// that they record, if a quorum of the masters other than of was looked at after since;
// if only some that can tell alone were, the survivors, at least the floor; if there are
// none, at least that of max_ttl.
func (d *Database) holdSince(of *Link, since time.Duration) granted {
	var g granted
	var known int
	var floor time.Duration // of the survivors
	d.List().each(func(l *Link) {
		if l.view.Under != nil {
			g.greatest = max(g.greatest, l.view.Under.Greatest)
		}
		if l != of && l.remembers(since) {
			known++
			if l.view.Under.GrantLimit > 0 {
				floor = max(floor, l.view.Under.Floor)
			}
		}
	})
	g.byQuorum = known >= d.List().Quorum
	g.remembered = g.byQuorum || floor > 0
	least := time.Duration(0)
	switch {
	case !g.remembered:
		least = d.holdOfMaxTTL()
	case !g.byQuorum:
		least = floor
	}
	g.wait = d.over(max(g.greatest, least))
	return g
}

// holdOfMaxTTL returns at least the hold of the greatest max_ttl with the greatest padding,
// which may be another instance's: no lock is held for longer. The drift of that padding is a
// tenth at most (Config.ClockDrift), but for the rounding.
func (d *Database) holdOfMaxTTL() time.Duration {
	most := d.agreed.Greatest()
	return most.Hold + most.Padding() + most.Padding()/10 + time.Millisecond
}

// over returns how long after a time a lock with this hold that was granted before may be
// held.
func (d *Database) over(hold time.Duration) time.Duration {
	return hold + d.cfg.LookSlack() + d.agreed.Greatest().Timeout
}

// newFloor returns the floor of a new cluster: a hold of max_ttl, up to FloorHold.
func (d *Database) newFloor() time.Duration {
	return min(cmp.Or(d.cfg.LowFloor, FloorHold), RoundHold(d.agreed.Greatest().Hold))
}

// Floor returns the greatest hold that needs only a quorum of the marks: the least floor
// that a real mark records.
func (d *Database) Floor() time.Duration {
	least := time.Duration(math.MaxInt64)
	d.first().List().each(func(l *Link) {
		if l.view.Real() {
			least = min(least, l.view.Under.Floor)
		}
	})
	if least == math.MaxInt64 {
		return d.newFloor()
	}
	return least
}

// first returns database 0.
func (d *Database) first() *Database { return cmp.Or(d.zero, d) }

// Remembering reports whether any master has a real mark, so that Bootstrap would refuse.
func (d *Database) Remembering() bool {
	return d.first().List().count(func(l *Link) bool { return l.view.Real() && l.open }) > 0
}

// holdOnAllMarks returns the greatest hold that the marks of all masters recorded at one
// time: each was seen to record it, and was seen again after the last of them was. It is
// 0 while the list changes, since there may be masters that are not on the list here.
func (d *Database) holdOnAllMarks() time.Duration {
	list := d.List()
	least, since, again := time.Duration(math.MaxInt64), time.Duration(0), time.Duration(math.MaxInt64)
	for _, l := range list.Links {
		l.mu.Lock()
		m := l.view.Under
		ok := m != nil && m.Real && l.holdsSeat() && !l.joins(m) && m.Phase == mark.Final && m.Masters == list.name
		if ok {
			least, since, again = min(least, m.Greatest), max(since, l.view.UnderSince), min(again, l.view.Sent)
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

// grantLimit returns what to record as GrantLimit in the marks: limit is the hold that all
// marks recorded at one time, as seen here or by what a quorum of them says; floor is the
// greatest floor of the others. mayTakeOver reports whether so many others were looked at
// just now that a master's mark may take over what they record, and can tell alone from then
// on.
func (d *Database) grantLimit(of *Link) (limit, floor time.Duration, mayTakeOver bool) {
	since, known := d.now()-2*clock.LookEvery, 0
	list := d.List()
	var limits []time.Duration
	list.each(func(l *Link) {
		if l.remembers(since) {
			limits = append(limits, l.view.Under.GrantLimit)
			if l != of {
				floor = max(floor, l.view.Under.Floor)
				known++
			}
		}
	})
	slices.Sort(limits)
	if len(limits) >= list.Quorum {
		limit = limits[len(limits)-list.Quorum]
	}
	return max(limit, d.holdOnAllMarks()), floor, known >= min(list.Quorum, len(list.Links)-1)
}

// mayRecord reports whether a hold may be written to marks: a quorum of them lets it be
// granted, or can come to, since all others can be written now. Otherwise writing it
// would lengthen quarantines for a lock that is never granted.
func (d *Database) mayRecord(hold time.Duration) bool {
	allowing, lacking := d.marksAllowing(hold)
	return allowing >= d.List().Quorum || len(lacking) == 0 && !d.List().Changing()
}

// AboveGrantLimit reports whether a hold may not be granted, because too few marks say that
// all of them recorded it (M3). lacking names the masters whose marks cannot be written now,
// as text for operators.
func (d *Database) AboveGrantLimit(hold time.Duration) (above bool, lacking []string) {
	if d.allRecord(hold) || hold <= d.Floor() {
		return false, nil
	}
	zero := d.first()
	allowing, lacking := zero.marksAllowing(hold)
	return allowing < zero.List().Quorum, lacking
}

// inSentence words a master's state. What keeps one that votes from being asked, as a doubt does
// right after a silence (M5), becomes its state at the next look.
var inSentence = strings.NewReplacer(string(mark.Quarantine), "in quarantine", string(mark.Voting), "being looked at")

// marksAllowing returns how many marks let a hold be granted, and which of the other masters'
// marks cannot be written now.
func (d *Database) marksAllowing(hold time.Duration) (allowing int, lacking []string) {
	for _, l := range d.List().Links {
		l.mu.Lock()
		may := l.Embedded || l.view.Real() && allowsHold(l.view.Under, hold)
		can := l.canVote()
		l.mu.Unlock()
		switch {
		case may:
			allowing++
		case !can:
			lacking = append(lacking, l.Name+" is "+inSentence.Replace(string(l.Describe().State)))
		}
	}
	return allowing, lacking
}

// settings returns the settings to which the master's mark is raised. The least padding is
// among them only if the marks in view allow that now (V3).
func (mon *monitor) settings() mark.Settings {
	d := mon.db
	s := d.agreed.Greatest()
	if d.agreed.LeastMayRise(d.first().List().voters(), d.List().Quorum, mon.cfg.LookSlack()) {
		s.Least = s.Padding()
	}
	return s
}
