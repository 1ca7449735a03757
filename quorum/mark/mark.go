package mark

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"
)

// Key is the key of the mark in a master's database 0, and in the other databases in use
// that of the mark's seal. It is hidden from clients (M3).
const Key = "redlockd:mark"

// Mark shows that a master has forgotten nothing since it was written (M3). A pending
// mark counts the time of a quarantine, a real one lets the master vote. It is stored as JSON,
// in short, since it is read with each batch; durations are in nanoseconds.
type Mark struct {
	Real bool `json:"real,omitempty"`
	// ID is random, and new with every mark written where there was none.
	ID string `json:"id"`
	// Name is the master's name in the configuration, RunID its server's run_id.
	Name  string `json:"name"`
	RunID string `json:"run"`
	Generation
	// Greatest is the greatest hold that was ever granted under the mark.
	Greatest time.Duration `json:"hold,omitempty"`
	// Beat is raised once a second (M4).
	Beat int64 `json:"beat,omitempty"`
	// Watched is how much of a quarantine has passed, Seen the master's clock in
	// milliseconds when Watched or Doubt was written.
	Watched time.Duration `json:"watched,omitempty"`
	Seen    int64         `json:"seen,omitempty"`
	// Why is the reason why the mark is pending, see the why constants.
	Why string `json:"why,omitempty"`
	// DBs are the other databases in use, each of which has a seal.
	DBs []int `json:"dbs,omitempty"`
	// Seats are the seats of all masters (M9), Settings the greatest settings in use.
	Seats Seats `json:"seats,omitempty"`
	Settings
	// Doubt is how much longer, by the master's own clock, a redlockd must not grant here
	// unless it can tell that this clock has not stepped together with a majority (M5).
	// Seen is when it was written.
	Doubt time.Duration `json:"doubt,omitempty"`
	// GrantLimit is the greatest hold that may be granted: all marks recorded it at one
	// time, or it is the floor. It is 0 if the mark alone cannot tell what was granted.
	// Floor is the greatest hold that needs only a quorum of the marks
	// (cluster/grant_limit.go).
	GrantLimit time.Duration `json:"limit,omitempty"`
	Floor      time.Duration `json:"floor,omitempty"`
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

// version is that of all marks that this redlockd reads and writes.
const version = 4

// stored is a mark with its version.
type stored struct {
	Version int `json:"v"`
	*Mark
}

func (m *Mark) String() string {
	text, _ := json.Marshal(stored{version, m}) // these types cannot fail
	return string(text)
}

var errNotAMark = errors.New("the key " + Key + " holds a value that is not a mark")

// Parse reads what String wrote.
func Parse(text string) (*Mark, error) {
	m := stored{Mark: &Mark{}}
	if json.Unmarshal([]byte(text), &m) != nil || m.Version != version {
		return nil, errNotAMark
	}
	return m.Mark, nil
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
