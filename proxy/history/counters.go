package history

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// MaxRefusedNames bounds the command names that CountRefused counts apart.
const MaxRefusedNames = 128

// Counters counts events since the start. Safe for concurrent use.
type Counters struct {
	Connections    atomic.Uint64
	Rejected       atomic.Uint64
	Commands       atomic.Uint64
	Written        atomic.Uint64
	ProtocolErrors atomic.Uint64
	LoginFailures  atomic.Uint64
	Dropped        atomic.Uint64 // sessions closed because of max_pending
	Evicted        atomic.Uint64 // sessions closed because of max_memory
	lost           [Changed + 1]atomic.Uint64

	mu      sync.Mutex
	errors  map[string]uint64 // by code
	refused map[string]uint64 // unknown commands by name
}

// errorCodes are the codes of redlockd's own errors.
var errorCodes = []string{"ERR", "EXECABORT", "NOAUTH", "NOPERM", "NOPROTO", "NOQUORUM", "NOSCRIPT", "NOTBUSY",
	"WRONGPASS", "WRONGTYPE"}

// OtherCode is the name under which all other codes are counted: a script may answer with
// any code, and with another one each time.
const OtherCode = "OTHER"

// CountError counts an error reply by its code.
func (st *Counters) CountError(text string) {
	code, _, _ := strings.Cut(text, " ")
	if !slices.Contains(errorCodes, code) {
		code = OtherCode
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.errors == nil {
		st.errors = make(map[string]uint64)
	}
	st.errors[code]++
}

// CountRefused counts a command that redlockd does not serve (C4). The names come from
// clients, so beyond a bound they are counted together.
func (st *Counters) CountRefused(name string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.refused == nil {
		st.refused = make(map[string]uint64)
	}
	if _, known := st.refused[name]; !known && len(st.refused) >= MaxRefusedNames {
		name = "other"
	}
	st.refused[name]++
}

// CountLost counts a lock that was lost.
func (st *Counters) CountLost(cause Cause) { st.lost[cause].Add(1) }

// Lost returns the counts of CountLost, of each cause.
func (st *Counters) Lost() map[string]uint64 {
	lost := make(map[string]uint64)
	for _, cause := range Causes {
		lost[cause.String()] = st.lost[cause].Load()
	}
	return lost
}

// Snapshot returns the counts of CountError and CountRefused.
func (st *Counters) Snapshot() (errors, refused map[string]uint64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	return maps.Clone(st.errors), maps.Clone(st.refused)
}
