package quorum

import (
	"slices"
	"time"
)

// observation is what was seen of a master in one look.
type observation struct {
	// raw is the mark as it stood there, mark what it says, or nil.
	raw  string
	mark *mark
	// foreign is whether raw is no mark at all.
	foreign bool
	// zero is the mark of database 0, for another one that has none.
	zeroRaw string
	zero    *mark
	// sent is when the look went out, by our clock; reading is the master's
	// clock in milliseconds.
	sent    time.Duration
	reading int64
	server  server
}

// unlisted reports whether database 0 has a mark that does not list this one.
func (s *observation) unlisted(db int) bool {
	return db != 0 && s.zero != nil && !slices.Contains(s.zero.dbs, db)
}

// exemptByZero follows the mark of database 0, which is on the same disk.
func (s *observation) exemptByZero() exemption {
	switch {
	case s.zero == nil || !s.zero.real:
		return notExempt
	case s.zero.runID == s.server.runID:
		return isExempt
	default:
		return exemptAsked
	}
}

// exemption is what the other marks say of a master that says that it has lost
// nothing in a restart (M4).
type exemption uint8

const (
	// notExempt: it lost something, or nobody can tell.
	notExempt exemption = iota
	// exemptAsked: another redlockd may still say so.
	exemptAsked
	// isExempt: nobody knows of a later beat.
	isExempt
	// exemptAlone: the same, but too few of those that were asked have a memory of
	// their own. It votes, and cannot tell alone what was granted (told.go).
	exemptAlone
)

// rules are what a master is judged by.
type rules struct {
	name string
	// list is the list of masters in force here, known the latest state of
	// it that a quorum bears.
	list  string
	known generation
	// bore is the state that its mark bore when it was seen last, if it was.
	bore generation
	// foreign is whether another master of ours bears the real mark of a list
	// that ours has not come from: then ours may be a list that nobody has
	// announced, and no quarantine ends under it.
	foreign bool
	// yields is whether the mark is of another list that is in use, and ours
	// is not.
	yields        bool
	db            int
	allowEviction bool
	quarantine    bool
	// wait is how long locks of before may last (M4), greatest what a new
	// mark bears.
	wait, greatest time.Duration
	// remembered is whether any master tells so; inView whether so many others are
	// looked at now that no majority of them remembers unseen. floor, told and sure
	// are for told.go.
	remembered, inView bool
	floor, told        time.Duration
	sure               bool
	// warmingUp is how long others may take to tell of a step that we have not
	// seen (M5).
	warmingUp time.Duration
	// seats are those of all masters, own the one of this, and settings the
	// greatest in use. redlockd is what this one claims residues as.
	seats seats
	own   seat
	// unsaid are the seats that others had the time to write, see refreshed.
	unsaid   seats
	settings settings
	redlockd string
	// quiet is whether the server that has the seat is not in use any more,
	// borne whether so many of the other marks bear the seat as it is here that
	// every majority meets one (M9).
	quiet, borne bool
	// heard is whether that server was, since this one has been connected to.
	heard bool
	// silent is whether this redlockd grants nothing by itself for a while (M5).
	silent bool
	// exempt is whether it lost nothing in a restart (M4).
	exempt exemption
}

// judgement is what follows from a look.
type judgement struct {
	// write is the mark to be written first, if any; the rest holds if that
	// succeeds.
	write *mark
	// open is whether operations may be sent.
	open   bool
	state  state
	reason string
	left   time.Duration
	unfit  bool
	// said is whether the reason is the master's own word.
	said bool
}
