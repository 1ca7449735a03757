package fakeredis

import (
	"slices"
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/tail"
)

// What a server's keys held, and when: for disks of before, and for a judge of the answers.

// span is the time for which a key had a token; to is 0 while it still has.
type span struct {
	token    string
	from, to time.Duration
	// put is when an entry with the token was last put.
	put time.Duration
}

// undoing is the state of a key before a change, to restore an earlier disk.
type undoing struct {
	at     time.Duration
	name   KeyName
	before Entry
	was    bool
}

// remembered is how far back a disk can be.
const remembered = 6 * time.Second

// note remembers the state of a key before a change.
func (s *Server) note(db int, key, value string) {
	token := tail.Token(value)
	n, now := KeyName{db, key}, s.Now()
	before, was := s.dbs[db][key]
	s.undo = append(s.undo, undoing{now, n, before, was})
	if len(s.undo) > 1000 {
		old := slices.IndexFunc(s.undo, func(u undoing) bool { return u.at >= now-remembered })
		s.undo = append(s.undo[:0], s.undo[max(old, 0):]...)
	}
	trail := s.trails[n]
	last := len(trail) - 1
	switch open := last >= 0 && trail[last].to == 0; {
	case key == mark.Key:
		return
	case was && before.Token() == token:
		if open {
			trail[last].put = now
		}
		return
	case open:
		trail[last].to = s.lasted(before, trail[last].put)
	}
	if token != "" {
		trail = append(trail, span{token: token, from: now, put: now})
	}
	if len(trail) > 100 {
		trail = append(trail[:0], trail[50:]...)
	}
	s.trails[n] = trail
}

// Had reports whether a key had a token at some time since then.
func (s *Server) Had(n KeyName, token string, since time.Duration) bool {
	return slices.ContainsFunc(s.trails[n], func(p span) bool {
		if p.to == 0 {
			p.to = s.lasted(s.dbs[n.DB][n.Key], p.put)
		}
		return p.token == token && p.to >= since
	})
}

// Kept reports whether a key has had a token all the time since then.
func (s *Server) Kept(n KeyName, token string, since time.Duration) bool {
	e, ok := s.Get(n.DB, n.Key)
	return ok && e.Token() == token && slices.ContainsFunc(s.trails[n], func(p span) bool { return p.to == 0 && p.from <= since })
}

// Lacks reports whether the server was made a replica since a time and has lost a copy by that
// (Lagged).
func (s *Server) Lacks(n KeyName, token string, since time.Duration) bool {
	e, ok := s.Get(n.DB, n.Key)
	return s.Lagged >= since && !(ok && e.Token() == token) && slices.ContainsFunc(s.trails[n], func(p span) bool {
		return p.token == token && p.from < s.Lagged && p.to >= s.Lagged
	})
}

// lasted returns until when an entry was there that was put at that time and is in the map: until
// it expired, though nobody has asked for it since, or until now.
func (s *Server) lasted(e Entry, put time.Duration) time.Duration {
	expired := time.Duration(float64(s.clock()-1000*e.Expiry)*float64(time.Microsecond)/s.Rate) - time.Millisecond
	if e.Expiry == 0 || expired < 0 || s.Stepped >= put {
		return s.Now()
	}
	return max(put, s.Now()-expired)
}

// GoBack restores the keys of an earlier time, as an old disk does.
func (s *Server) GoBack(to time.Duration) {
	undo := s.undo
	for i := len(undo) - 1; i >= 0 && undo[i].at > to; i-- {
		if u := undo[i]; u.was {
			s.Put(u.name.DB, u.name.Key, u.before)
		} else {
			s.Del(u.name.DB, u.name.Key)
		}
	}
}

// BeatAt returns the beat of database 0's mark at an earlier time, or -1.
func (s *Server) BeatAt(at time.Duration) int64 {
	raw := s.dbs[0][mark.Key].Value
	for i := len(s.undo) - 1; i >= 0 && s.undo[i].at > at; i-- {
		if u := s.undo[i]; u.name == (KeyName{0, mark.Key}) {
			raw = u.before.Value
		}
	}
	if m, err := mark.Parse(raw); err == nil {
		return m.Beat
	}
	return -1
}
