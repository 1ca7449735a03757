package quorum

import "time"

// memory is what this redlockd knows of a master from before.
type memory struct {
	// sawReal is whether it ever bore a real mark, id and beat the last one,
	// runID the server's that bore it. beatSeen is since when the beat has been
	// seen unchanged, by our clock.
	sawReal  bool
	id       string
	runID    string
	beat     int64
	last     beatKey
	beatSeen time.Duration
	// granted is the greatest hold that this redlockd has asked it for, and may
	// last until then.
	granted      time.Duration
	grantedUntil time.Duration
	// unfit is whether it was a replica, or could evict, when last seen.
	unfit bool
	// wanted is the greatest hold that shall be granted there.
	wanted time.Duration
	// beatDue is whether its beat is to be raised.
	beatDue bool
	// stepped is whether its clock has (M5).
	stepped bool
	// doubt is how long nobody may vote who cannot tell whether its clock has
	// stepped; 0 where that is not new. clears is whether we can tell, and it has
	// not.
	doubt  time.Duration
	clears bool
}

// grant notes that the master is asked to hold a lock for so long.
func (m *memory) grant(hold, now time.Duration) {
	if until := now + hold; until > m.grantedUntil {
		if now >= m.grantedUntil {
			m.granted = 0
		}
		m.granted, m.grantedUntil = max(m.granted, hold), until
	}
}

// beatKey is one beat of one mark.
type beatKey struct {
	id   string
	beat int64
}

// knowsBetter reports whether a real mark is of an earlier time than what this
// redlockd knows of the master: its beat went back, or its greatest hold is less
// than what was granted under another mark and is not over.
func (m *memory) knowsBetter(mk *mark) bool {
	return m.sawReal && mk.real && (mk.id == m.id && mk.beat < m.beat || mk.id != m.id && mk.greatest < m.granted)
}
