package mark

import "time"

// Memory is what this redlockd knows of a master from before.
type Memory struct {
	// sawReal is whether it ever bore a real mark, id and beat the last one,
	// RunID the server's that bore it. BeatSeen is since when the beat has been
	// seen unchanged, by our clock.
	sawReal  bool
	ID       string
	RunID    string
	beat     int64
	last     beatKey
	BeatSeen time.Duration
	// Granted is the greatest hold that this redlockd has asked it for, and may
	// last until then.
	Granted      time.Duration
	GrantedUntil time.Duration
	// Unfit is whether it was a replica, or could evict, when last seen.
	Unfit bool
	// Wanted is the greatest hold that shall be granted there.
	Wanted time.Duration
	// BeatDue is whether its beat is to be raised.
	BeatDue bool
	// Stepped is whether its clock has (M5).
	Stepped bool
	// Doubt is how long nobody may vote who cannot tell whether its clock has
	// stepped; 0 where that is not new. clears is whether we can tell, and it has
	// not.
	Doubt  time.Duration
	clears bool
}

// Grant notes that the master is asked to hold a lock for so long.
func (m *Memory) Grant(hold, now time.Duration) {
	if until := now + hold; until > m.GrantedUntil {
		if now >= m.GrantedUntil {
			m.Granted = 0
		}
		m.Granted, m.GrantedUntil = max(m.Granted, hold), until
	}
}

// beatKey is one beat of one mark.
type beatKey struct {
	id   string
	beat int64
}

// KnowsBetter reports whether a real mark is of an earlier time than what this
// redlockd knows of the master: its beat went back, or its greatest hold is less
// than what was granted under another mark and is not over.
func (m *Memory) KnowsBetter(mk *Mark) bool {
	return m.sawReal && mk.Real && (mk.ID == m.ID && mk.Beat < m.beat || mk.ID != m.ID && mk.Greatest < m.Granted)
}
