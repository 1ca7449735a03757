package quorum

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/mark"
)

// redisServer is a Redis in virtual time: the part that redlockd uses, with absolute
// expiries by a clock of its own, and with faults. The caller must hold the world's lock
// for all of it.
type redisServer struct {
	*world
	rng  *rand.Rand
	name string

	runID, version string
	replica        bool
	evicts         bool
	aof            bool
	promoted       bool // it was a replica before
	down, frozen   bool
	// strange reports whether its clock or its disk went back.
	strange bool
	// lagged is when it was last made a replica of a server that lacks its writes of the
	// last lag.
	lagged, lag time.Duration
	// stepped is when its clock stepped last.
	stepped time.Duration
	// gone reports whether it never comes back.
	gone bool
	// offset is by how much its clock has stepped, rate how fast it runs.
	offset time.Duration
	rate   float64
	// fault is the code of the error that it answers, see refusal.
	fault string
	// slow is how long the server does nothing else after a command; busy reports whether
	// it does nothing now.
	slow time.Duration
	busy bool
	faults

	dbs     [cluster.Databases]map[string]entry
	undo    []undoing
	trails  map[keyName][]span
	scripts map[string]string // by SHA1
	lua     *luaHost
	pipes   []*pipe
	nextID  int
	lives   int
}

// session is a server's state of a connection.
type session struct {
	id     int
	name   string
	db     int
	unread []byte
	waits  bool // for faults.delay
}

// entry is a key's value and expiry, by the server's clock in milliseconds. foreign
// reports whether it is no string.
type entry struct {
	value   string
	expiry  int64
	foreign bool
}

// undoing is the state of a key before a change, to restore an earlier disk.
type undoing struct {
	at     time.Duration
	name   keyName
	before entry
	was    bool
}

type keyName struct {
	db  int
	key string
}

// remembered is how far back a disk can be.
const remembered = 6 * time.Second

func newServer(w *world, name, version string, rng *rand.Rand) *redisServer {
	s := &redisServer{world: w, name: name, version: version, rng: rng, rate: 1,
		trails: map[keyName][]span{}, faults: faults{refused: map[string]string{}, ended: map[int]bool{}}}
	s.lua = luaHostFor(s)
	s.boot(true)
	return s
}

// boot starts the process, with its data unless empty is set.
func (s *redisServer) boot(empty bool) {
	if s.gone {
		return
	}
	s.lives++
	s.runID = fmt.Sprintf("run-%s-%d", s.name, s.lives)
	s.scripts = map[string]string{}
	s.down, s.promoted = false, false
	if empty {
		s.flush()
	}
}

func (s *redisServer) is7() bool { return mark.AtLeast(s.version, 7, 0) }

// crash ends the process.
func (s *redisServer) crash() {
	s.down = true
	for _, p := range slices.Clone(s.pipes) {
		s.hangUp(p)
	}
}

// dispose ends the server for good.
func (s *redisServer) dispose() {
	s.crash()
	s.gone = true
	idleLuaHosts.Put(s.lua)
	s.lua = nil
}

// clock returns the server's own time, in microseconds.
func (s *redisServer) clock() int64 {
	passed := time.Duration(float64(s.now()) * s.rate)
	return s.began.Add(passed + s.offset).UnixMicro()
}

func (s *redisServer) millis() int64 { return s.clock() / 1000 }

// get returns a key's entry, unless it has expired.
func (s *redisServer) get(db int, key string) (entry, bool) {
	e, ok := s.dbs[db][key]
	if ok && e.expiry != 0 && s.millis() > e.expiry {
		s.del(db, key)
		return entry{}, false
	}
	return e, ok
}

func (s *redisServer) put(db int, key string, e entry) {
	s.note(db, key, e.value)
	if s.dbs[db] == nil {
		s.dbs[db] = map[string]entry{}
	}
	s.dbs[db][key] = e
}

func (s *redisServer) del(db int, key string) {
	s.note(db, key, "")
	delete(s.dbs[db], key)
}

func (s *redisServer) flush() {
	for db := range s.dbs {
		for key := range s.dbs[db] {
			s.del(db, key)
		}
	}
}

// goBack restores the keys of an earlier time, as an old disk does.
func (s *redisServer) goBack(to time.Duration) {
	undo := s.undo
	for i := len(undo) - 1; i >= 0 && undo[i].at > to; i-- {
		if u := undo[i]; u.was {
			s.put(u.name.db, u.name.key, u.before)
		} else {
			s.del(u.name.db, u.name.key)
		}
	}
}

// beatAt returns the beat of database 0's mark at an earlier time, or -1.
func (s *redisServer) beatAt(at time.Duration) int64 {
	raw := s.dbs[0][mark.Key].value
	for i := len(s.undo) - 1; i >= 0 && s.undo[i].at > at; i-- {
		if u := s.undo[i]; u.name == (keyName{0, mark.Key}) {
			raw = u.before.value
		}
	}
	if m, err := mark.Parse(raw); err == nil {
		return m.Beat
	}
	return -1
}

// list answers CLIENT LIST.
func (s *redisServer) list() string {
	var out []byte
	for _, p := range s.pipes {
		out = fmt.Appendf(out, "id=%d addr=10.0.0.1:%d name=%s age=1\n", p.id, 1000+p.id, p.session.name)
	}
	return string(out)
}

// info answers INFO.
func (s *redisServer) info() string {
	role, policy, aof, offset, maxmemory := "master", "noeviction", 0, -1, 0
	if s.replica {
		role = "slave"
	}
	if s.evicts {
		policy, maxmemory = "allkeys-lru", 1<<20
	}
	if s.aof {
		aof = 1
	}
	if s.promoted {
		offset = 1
	}
	return fmt.Sprintf("redis_version:%s\r\nrun_id:%s\r\nrole:%s\r\nmaxmemory:%d\r\nmaxmemory_policy:%s\r\naof_enabled:%d\r\nsecond_repl_offset:%d\r\nconnected_clients:%d\r\n",
		s.version, s.runID, role, maxmemory, policy, aof, offset, len(s.pipes)+s.crowd)
}

// keys returns the keys that have not expired.
func (s *redisServer) keys(db int) []string {
	out := []string{}
	for _, key := range slices.Sorted(maps.Keys(s.dbs[db])) {
		if _, ok := s.get(db, key); ok {
			out = append(out, key)
		}
	}
	return out
}
