package proxy

import (
	"cmp"
	"slices"
	"time"

	"github.com/redlockd/redlockd/proxy/history"
)

// Held returns how many locks are remembered whose TTL is not over, and at most most of
// them, those that are held longest. Each call looks at all locks, unless most is 0: then
// the number may be a second old, because every user may call INFO.
func (s *Server) Held(most int) (total int, longest []history.Held) {
	if most == 0 {
		return s.held.Count(time.Now()), nil
	}
	return s.held.Longest(time.Now(), most)
}

// Contended returns the keys that clients were refused most often because others held
// them, at most most.
func (s *Server) Contended(most int) []history.Contended { return s.held.Contended(time.Now(), most) }

// Session is an open connection.
type Session struct {
	ID                  int64
	Name, Address, User string
	// Library is the client library as CLIENT SETINFO gave it, Command the last command.
	Library, Command string
	Age, Idle        time.Duration
	// Commands counts the commands begun, Waiting those not answered yet.
	Commands uint64
	Waiting  int
	Blocked  bool
}

// Sessions returns how many sessions are open, and at most most of them, those that were
// busy last. Each call looks at all of them.
func (s *Server) Sessions(most int) (total int, latest []Session) {
	list := s.clients()
	now := time.Now()
	for _, ses := range list {
		latest = append(latest, sessionOf(ses, now))
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

func sessionOf(s *session, now time.Time) Session {
	waiting, _ := s.pipe.Size()
	sh := s.clientInfo.state()
	library := sh.libName
	if sh.libVer != "" {
		library += " " + sh.libVer
	}
	return Session{ID: s.id, Name: sh.name, Address: s.remote(), User: sh.user, Library: library, Command: sh.command,
		Age: now.Sub(s.born), Idle: now.Sub(sh.at), Commands: sh.commands, Waiting: waiting, Blocked: sh.blocked}
}

// Blocked returns how many sessions wait in BLPOP or BRPOP.
func (s *Server) Blocked() int { return s.signals.Blocked() }

// Refused returns how often commands that redlockd does not serve were asked for, by name
// (C4).
func (s *Server) Refused() map[string]uint64 {
	_, refused := s.stats.Snapshot()
	return refused
}

// Clients returns the number of open sessions.
func (s *Server) Clients() int {
	return s.roster.count()
}

// MaxClients returns how many sessions there may be at most: the limit in force, which may
// be below max_clients.
func (s *Server) MaxClients() int { return s.cfg().MaxClients }

// Defences counts what was refused and closed to protect redlockd.
type Defences struct {
	// LoginFailures counts wrong passwords, Denied the commands answered NOPERM.
	LoginFailures, Denied uint64
	// Dropped, Evicted and TurnedAway count the sessions closed because of max_pending,
	// max_memory and max_clients.
	Dropped, Evicted, TurnedAway uint64
	// Memory is what all sessions are charged for now, in bytes.
	Memory int64
}

// Defences returns the counters. It is safe for concurrent use.
func (s *Server) Defences() Defences {
	errors, _ := s.stats.Snapshot()
	return Defences{
		LoginFailures: s.stats.LoginFailures.Load(), Denied: errors["NOPERM"],
		Dropped: s.stats.Dropped.Load(), Evicted: s.stats.Evicted.Load(), TurnedAway: s.stats.Rejected.Load(),
		Memory: s.memory.Held(),
	}
}
