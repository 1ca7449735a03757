package mark

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Key is the key of the mark in a master's database 0, and in the other databases in use
// that of the mark's seal. It is hidden from clients (M3).
const Key = "redlockd:mark"

// Mark shows that a master has forgotten nothing since it was written (M3). A pending
// mark counts the time of a quarantine, a real one lets the master vote.
type Mark struct {
	Real bool
	// ID is random, and new with every mark written where there was none.
	ID string
	// Name is the master's name in the configuration, RunID its server's run_id.
	Name, RunID string
	Generation
	// Greatest is the greatest hold that was ever granted under the mark.
	Greatest time.Duration
	// Beat is raised once a second (M4).
	Beat int64
	// watched is how much of a quarantine has passed, Seen the master's clock in
	// milliseconds when watched or doubt was written.
	watched time.Duration
	Seen    int64
	// Why is the reason why the mark is pending, see the why constants.
	Why string
	// DBs are the other databases in use, each of which has a seal.
	DBs []int
	// Seats are the seats of all masters (M9), Settings the greatest settings in use.
	Seats Seats
	Settings
	// doubt is how much longer, by the master's own clock, a redlockd must not grant here
	// unless it can tell that this clock has not stepped together with a majority (M5).
	// Seen is when it was written.
	doubt time.Duration
	// GrantLimit is the greatest hold that may be granted: all marks recorded it at one
	// time, or it is the floor. It is 0 if the mark alone cannot tell what was granted.
	// Floor is the greatest hold that needs only a quorum of the marks
	// (cluster/grant_limit.go).
	GrantLimit, Floor time.Duration
}

// The reasons why a mark is pending, as shown to operators.
const (
	whyNew       = "new"
	WhyForgotten = "restarted empty or flushed"
	whyRestarted = "restarted"
	WhyClock     = "its clock stepped"
	whyUnfit     = "was a replica or could evict keys"
	whyReplaced  = "another server voted in its place"
	whyOutlived  = "has missed changes of the list of masters"
	whyUnwritten = "its loss of locks could not be recorded on it"
)

// The reasons why a master with a real mark does not vote, or why its quarantine does not
// end.
const (
	WhyOtherServer = "another redlockd reaches another server under this name"
	WhyMayBeOther  = "not known yet whether another server is in use under this name"
	whyNotRecorded = "too few of the other masters have recorded this server"
	whyAsked       = "restarted with its data, checking it against the other masters"
	WhyWarmingUp   = "its clock is being watched"
	whyDoubt       = "its clock may have stepped together with others"
	WhyNobodyKnows = "no master remembers what was granted, so it waits for max_ttl: run redlockd -bootstrap if no lock can be held"
	whyOutOfView   = "no master remembers what was granted, and too few of the others can be asked"
)

// markVersion is the mark's first field, markFields the number of all.
const (
	markVersion = "4"
	markFields  = 22
)

func (m *Mark) String() string {
	state := "pending"
	if m.Real {
		state = "real"
	}
	dbs := make([]string, len(m.DBs))
	for i, db := range m.DBs {
		dbs[i] = strconv.Itoa(db)
	}
	fields := []string{markVersion, state, m.ID, escape(m.Name), escape(m.RunID),
		strconv.Itoa(m.Number), strconv.Itoa(int(m.Phase)), m.Masters, cmp.Or(m.Before, "-"),
		decimal(m.Greatest.Milliseconds()), decimal(m.Beat),
		decimal(m.watched.Milliseconds()), decimal(m.Seen), escape(m.Why), cmp.Or(strings.Join(dbs, ","), "-"),
		m.Seats.String(), decimal(m.Hold.Milliseconds()), decimal(m.Timeout.Milliseconds()), decimal(m.doubt.Milliseconds()),
		decimal(m.Least.Milliseconds()), decimal(m.GrantLimit.Milliseconds()), decimal(m.Floor.Milliseconds())}
	return strings.Join(fields, " ")
}

var ErrNotAMark = errors.New("the key " + Key + " holds a value that is not a mark")

// Parse reads what String wrote.
func Parse(s string) (*Mark, error) {
	f := strings.Split(s, " ")
	if len(f) != markFields || f[0] != markVersion || (f[1] != "pending" && f[1] != "real") {
		return nil, ErrNotAMark
	}
	var nums [12]int64
	for i, at := range []int{5, 6, 9, 10, 11, 12, 16, 17, 18, 19, 20, 21} {
		n, err := strconv.ParseInt(f[at], 10, 64)
		if err != nil {
			return nil, ErrNotAMark
		}
		nums[i] = n
	}
	m := &Mark{Real: f[1] == "real", ID: f[2], Name: unescape(f[3]), RunID: unescape(f[4]),
		Generation: Generation{Number: int(nums[0]), Phase: Phase(nums[1]), Masters: f[7], Before: strings.TrimPrefix(f[8], "-")},
		Greatest:   time.Duration(nums[2]) * time.Millisecond, Beat: nums[3],
		watched: time.Duration(nums[4]) * time.Millisecond, Seen: nums[5], Why: unescape(f[13]),
		Settings: Settings{Hold: time.Duration(nums[6]) * time.Millisecond, Timeout: time.Duration(nums[7]) * time.Millisecond,
			Least: time.Duration(nums[9]) * time.Millisecond},
		doubt: time.Duration(nums[8]) * time.Millisecond, GrantLimit: time.Duration(nums[10]) * time.Millisecond, Floor: time.Duration(nums[11]) * time.Millisecond}
	var err error
	if m.Seats, err = parseSeats(f[15]); err != nil {
		return nil, err
	}
	for _, db := range strings.FieldsFunc(strings.TrimPrefix(f[14], "-"), func(r rune) bool { return r == ',' }) {
		n, err := strconv.Atoi(db)
		if err != nil {
			return nil, ErrNotAMark
		}
		m.DBs = append(m.DBs, n)
	}
	return m, nil
}

// Same reports whether votes asked for under m count if the master had the mark other at
// the end of the batch. The caller checks that both count for the list.
func (m *Mark) Same(other *Mark) bool {
	return m.ID == other.ID && m.Real == other.Real && m.Name == other.Name
}

// Seal returns what a database other than 0 has under Key from its first use under the mark
// on. One that is among DBs and does not have it was flushed (M3). The number shows databases
// that were swapped.
func (m *Mark) Seal(db int) string { return strconv.Itoa(db) + " " + m.ID }

// With returns a copy of m, changed by edit.
func (m *Mark) With(edit func(*Mark)) *Mark {
	c := *m
	c.DBs = slices.Clone(m.DBs)
	edit(&c)
	return &c
}

// gained returns by how much the master's clock is ahead of Seen: at most a second, and
// nothing if the clock went back (M4).
func (m *Mark) gained(reading int64) time.Duration {
	return max(0, min(time.Duration(reading-m.Seen)*time.Millisecond, time.Second))
}

func NewID() string {
	var b [9]byte
	_, _ = rand.Read(b[:]) // it never fails, by its documentation
	return hex.EncodeToString(b[:])
}

// escape returns s as a field that has no spaces and is not empty.
func escape(s string) string {
	if s == "" {
		return "-"
	}
	if s == "-" {
		return "%2D"
	}
	return url.QueryEscape(s)
}

func unescape(s string) string {
	if s == "-" {
		return ""
	}
	if u, err := url.QueryUnescape(s); err == nil {
		return u
	}
	return s
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
