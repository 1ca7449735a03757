package proxy

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/redlockd/redlockd/proxy/history"
	"github.com/redlockd/redlockd/quorum"
)

// OneLock is what is known of one lock. It has no token, apart from the owner in a hash.
type OneLock struct {
	// State is held, free, ending or undecided, as in LOCKS WHO; Why may say more.
	State, Why string
	// TTL is what is left of it, if it is held.
	TTL time.Duration
	// Holder is nil if this redlockd does not know who has it.
	Holder *Holding
	// Owner and Count tell who has a lock in a hash by the hash's own words, and how often.
	Owner, Count string
	// Waiting are the clients that want it, those that wait for a signal first, then those
	// that asked last. More reports whether there may be others.
	Waiting []Waiting
	More    bool
}

// Holding is the holder of a lock, and since when.
type Holding struct {
	history.Holder
	Since time.Time
	// Taken is false if the lock was taken elsewhere, and Since is its first extend here.
	Taken bool
}

// Waiting is a client that wants a lock which another one has.
type Waiting struct {
	history.Holder
	// Blocked reports whether it waits for a signal, in BLPOP or BRPOP. Otherwise it asked for
	// the lock, and was refused last at Asked.
	Blocked bool
	Asked   time.Time
}

// The errors of OneLock.
var (
	ErrNoSuchLock = errors.New("this key is redlockd's own")
	ErrUnopened   = errors.New("no client of this redlockd has used this database")
	ErrBusy       = errors.New("too many listings are under way, try again")
)

// OneLock asks the masters about a lock, for as long as one operation may take. It writes
// nothing, and opens no database.
func (s *Server) OneLock(ctx context.Context, db int, key string) (OneLock, error) {
	switch {
	case quorum.Reserved(key):
		return OneLock{}, ErrNoSuchLock
	case db < 0 || db >= quorum.Databases || !s.q.Opened(db):
		return OneLock{}, ErrUnopened
	}
	select {
	case s.looking <- struct{}{}:
		defer func() { <-s.looking }()
	default:
		return OneLock{}, ErrBusy
	}
	read := make(chan *quorum.Outcome, 1)
	s.q.Do(&quorum.Op{Kind: quorum.Read, DB: db, Key: key}, nil, func(o *quorum.Outcome) { read <- o })
	select {
	case o := <-read:
		return s.describeOne(db, key, o), nil
	case <-ctx.Done():
		return OneLock{}, ctx.Err()
	}
}

func (s *Server) describeOne(db int, key string, o *quorum.Outcome) OneLock {
	l := OneLock{TTL: o.State.TTL}
	l.State, l.Why = lockState(o)
	if m, ok := ownerOf(o.State); ok {
		l.Owner, l.Count = m.Field, m.Value
	}
	if h, ok := s.held.Find(db, key, o.State.Token); ok && o.State.Found {
		l.Holder = &Holding{*h.Holder, time.UnixMilli(h.Since), h.Taken}
	}
	l.Waiting, l.More = s.waitingFor(db, key)
	return l
}

// waitingFor returns the clients that want a lock and are still connected.
func (s *Server) waitingFor(db int, key string) (list []Waiting, more bool) {
	blocked := make(map[int64]bool)
	for _, id := range s.signals.WaitersFor(db, key) {
		if ses := s.roster.session(id); ses != nil && !blocked[id] {
			c := ses.clientInfo.state()
			blocked[id] = true
			list = append(list, Waiting{Holder: history.Holder{Session: id, Name: c.name, Address: ses.remote(), User: c.user}, Blocked: true})
		}
	}
	refused, more := s.held.RefusedSince(db, key, time.Now().Add(-history.Wants))
	for _, r := range refused {
		if s.roster.session(r.Session) != nil && !blocked[r.Session] {
			list = append(list, Waiting{Holder: r.Holder, Asked: r.At})
		}
	}
	// Those that are blocked are first already.
	slices.SortFunc(list[len(blocked):], func(a, b Waiting) int {
		return cmp.Or(b.Asked.Compare(a.Asked), cmp.Compare(a.Session, b.Session))
	})
	return list, more
}
