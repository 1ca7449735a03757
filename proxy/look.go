package proxy

import (
	"cmp"
	"slices"
	"time"
)

// Held is a lock that this redlockd gave, as far as it is remembered
// (held.go), and whom it gave it to.
type Held struct {
	DB  int
	Key string
	// Session, Name, Address and User are those of the client when it took
	// the lock.
	Session             int64
	Name, Address, User string
	// Since is when it was given; where Taken is false it was taken elsewhere,
	// and since then extended here.
	Since, Until time.Time
	Taken        bool
}

// Held is how many locks are remembered whose TTL is not over, and the most
// ones of them that are held longest. Each call looks at all of them, unless
// most is 0: then it is the number of at most a second ago, because anybody
// may ask for INFO.
func (s *Server) Held(most int) (total int, longest []Held) {
	if most == 0 {
		return s.held.count(time.Now()), nil
	}
	s.held.each(time.Now(), func(id lockID, l heldLock) {
		total++
		longest = append(longest, Held{DB: id.db, Key: id.key, Session: l.who.session, Name: l.who.name,
			Address: l.who.address, User: l.who.user, Since: time.UnixMilli(l.since), Until: time.UnixMilli(l.until), Taken: l.taken})
		if len(longest) >= 4*most+64 {
			longest = longestHeld(longest, most)
		}
	})
	return total, longestHeld(longest, most)
}

func longestHeld(list []Held, most int) []Held {
	slices.SortFunc(list, func(a, b Held) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Key, b.Key), cmp.Compare(a.DB, b.DB))
	})
	return list[:min(len(list), most)]
}

// Contended are the keys that are wanted most while others have them, at most
// most.
func (s *Server) Contended(most int) []Contended { return s.held.contended(time.Now(), most) }

// Session is an open connection.
type Session struct {
	ID                  int64
	Name, Address, User string
	// Library is what the client said of itself, Command its last one.
	Library, Command string
	Age, Idle        time.Duration
	// Commands counts those that came, Waiting those not answered yet.
	Commands uint64
	Waiting  int
	Blocked  bool
}

// Sessions are how many are open, and the most ones of them that were busy
// last. Each call looks at all of them.
func (s *Server) Sessions(most int) (total int, latest []Session) {
	list := s.clients()
	now := time.Now()
	for _, ses := range list {
		latest = append(latest, ses.snapshot(now))
		if len(latest) >= 4*most+64 {
			latest = busiest(latest, most)
		}
	}
	return len(list), busiest(latest, most)
}

func busiest(list []Session, most int) []Session {
	slices.SortFunc(list, func(a, b Session) int { return cmp.Or(cmp.Compare(a.Idle, b.Idle), cmp.Compare(a.ID, b.ID)) })
	return list[:min(len(list), most)]
}

func (s *session) snapshot(now time.Time) Session {
	waiting, _ := s.pipe.size()
	sh := s.clientInfo
	sh.mu.Lock()
	defer sh.mu.Unlock()
	library := sh.libName
	if sh.libVer != "" {
		library += " " + sh.libVer
	}
	return Session{ID: s.id, Name: sh.name, Address: s.remote(), User: sh.user, Library: library, Command: sh.command,
		Age: now.Sub(s.born), Idle: now.Sub(sh.at), Commands: sh.commands, Waiting: waiting, Blocked: sh.blocked}
}

// Blocked is how many sessions wait in BLPOP or BRPOP.
func (s *Server) Blocked() int {
	g := &s.signals
	g.mu.Lock()
	defer g.mu.Unlock()
	sessions := make(map[*waiter]bool)
	for _, list := range g.waiting {
		for _, w := range list {
			sessions[w] = true
		}
	}
	return len(sessions)
}
