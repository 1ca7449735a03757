package mark

import "time"

// Observation is what one look at a master has shown.
type Observation struct {
	// Raw is the mark's text, Mark the parsed mark, or nil.
	Raw  string
	Mark *Mark
	// Foreign is whether Raw is not a mark.
	Foreign bool
	// Seal is what another database than 0, through which the mark was read, has as its seal.
	Seal string
	// Sent is when the look went out, by our clock; Reading is the master's clock in
	// milliseconds.
	Sent    time.Duration
	Reading int64
	Server  server
}

// OfAnother reports whether next is of a server of its own, to which a wrong address led, and
// not of this one after a restart: that keeps its mark, or has none, and is not a replica.
func (s *Observation) OfAnother(next *Observation) bool {
	return s.Server.RunID != "" && s.Server.RunID != next.Server.RunID &&
		(next.Mark != nil && (s.Mark == nil || s.Mark.ID != next.Mark.ID) || s.Server.Replica || next.Server.Replica)
}

// Beside reports whether the server with this run_id was running beside this one: the mark,
// which was copied, named it already.
func (s *Observation) Beside(runID string) bool {
	return s.Server.RunID != runID && s.Mark != nil && s.Mark.RunID == runID
}

// Exemption is what the other marks say about a master that reports that it lost nothing
// in a restart (M4).
type Exemption uint8

const (
	// NotExempt: it lost something, or this cannot be ruled out.
	NotExempt Exemption = iota
	// ExemptAsked: another instance may still report a later beat.
	ExemptAsked
	// IsExempt: no instance knows of a later beat.
	IsExempt
	// ExemptAlone is IsExempt, but too few of the masters that were looked at have lost
	// nothing themselves. It votes, but cannot tell alone what was granted
	// (cluster/grant_limit.go).
	ExemptAlone
)

// Rules are what a master is judged by.
type Rules struct {
	Name string
	// List is the list of masters in force here, Known its latest state that a quorum
	// records.
	List  string
	Known Generation
	// LastRecorded is the state that the mark recorded when last seen, if it was seen.
	LastRecorded Generation
	// Foreign is whether another master of ours has a real mark of a list that ours did
	// not come from. Then our list may never have been announced, and no quarantine ends
	// under it.
	Foreign bool
	// Yields reports whether the mark is of another list that is in use while ours is not.
	Yields bool
	// Outlived reports whether the mark is of a list older than the one in force, or of an
	// abandoned or forgotten change: its server missed what came since.
	Outlived      bool
	AllowEviction bool
	// Wait is how long earlier locks may last (M4), Greatest the greatest hold that a new
	// mark records.
	Wait, Greatest time.Duration
	// FirstSeen is whether this look is the first that shows the quarantine. It does not end
	// it: what the other marks have told until then may be older than the quarantine.
	FirstSeen bool
	// Remembered is whether enough masters can tell what was granted. InView is whether
	// so many others are looked at now that no majority of them could know more unseen.
	// NewFloor is the floor of a new cluster, Floor that of the other masters' real marks;
	// it is 0 if none is in view. They, GrantLimit and MayTakeOver are explained in
	// cluster/grant_limit.go.
	Remembered, InView          bool
	NewFloor, Floor, GrantLimit time.Duration
	MayTakeOver                 bool
	// WarmingUp is how much longer others may take to record a step that this redlockd
	// has not seen (M5).
	WarmingUp time.Duration
	// Seats are the seats of all masters, Own this master's seat, and Settings the
	// greatest settings in use.
	Seats Seats
	Own   Seat
	// Forgotten are the masters of whose seats the other marks may not tell the latest
	// server, because too many of them were lost (M9).
	Forgotten []string
	// LastingSeats are the seats that others have had time to record, see refreshed.
	LastingSeats Seats
	Settings     Settings
	// Quiet is whether the server that has the seat is not in use any more. SeatRecorded
	// is whether so many of the other marks record the seat as it is here that every
	// majority includes one of them (M9).
	Quiet, SeatRecorded bool
	// CountsFrom is the reading of the master's clock from which a quarantine counts: the
	// seat was recorded by then.
	CountsFrom int64
	// SeatInUse is whether that server was in use after this one was connected to.
	SeatInUse bool
	// MostDoubt is how long a doubt may matter at most; 0 if it is not known (M5).
	MostDoubt time.Duration
	// Silent is whether this redlockd itself grants nothing for a while (M5).
	Silent bool
	// Exempt is whether the master lost nothing in a restart (M4).
	Exempt Exemption
}

// Judgement is what follows from a look.
type Judgement struct {
	// Write is the mark to write first, or nil; the rest holds if writing succeeds.
	Write *Mark
	// Open is whether operations may be sent.
	Open   bool
	State  State
	Reason string
	Left   time.Duration
	Unfit  bool
	// ByMaster is whether the master itself gave the reason.
	ByMaster bool
}

// State is what a master can do now, in one word for operators.
type State string

const (
	// Voting: it is asked, and its votes count.
	Voting State = "voting"
	// Quarantine: it may have forgotten locks (M4).
	Quarantine State = "quarantine"
	// Fresh: it never had a mark, or waits out its first quarantine (M6).
	Fresh State = "new"
	// Frozen: it is connected, but its oldest unanswered operation is older than the
	// timeout (M1).
	Frozen State = "frozen"
	// Down: there is no connection.
	Down State = "down"
	// Refused: it answers, but is not the master that was configured, or is too old.
	Refused State = "refused"
)
