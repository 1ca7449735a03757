package proxy

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// stats count since the start. Safe for concurrent use.
type stats struct {
	connections    atomic.Uint64
	rejected       atomic.Uint64
	commands       atomic.Uint64
	written        atomic.Uint64
	protocolErrors atomic.Uint64
	loginFailures  atomic.Uint64
	dropped        atomic.Uint64 // of max_pending
	evicted        atomic.Uint64 // of max_memory

	mu      sync.Mutex
	errors  map[string]uint64 // by code
	refused map[string]uint64 // unknown commands by name
}

// errorCodes are those that redlockd's own errors begin with.
var errorCodes = []string{"ERR", "EXECABORT", "NOAUTH", "NOPERM", "NOPROTO", "NOQUORUM", "NOSCRIPT", "NOTBUSY",
	"WRONGPASS", "WRONGTYPE"}

// otherCode is what all other codes are counted as: a script answers with any
// code its author likes, and with another one each time.
const otherCode = "OTHER"

// countError counts an error reply by its code.
func (st *stats) countError(text string) {
	code, _, _ := strings.Cut(text, " ")
	if !slices.Contains(errorCodes, code) {
		code = otherCode
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.errors == nil {
		st.errors = make(map[string]uint64)
	}
	st.errors[code]++
}

// countRefused counts a command that redlockd does not serve (C4). The names
// are the clients', so beyond a bound they are counted together.
func (st *stats) countRefused(name string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.refused == nil {
		st.refused = make(map[string]uint64)
	}
	if _, known := st.refused[name]; !known && len(st.refused) >= maxRefusedNames {
		name = "other"
	}
	st.refused[name]++
}

func (st *stats) snapshot() (errors, refused map[string]uint64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	return maps.Clone(st.errors), maps.Clone(st.refused)
}

// Refused tells how often commands that redlockd does not serve were asked
// for, by name (C4).
func (s *Server) Refused() map[string]uint64 {
	_, refused := s.stats.snapshot()
	return refused
}

// Clients is the number of open sessions.
func (s *Server) Clients() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions)
}

// Defences count what was refused and closed to keep redlockd well.
type Defences struct {
	// LoginFailures are wrong passwords, Denied commands answered NOPERM.
	LoginFailures, Denied uint64
	// Dropped, Evicted and TurnedAway are sessions closed because of
	// max_pending, max_memory and max_clients.
	Dropped, Evicted, TurnedAway uint64
	// Memory is what sessions are charged for now, in bytes.
	Memory int64
}

// Defences is safe for concurrent use.
func (s *Server) Defences() Defences {
	errors, _ := s.stats.snapshot()
	return Defences{
		LoginFailures: s.stats.loginFailures.Load(), Denied: errors["NOPERM"],
		Dropped: s.stats.dropped.Load(), Evicted: s.stats.evicted.Load(), TurnedAway: s.stats.rejected.Load(),
		Memory: s.memoryHeld.Load(),
	}
}
