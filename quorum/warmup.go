package quorum

import (
	"math"
	"slices"
	"strings"
	"time"
)

// A redlockd that has just started has no baseline to compare a clock with, and one
// that has not seen a master for long, since it was cut off or stood still
// itself, has one of little use: so much may the clock have drifted. Others
// may have a good one, and tell of a step in the mark, within a second and some
// round trips. So long the master does not vote here (M5).

// whyWarmingUp is why it does not.
const whyWarmingUp = "its clock is being watched"

// never is when a master was looked at that was not.
const never = time.Duration(math.MinInt64 / 2)

// needBaseline takes the vote, until others have told (meet), where there is no baseline
// that the look n can be compared with. Needs mu.
func (l *link) needBaseline(n offset) {
	if l.embedded || l.cfg.watched(n.received-l.sure) || l.zero != nil && l.takeBaseline(n) {
		return
	}
	if l.warm {
		l.wakeMonitor()
	}
	l.met, l.warm, l.based = false, false, n.received
}

// takeBaseline takes over what database 0 remembers of the clock, and is whether
// that is a baseline to compare the look n with. Needs mu.
func (l *link) takeBaseline(n offset) bool {
	z := l.zero
	z.mu.Lock()
	defer z.mu.Unlock()
	good := l.cfg.watched(n.received-z.sure) && !z.rebase
	if good || len(l.offsets.entries) == 0 {
		l.offsets = z.offsets
		l.offsets.entries = slices.Clone(z.offsets.entries)
	}
	if good {
		l.met, l.warm = z.met, l.warm && z.warm
		if l.warmBy = z.warmBy; z.warm {
			l.warmBy = never
		}
	}
	return good
}

// meet looks, once the clock was looked at anew, for others who could have seen
// a step that our own baseline does not show, and notes until when they must have
// told.
func (l *link) meet(c *connection, s observation) error {
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
	elsewhere := l.db.list().count(func(l *link) bool { return l.others }) > 0
	l.mu.Lock()
	defer l.mu.Unlock()
	l.met, l.warmBy, l.others = true, s.sent, others
	if others || elsewhere {
		l.warmBy = l.now() + l.warmUpTime()
	}
	return nil
}

// manyClients is how many connections a master has for which they are not
// listed, which would keep it busy: one of so many counts as another redlockd.
const manyClients = 1000

// hasOthers reports whether another redlockd is connected to the master, as far as
// can be told: without the right to list them, or to give them a name, any
// connection may be one.
func (l *link) hasOthers(c *connection, s observation) (bool, error) {
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

// warmingUp is how much longer others may take to tell, by a look at the mark; 0
// where they had to have told before it. Those who do not use a database tell in
// the mark of database 0.
func (l *link) warmingUp(s observation) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	told := l.met && s.sent >= l.warmBy && (l.zero == nil || s.zero != nil && s.zero.real)
	if l.warm || told {
		return 0
	}
	if !l.met {
		return l.warmUpTime()
	}
	return max(l.warmBy-l.now(), time.Millisecond)
}

// warmUpTime is how long another redlockd takes at most to see that a master's
// clock has stepped, and to say so in its mark, or in those of the others where
// its own cannot be written: the time between two looks, and seven round trips,
// for the beat before that time, for the look after it, for one at the other
// masters and one more, for the mark, and for a look at the others and theirs.
// Its timeout may be greater than ours: the greatest in use counts (M5). Masters
// whose round trips come nearer to it hardly vote.
func (l *link) warmUpTime() time.Duration { return warmUpBy(l.db.agreed.greatest().timeout) }

func warmUpBy(timeout time.Duration) time.Duration { return lookEvery + 6*timeout + 15*lookPause }

// lookAgain is when the monitor looks again, if nothing wakes it before.
func (l *link) lookAgain() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.warm {
		return lookEvery
	}
	return min(lookEvery, max(lookEvery/10, l.warmBy-l.now()))
}
