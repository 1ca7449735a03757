package fakeredis

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/tail"
)

// Server is a Redis in virtual time: the part that redlockd uses, with absolute
// expiries by a clock of its own, and with faults. The caller must hold the world's lock
// for all of it, and call Work after a fault that made it stand still.
type Server struct {
	*World
	Rand *rand.Rand // for Slow and Evict
	Name string

	// RunID to Promoted are what INFO tells; version 6 has no commands of version 7.
	RunID, Version string
	Replica        bool
	Evicts         bool
	AOF            bool
	Promoted       bool // it was a replica before
	// Down reports whether no process runs, Frozen whether it stands still.
	Down, Frozen bool
	// Strange reports whether its clock or its disk went back.
	Strange bool
	// Lagged is when it was last made a replica of a server that lacks its writes of the
	// last Lag.
	Lagged, Lag time.Duration
	// Stepped is when its clock stepped last.
	Stepped time.Duration
	// gone reports whether it never comes back.
	gone bool
	// Offset is by how much its clock has stepped, Rate how fast it runs.
	Offset time.Duration
	Rate   float64
	// Fault is the code of the error that it answers, see refusal.
	Fault string
	// Slow is how long the server does nothing else after a command; busy reports whether
	// it does nothing now.
	Slow time.Duration
	busy bool
	Faults

	dbs     [databases]map[string]Entry
	undo    []undoing
	trails  map[KeyName][]span
	scripts map[string]string // by SHA1
	lua     *luaHost
	pipes   []*pipe
	nextID  int
	lives   int
}

// session is a server's state of a connection.
type session struct {
	id     int
	db     int
	unread []byte
	waits  bool // for Faults.Delay
	// channels and patterns are what it is subscribed to.
	channels, patterns map[string]bool
}

// Entry is a key's value and expiry, by the server's clock in milliseconds, 0 for none.
// Foreign reports whether it is no string.
type Entry struct {
	Value   string
	Expiry  int64
	Foreign bool
}

// Token returns the token that the entry's value has for redlockd.
func (e Entry) Token() string { return tail.Token(e.Value) }

// databases is how many a server has, as in redis.conf.
const databases = 16

// KeyName is a key in a database.
type KeyName struct {
	DB  int
	Key string
}

// NewServer starts an empty server. rng may be nil if neither Slow nor Evict is used. The caller
// must call Dispose.
func NewServer(w *World, name, version string, rng *rand.Rand) *Server {
	s := &Server{World: w, Name: name, Version: version, Rand: rng, Rate: 1,
		trails: map[KeyName][]span{}, Faults: Faults{Refused: map[string]string{}, Ended: map[int]bool{}}}
	s.lua = luaHostFor(s)
	s.Boot(true)
	return s
}

// Boot starts the process, with its data unless empty is set.
func (s *Server) Boot(empty bool) {
	if s.gone {
		return
	}
	s.lives++
	s.RunID = fmt.Sprintf("run-%s-%d", s.Name, s.lives)
	s.scripts = map[string]string{}
	s.Down, s.Promoted = false, false
	if empty {
		s.Flush()
	}
}

func (s *Server) is7() bool { return mark.AtLeast(s.Version, 7, 0) }

// Crash ends the process.
func (s *Server) Crash() {
	s.Down = true
	for _, p := range slices.Clone(s.pipes) {
		s.hangUp(p)
	}
}

// TakeOver has the server hold the keys of another one, which ends for good.
func (s *Server) TakeOver(before *Server) {
	before.Crash()
	before.gone = true
	for db, keys := range before.dbs {
		for key, e := range keys {
			s.Put(db, key, e)
		}
	}
	before.Flush() // so that its old copies refuse no client
}

// Dispose ends the server for good. It must not be used afterwards.
func (s *Server) Dispose() {
	s.Crash()
	s.gone = true
	idleLuaHosts.Put(s.lua)
	s.lua = nil
}

// clock returns the server's own time, in microseconds.
func (s *Server) clock() int64 {
	passed := time.Duration(float64(s.Now()) * s.Rate)
	return s.began.Add(passed + s.Offset).UnixMicro()
}

// Millis returns the server's own time, in milliseconds.
func (s *Server) Millis() int64 { return s.clock() / 1000 }

// Get returns a key's entry, unless it has expired.
func (s *Server) Get(db int, key string) (Entry, bool) {
	e, ok := s.dbs[db][key]
	if ok && e.Expiry != 0 && s.Millis() > e.Expiry {
		s.Del(db, key)
		return Entry{}, false
	}
	return e, ok
}

// Put sets a key.
func (s *Server) Put(db int, key string, e Entry) {
	s.note(db, key, e.Value)
	if s.dbs[db] == nil {
		s.dbs[db] = map[string]Entry{}
	}
	s.dbs[db][key] = e
}

// Del deletes a key.
func (s *Server) Del(db int, key string) {
	s.note(db, key, "")
	delete(s.dbs[db], key)
}

// Flush deletes all keys, as FLUSHALL does.
func (s *Server) Flush() {
	for db := range s.dbs {
		s.FlushDB(db)
	}
}

// SwapDB exchanges two databases.
func (s *Server) SwapDB(a, b int) { s.dbs[a], s.dbs[b] = s.dbs[b], s.dbs[a] }

// FlushDB deletes all keys of a database.
func (s *Server) FlushDB(db int) {
	for key := range s.dbs[db] {
		s.Del(db, key)
	}
}

// ForgetScripts forgets the scripts, as SCRIPT FLUSH does.
func (s *Server) ForgetScripts() { clear(s.scripts) }

// info answers INFO.
func (s *Server) info() string {
	role, policy, aof, offset, maxmemory := "master", "noeviction", 0, -1, 0
	if s.Replica {
		role = "slave"
	}
	if s.Evicts {
		policy, maxmemory = "allkeys-lru", 1<<20
	}
	if s.AOF {
		aof = 1
	}
	if s.Promoted {
		offset = 1
	}
	return fmt.Sprintf("redis_version:%s\r\nrun_id:%s\r\nrole:%s\r\nmaxmemory:%d\r\nmaxmemory_policy:%s\r\naof_enabled:%d\r\nsecond_repl_offset:%d\r\n",
		s.Version, s.RunID, role, maxmemory, policy, aof, offset)
}

// Keys returns the keys that have not expired, in their order, the mark among them.
func (s *Server) Keys(db int) []string {
	out := []string{}
	for _, key := range slices.Sorted(maps.Keys(s.dbs[db])) {
		if _, ok := s.Get(db, key); ok {
			out = append(out, key)
		}
	}
	return out
}
