package quorum

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
}

// Why a mark is pending: shown to people.
const (
	whyNew       = "new"
	whyForgotten = "restarted empty or flushed"
	whyRestarted = "restarted"
	whyClock     = "its clock stepped"
	whyUnfit     = "was a replica or could evict keys"
)

const markVersion = "2"

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
		itoa(m.greatest.Milliseconds()), itoa(m.beat),
		itoa(m.watched.Milliseconds()), itoa(m.seen), escape(m.why), cmp.Or(strings.Join(dbs, ","), "-")}
	return strings.Join(fields, " ")
}

var errNotAMark = errors.New("the key " + MarkKey + " holds something that is no mark")

// parseMark reads what String wrote.
func parseMark(s string) (*mark, error) {
	f := strings.Split(s, " ")
	if len(f) != 16 || f[0] != markVersion || (f[1] != "pending" && f[1] != "real") {
		return nil, errNotAMark
	}
	var nums [7]int64
	for i, at := range []int{5, 6, 7, 10, 11, 12, 13} {
		n, err := strconv.ParseInt(f[at], 10, 64)
		if err != nil {
			return nil, errNotAMark
		}
		nums[i] = n
	}
	m := &mark{real: f[1] == "real", id: f[2], name: unescape(f[3]), runID: unescape(f[4]), db: int(nums[0]),
		generation: generation{number: int(nums[1]), phase: phase(nums[2]), masters: f[8], before: strings.TrimPrefix(f[9], "-")},
		greatest:   time.Duration(nums[3]) * time.Millisecond, beat: nums[4],
		watched: time.Duration(nums[5]) * time.Millisecond, seen: nums[6], why: unescape(f[14])}
	for _, db := range strings.FieldsFunc(strings.TrimPrefix(f[15], "-"), func(r rune) bool { return r == ',' }) {
		n, err := strconv.Atoi(db)
		if err != nil {
			return nil, errNotAMark
		}
		m.dbs = append(m.dbs, n)
	}
	return m, nil
}

// same is whether votes that were asked for under m count when the master
// bore other at the end of the batch, for a list that both count for.
func (m *mark) same(other *mark) bool {
	return m.id == other.id && m.name == other.name && m.db == other.db
}

// with returns a changed copy.
func (m *mark) with(change func(*mark)) *mark {
	c := *m
	c.dbs = slices.Clone(m.dbs)
	change(&c)
	return &c
}

// watch adds to a pending mark what the master's clock has gained since it
// was looked at last: at most a second, and nothing when it went back (M4).
func (m *mark) watch(reading int64) *mark {
	gained := time.Duration(reading-m.seen) * time.Millisecond
	gained = max(0, min(gained, time.Second))
	return m.with(func(c *mark) { c.watched += gained; c.seen = reading })
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

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func parseInt(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }
