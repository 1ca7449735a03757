package mark

import (
	"slices"
	"time"
)

// Observation is what was seen of a master in one look.
type Observation struct {
	// Raw is the mark as it stood there, Mark what it says, or nil.
	Raw  string
	Mark *Mark
	// Foreign is whether raw is no mark at all.
	Foreign bool
	// Zero is the mark of database 0, for another one that has none.
	ZeroRaw string
	Zero    *Mark
	// Sent is when the look went out, by our clock; Reading is the master's
	// clock in milliseconds.
	Sent    time.Duration
	Reading int64
	Server  server
}

// Unlisted reports whether database 0 has a mark that does not list this one.
func (s *Observation) Unlisted(db int) bool {
	return db != 0 && s.Zero != nil && !slices.Contains(s.Zero.DBs, db)
}

// ExemptByZero follows the mark of database 0, which is on the same disk.
func (s *Observation) ExemptByZero() Exemption {
	switch {
	case s.Zero == nil || !s.Zero.Real:
		return NotExempt
	case s.Zero.RunID == s.Server.RunID:
		return IsExempt
	default:
		return ExemptAsked
	}
}

// Exemption is what the other marks say of a master that says that it has lost
// nothing in a restart (M4).
type Exemption uint8

const (
	// NotExempt: it lost something, or nobody can tell.
	NotExempt Exemption = iota
	// ExemptAsked: another redlockd may still say so.
	ExemptAsked
	// IsExempt: nobody knows of a later beat.
	IsExempt
	// ExemptAlone: the same, but too few of those that were asked have a memory of
	// their own. It votes, and cannot tell alone what was granted (cluster/told.go).
	ExemptAlone
)

// Rules are what a master is judged by.
type Rules struct {
	Name string
	// List is the list of masters in force here, Known the latest state of
	// it that a quorum bears.
	List  string
	Known Generation
	// Bore is the state that its mark bore when it was seen last, if it was.
	Bore Generation
	// Foreign is whether another master of ours bears the real mark of a list
	// that ours has not come from: then ours may be a list that nobody has
	// announced, and no quarantine ends under it.
	Foreign bool
	// Yields is whether the mark is of another list that is in use, and ours
	// is not.
	Yields bool
	// Outlived is whether the mark is of a list of ours that the one in force has come
	// after, or of a change that came to nothing: its server missed that.
	Outlived      bool
	DB            int
	AllowEviction bool
	Quarantine    bool
	// Wait is how long locks of before may last (M4), Greatest what a new
	// mark bears.
	Wait, Greatest time.Duration
	// Remembered is whether any master tells so; InView whether so many others are
	// looked at now that no majority of them remembers unseen. Floor, Told and Sure
	// are for cluster/told.go.
	Remembered, InView bool
	Floor, Told        time.Duration
	Sure               bool
	// WarmingUp is how long others may take to tell of a step that we have not
	// seen (M5).
	WarmingUp time.Duration
	// Seats are those of all masters, Own the one of this, and Settings the
	// greatest in use. Redlockd is what this one claims residues as.
	Seats Seats
	Own   Seat
	// Unsaid are the seats that others had the time to write, see refreshed.
	Unsaid   Seats
	Settings Settings
	Redlockd string
	// Quiet is whether the server that has the seat is not in use any more,
	// Borne whether so many of the other marks bear the seat as it is here that
	// every majority meets one (M9).
	Quiet, Borne bool
	// Heard is whether that server was, since this one has been connected to.
	Heard bool
	// Silent is whether this redlockd grants nothing by itself for a while (M5).
	Silent bool
	// Exempt is whether it lost nothing in a restart (M4).
	Exempt Exemption
}

// Judgement is what follows from a look.
type Judgement struct {
	// Write is the mark to be written first, if any; the rest holds if that
	// succeeds.
	Write *Mark
	// Open is whether operations may be sent.
	Open   bool
	State  State
	Reason string
	Left   time.Duration
	Unfit  bool
	// Said is whether the reason is the master's own word.
	Said bool
}
