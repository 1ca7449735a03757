package quorum

import (
	"math"
	"slices"
	"strings"
	"time"
)

// A redlockd that has just started has no line to compare a clock with, and one
// that has not seen a master for long, since it was cut off or stood still
// itself, has a line of little use: so much may the clock have drifted. Others
// may have a good one, and tell of a step in the mark, within a second and some
// round trips. So long the master does not vote here (M5).

// whySettling is why it does not.
const whySettling = "its clock is being watched"

// never is when a master was looked at that was not.
const never = time.Duration(math.MinInt64 / 2)

// needLine takes the vote, until others have told (meet), where there is no line
// that the look n can be compared with. Needs mu.
func (l *lane) needLine(n offset) {
	if l.embedded || l.cfg.watched(n.received-l.sure) || l.zero != nil && l.takeLine(n) {
		return
	}
	if l.settled {
		l.wakeKeeper()
	}
	l.met, l.settled, l.drawn = false, false, n.received
}

// takeLine takes over what database 0 remembers of the clock, and is whether
// that is a line to compare the look n with. Needs mu.
func (l *lane) takeLine(n offset) bool {
	z := l.zero
	z.mu.Lock()
	defer z.mu.Unlock()
	good := l.cfg.watched(n.received-z.sure) && !z.redraw
	if good || len(l.offsets.entries) == 0 {
		l.offsets = z.offsets
		l.offsets.entries = slices.Clone(z.offsets.entries)
	}
	if good {
		l.met, l.settled = z.met, l.settled && z.settled
		if l.settles = z.settles; z.settled {
			l.settles = never
		}
	}
	return good
}

// meet looks, once the clock was looked at anew, for others who could have seen
// a step that our own line does not show, and notes until when they must have
// told.
func (l *lane) meet(c *connection, s sight) error {
	l.mu.Lock()
	met := l.met || !l.cfg.watched(l.now()-l.sure)
	l.mu.Unlock()
	if met {
		return nil
	}
	others, err := l.hasOthers(c, s)
	if err != nil {
		return err
	}
	// Who is connected to another master may be about to reach this one too.
	elsewhere := l.db.list().count(func(l *lane) bool { return l.others }) > 0
	l.mu.Lock()
	defer l.mu.Unlock()
	l.met, l.settles, l.others = true, s.sent, others
	if others || elsewhere {
		l.settles = l.now() + l.settlingTime()
	}
	return nil
}

// manyClients is how many connections a master has for which they are not
// listed, which would keep it busy: one of so many counts as another redlockd.
const manyClients = 1000

// hasOthers reports whether another redlockd is connected to the master, as far as
// can be told: without the right to list them, or to give them a name, any
// connection may be one.
func (l *lane) hasOthers(c *connection, s sight) (bool, error) {
	if s.server.clients > manyClients {
		return true, nil
	}
	r := l.asks(c, c.client.B().ClientList().Build())[0]
	if err := r.Error(); broken(err) {
		return false, err
	}
	list, err := r.ToString()
	if err != nil {
		return s.server.clients > 1, nil
	}
	named, strangers, others := false, false, false
	for line := range strings.Lines(list) {
		name := strings.Contains(line, " name="+clientName+" ")
		if strings.HasPrefix(line, "id="+itoa(c.id)+" ") {
			named = name
			continue
		}
		strangers, others = true, others || name
	}
	return others || strangers && !named, nil
}

// settling is how much longer others may take to tell, by a look at the mark; 0
// where they had to have told before it. Those who do not use a database tell in
// the mark of database 0.
func (l *lane) settling(s sight) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	told := l.met && s.sent >= l.settles && (l.zero == nil || s.zero != nil && s.zero.real)
	if l.settled || told {
		return 0
	}
	if !l.met {
		return l.settlingTime()
	}
	return max(l.settles-l.now(), time.Millisecond)
}

// settlingTime is how long another redlockd takes at most to see that a master's
// clock has stepped, and to say so in its mark, or in those of the others where
// its own cannot be written: the time between two looks, and seven round trips,
// for the beat before that time, for the look after it, for one at the other
// masters and one more, for the mark, and for a look at the others and theirs.
// Its timeout may be greater than ours: the greatest in use counts (M5). Masters
// whose round trips come nearer to it hardly vote.
func (l *lane) settlingTime() time.Duration { return settlingBy(l.db.agreed.greatest().timeout) }

func settlingBy(timeout time.Duration) time.Duration { return lookEvery + 6*timeout + 15*lookPause }

// lookAgain is when the keeper looks again, if nothing wakes it before.
func (l *lane) lookAgain() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.settled {
		return lookEvery
	}
	return min(lookEvery, max(lookEvery/10, l.settles-l.now()))
}
