package mark

import "time"

// Memory is what this redlockd remembers of a master.
type Memory struct {
	// ID and beat are those of the last real mark, RunID that of its server; ID is empty if the
	// master never had one.
	ID    string
	RunID string
	beat  int64
	// last is the newest mark, real or not; BeatSeen is since when its beat has been seen
	// unchanged, by our clock.
	last     *Mark
	BeatSeen time.Duration
	// Granted is the greatest hold that this redlockd has asked the master for and that
	// may last; it counts until GrantedUntil, by our clock.
	Granted      time.Duration
	GrantedUntil time.Duration
	// Unfit is whether the master was a replica, or could evict, when last seen, or before and
	// its mark could not be written since; OtherServer is whether that was another server,
	// beside which this one was running.
	Unfit, OtherServer bool
	// Wanted is the greatest hold that the mark is to record.
	Wanted time.Duration
	// BeatDue is whether the beat is to be raised.
	BeatDue bool
	// Stepped is whether the master's clock has stepped (M5).
	Stepped bool
	// Lost is the id of the mark under which another database has lost its seal (M3).
	Lost string
	// Doubt is how long a redlockd that cannot tell whether the clock stepped must not
	// grant; 0 if no new doubt is to be written. clears is whether this redlockd can tell
	// that the clock has not stepped.
	Doubt  time.Duration
	clears bool
}

// Grant notes that the master is asked to keep a lock for hold.
func (m *Memory) Grant(hold, now time.Duration) {
	if until := now + hold; until > m.GrantedUntil {
		if now >= m.GrantedUntil {
			m.Granted = 0
		}
		m.Granted, m.GrantedUntil = max(m.Granted, hold), until
	}
}

// Saw takes over a later beat of the same mark, which was seen in another database.
func (m *Memory) Saw(other *Memory) {
	if m.ID == other.ID {
		m.beat = max(m.beat, other.beat)
	}
}

// NewerThan reports whether a real mark is older than what this redlockd knows of the
// master: its beat went back, or its greatest hold is less than what was granted under
// another mark and may still last.
func (m *Memory) NewerThan(mk *Mark) bool {
	return m.ID != "" && mk.Real && (mk.ID == m.ID && mk.Beat < m.beat || mk.ID != m.ID && mk.Greatest < m.Granted)
}

// before reports whether a mark is of an earlier time: the seat own, which its server has, was
// seen to be so many beats ahead. As a look may be some time ago, one beat proves nothing
// before the mark is written. Two do: a mark that has changed since is not written over. Three
// always do, since a master without a look in the last two seconds does not vote.
func (m *Mark) before(own Seat, beats int64) bool {
	return m.Real && m.ID == own.Server && m.Beat+beats <= own.Beat
}
