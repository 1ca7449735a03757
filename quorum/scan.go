package quorum

import (
	"context"
	"errors"
	"math/bits"
	"sync"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/outbox"
)

// maxPage is about how many keys one step of a listing looks at: each may cost a read
// on every master, and memory here for its name.
const maxPage = 250

// Page is one step of a listing.
type Page struct {
	// Next is the cursor of the next step; 0 is the end.
	Next uint64
	// Locks are in no order; a step may have none.
	Locks []Listed
}

// Listed is one lock of a listing.
type Listed struct {
	Key string
	// State is what a quorum agrees on.
	State State
	// Err is set if no quorum can decide whether this key is held.
	Err error
}

// Scan is one step through the locks of a database that match: those that a quorum has
// and a client may still count on, as a read answers (V10). It looks at about most
// keys, 1 to maxPage, of one master, and then at the next master's if there are no
// more. cursor is 0 to begin, then Page.Next of the step before. A lock that is held
// from the first step to the last is listed at least once, and may be listed again for
// each further master. The error's text is for the client. Scan blocks for a few times
// an operation's stay at most (V2), or until ctx is over; the caller must bound how
// many scans run at once.
func (q *Quorum) Scan(ctx context.Context, db int, cursor uint64, match func(key string) bool, most int) (Page, error) {
	d := q.keyspace(db)
	masters := &listing{d.List()} // one list for the whole step, which M8 may change
	at := place(cursor)
	if !at.valid(len(masters.Links)) {
		return Page{}, errors.New("ERR invalid cursor")
	}
	if err := lacking(d.Database, false, masters.Quorum); err != nil {
		return Page{}, err
	}
	// If there are few locks, or none, a single step lists them all.
	var out Page
	told := make(map[string]bool)
	for looked := 0; ; {
		keys, next, ok := masters.look(ctx, at, min(max(most, 1), maxPage))
		if !ok {
			return Page{}, cannotList(d.Database)
		}
		out.Locks = append(out.Locks, q.readListed(db, keys, func(key string) bool { return !told[key] && match(key) })...)
		for _, key := range keys {
			told[key] = true
		}
		out.Next, at, looked = uint64(next), next, looked+len(keys)
		if next == 0 || next.cursor() != 0 || looked >= most && len(out.Locks) > 0 {
			return out, nil
		}
	}
}

// place is the position of a listing. It contains the whole state, so that nothing is
// kept between the steps: 4 bits for the master that is being looked at, one bit for
// each master that was looked at to its end, and the master's own cursor. A key on a
// quorum is on one of any N-q+1 masters, so the listing ends when as many were looked
// at, and the required master among them, whose word counts by itself (V11).
type place uint64

const placeBits = 4 + cluster.MaxMasters

func newPlace(master int, seen uint64, cursor uint64) place {
	return place(cursor<<placeBits | seen<<4 | uint64(master))
}

func (p place) master() int    { return int(p & 0xf) }
func (p place) seen() uint64   { return uint64(p) >> 4 & (1<<cluster.MaxMasters - 1) }
func (p place) cursor() uint64 { return uint64(p) >> placeBits }

func (p place) valid(n int) bool { return p.master() < n && p.seen()>>n == 0 }

// listing is the list of masters that one step uses.
type listing struct{ *cluster.List }

// look takes one step at a master, or at another one if it does not answer; false if none does.
func (m *listing) look(ctx context.Context, at place, most int) ([]string, place, bool) {
	not, i, cursor := at.seen(), at.master(), at.cursor()
	for {
		if cursor == 0 || !m.Links[i].KnowsAllLocks() {
			i, cursor = m.toLookAt(not), 0
		}
		if i < 0 {
			return nil, 0, false
		}
		got := &outbox.Page{Cursor: cursor, Count: most}
		_, ok := cluster.AskOne(ctx, m.Links[i], &outbox.Task{Page: got})
		switch {
		case ok && got.Next == 0:
			return got.Keys, m.after(at.seen() | 1<<i), true
		case ok && got.Next>>(64-placeBits) == 0:
			return got.Keys, newPlace(i, at.seen(), got.Next), true
		}
		not, cursor = not|1<<i, 0
	}
}

// after returns the place behind the end of a master's keys.
func (m *listing) after(seen uint64) place {
	enough := bits.OnesCount64(seen) > len(m.Links)-m.Quorum
	if enough && (m.Required < 0 || seen>>m.Required&1 == 1) {
		return 0
	}
	return newPlace(0, seen, 0)
}

// toLookAt returns a master whose keys count, or -1. The keys of a master that may have
// forgotten locks do not count, since some may be missing (M4).
func (m *listing) toLookAt(not uint64) int {
	best := -1
	for i, l := range m.Links {
		if not>>i&1 == 0 && l.KnowsAllLocks() && (best < 0 || i == m.Required) {
			best = i
		}
	}
	return best
}

// readListed reads the locks under those keys that match.
func (q *Quorum) readListed(db int, keys []string, match func(string) bool) []Listed {
	var mu sync.Mutex
	var locks []Listed
	var reads sync.WaitGroup
	for _, key := range keys {
		if cluster.Reserved(key) || !match(key) {
			continue
		}
		reads.Add(1)
		q.Do(&Op{Kind: Read, DB: db, Key: key}, nil, func(o *Outcome) {
			defer reads.Done()
			if o.Err == nil && !o.State.Found {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			locks = append(locks, Listed{Key: key, State: o.State, Err: o.Err})
		})
	}
	reads.Wait()
	return locks
}
