package quorum

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MarkKey is the key of redlockd's own mark in each database of a master. It
// is hidden from clients (M3).
const MarkKey = "redlockd:mark"

// mark says that a master still remembers (M3): a pending one counts the time
// of a quarantine, a real one lets the master vote.
type mark struct {
	real bool
	// id is random, and new with every mark that was written where there was
	// none.
	id string
	// name is the master's in the configuration, runID its server's.
	name, runID string
	db          int
	generation
	// greatest is the greatest hold that was ever granted under it.
	greatest time.Duration
	// beat is raised once a second (M4).
	beat int64
	// watched is how much of a quarantine has passed, seen the master's clock
	// in milliseconds when that was written.
	watched time.Duration
	seen    int64
	// why is why the mark is pending, see the why constants.
	why string
	// dbs are, in database 0's mark, the other databases in use.
	dbs []int
	// seats are those of all masters (M9), settings the greatest in use.
	seats seats
	settings
	// doubt is for how much longer, by the master's own clock, nobody may vote
	// who cannot tell whether it has stepped together with a majority (M5).
	// seen is when that was written.
	doubt time.Duration
	// residues are, in database 0's mark, what each redlockd names its attempts
	// by (V6).
	residues []residue
	// told is, in database 0's mark, up to which hold locks may be granted: all
	// marks bore it at one time, or it is the floor. 0 is for one that alone cannot
	// tell what was granted (told.go).
	told time.Duration
}

// Why a mark is pending: shown to people.
const (
	whyNew       = "new"
	whyForgotten = "restarted empty or flushed"
	whyRestarted = "restarted"
	whyClock     = "its clock stepped"
	whyUnfit     = "was a replica or could evict keys"
	whyReplaced  = "another server voted in its place"
	whyUnwritten = "its loss of locks could not be recorded on it"
)

// Why a master does not vote though its mark is real, or why its quarantine
// does not end.
const (
	whyOtherServer = "another redlockd reaches another server under this name"
	whyMayBeOther  = "not known yet whether another server is in use under this name"
	whyNotBorne    = "too few of the other masters have recorded this server"
	whyAsked       = "restarted with its data, checking it against the other masters"
	whyTooMany     = "too many redlockd use it, 31 at most"
	whyWarmingUp   = "its clock is being watched"
	whyDoubt       = "its clock may have stepped together with others"
	whyNobodyKnows = "no master remembers what was granted, so it waits for max_ttl: run redlockd -bootstrap if no lock can be held"
	whyOutOfView   = "no master remembers what was granted, and too few of the others can be asked"
)

// markVersion is the first field. A mark of version 2 lacks the last eight.
const (
	markVersion  = "3"
	markFields   = 24
	fieldsBefore = 16
)

func (m *mark) String() string {
	state := "pending"
	if m.real {
		state = "real"
	}
	dbs := make([]string, len(m.dbs))
	for i, db := range m.dbs {
		dbs[i] = strconv.Itoa(db)
	}
	fields := []string{markVersion, state, m.id, escape(m.name), escape(m.runID), strconv.Itoa(m.db),
		strconv.Itoa(m.number), strconv.Itoa(int(m.phase)), m.masters, cmp.Or(m.before, "-"),
		decimal(m.greatest.Milliseconds()), decimal(m.beat),
		decimal(m.watched.Milliseconds()), decimal(m.seen), escape(m.why), cmp.Or(strings.Join(dbs, ","), "-"),
		m.seats.String(), decimal(m.hold.Milliseconds()), decimal(m.timeout.Milliseconds()), decimal(m.doubt.Milliseconds()),
		residuesString(m.residues), decimal(m.padding.Milliseconds()), decimal(m.least.Milliseconds()), decimal(m.told.Milliseconds())}
	return strings.Join(fields, " ")
}

var errNotAMark = errors.New("the key " + MarkKey + " holds a value that is not a mark")

// parseMark reads what String wrote.
func parseMark(s string) (*mark, error) {
	f := strings.Split(s, " ")
	if len(f) == fieldsBefore && f[0] == "2" {
		f = append(f, "-", "0", "0", "0", "-", "0", "0", "0")
		f[0] = markVersion
	}
	if len(f) != markFields || f[0] != markVersion || (f[1] != "pending" && f[1] != "real") {
		return nil, errNotAMark
	}
	var nums [13]int64
	for i, at := range []int{5, 6, 7, 10, 11, 12, 13, 17, 18, 19, 21, 22, 23} {
		n, err := strconv.ParseInt(f[at], 10, 64)
		if err != nil {
			return nil, errNotAMark
		}
		nums[i] = n
	}
	m := &mark{real: f[1] == "real", id: f[2], name: unescape(f[3]), runID: unescape(f[4]), db: int(nums[0]),
		generation: generation{number: int(nums[1]), phase: phase(nums[2]), masters: f[8], before: strings.TrimPrefix(f[9], "-")},
		greatest:   time.Duration(nums[3]) * time.Millisecond, beat: nums[4],
		watched: time.Duration(nums[5]) * time.Millisecond, seen: nums[6], why: unescape(f[14]),
		settings: settings{hold: time.Duration(nums[7]) * time.Millisecond, timeout: time.Duration(nums[8]) * time.Millisecond,
			padding: time.Duration(nums[10]) * time.Millisecond, least: time.Duration(nums[11]) * time.Millisecond},
		doubt: time.Duration(nums[9]) * time.Millisecond, told: time.Duration(nums[12]) * time.Millisecond}
	var err error
	if m.seats, err = parseSeats(f[16]); err != nil {
		return nil, err
	}
	if m.residues, err = parseResidues(f[20]); err != nil {
		return nil, err
	}
	for _, db := range strings.FieldsFunc(strings.TrimPrefix(f[15], "-"), func(r rune) bool { return r == ',' }) {
		n, err := strconv.Atoi(db)
		if err != nil {
			return nil, errNotAMark
		}
		m.dbs = append(m.dbs, n)
	}
	return m, nil
}

// same reports whether votes that were asked for under m count when the master
// bore other at the end of the batch, for a list that both count for.
func (m *mark) same(other *mark) bool {
	return m.id == other.id && m.real == other.real && m.name == other.name && m.db == other.db
}

// with returns a changed copy.
func (m *mark) with(edit func(*mark)) *mark {
	c := *m
	c.dbs, c.residues = slices.Clone(m.dbs), slices.Clone(m.residues)
	edit(&c)
	return &c
}

// gained is what the master's clock has gained since the mark was written: at
// most a second, and nothing when it went back (M4).
func (m *mark) gained(reading int64) time.Duration {
	return max(0, min(time.Duration(reading-m.seen)*time.Millisecond, time.Second))
}

// forgetSeats drops the seats of masters that are on no list any more.
func (m *mark) forgetSeats() {
	if m.phase == final {
		maps.DeleteFunc(m.seats, func(name string, _ seat) bool { return !slices.Contains(hashes(m.masters), name) })
	}
}

func newMarkID() string {
	var b [9]byte
	_, _ = rand.Read(b[:]) // never fails, by its documentation
	return hex.EncodeToString(b[:])
}

// escape makes a field without spaces, and never an empty one.
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
