package quorum

import (
	"slices"
	"strings"
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
)

// faults are those that a test sets on a server of its own, and what it notes for the test.
type faults struct {
	delay    time.Duration     // before each command of a connection
	halt     time.Duration     // of a script before its TIME number haltAt
	haltAt   int               // from 1
	refused  map[string]string // command, or "CLIENT LIST" -> error
	secret   string            // a key that redlockd has no right to
	nameless bool              // it ignores the names of connections
	crowd    int               // more connections, which CLIENT LIST leaves out
	paged    bool              // SCAN does not tell all keys at once
	// keepsLog reports whether the commands are noted in log, and in from the connection of
	// each, which is 0 for those in scripts.
	keepsLog bool
	log      []string
	from     []int
	// ended are the connections that CLIENT KILL was to end.
	ended map[int]bool
}

// meet notes a command of a connection, or of a script (0), and returns the error that a
// test wants for it, or nil.
func (s *redisServer) meet(from int, args []string) any {
	name := strings.ToUpper(args[0])
	if s.keepsLog {
		s.log, s.from = append(s.log, name+" "+strings.Join(args[1:], " ")), append(s.from, from)
	}
	if name == "CLIENT" {
		name += " " + strings.ToUpper(args[1])
	}
	switch {
	case s.refused[name] != "":
		return failure(s.refused[name])
	case s.secret != "" && slices.Contains(args, s.secret):
		return failure("NOPERM No permissions to access a key")
	default:
		return nil
	}
}

// refusals are the errors that a server answers for a while, by their codes: BUSY to
// every command, the others to those that write.
var refusals = map[string]string{
	"BUSY":       "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
	"OOM":        "OOM command not allowed when used memory > 'maxmemory'.",
	"MISCONF":    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
	"READONLY":   "READONLY You can't write against a read only replica.",
	"NOREPLICAS": "NOREPLICAS Not enough good replicas to write.",
}

// refusal returns the error for a command that writes, or nil. OOM refuses only
// commands that take more memory.
func (s *redisServer) refusal(name string) any {
	fault := s.fault
	if s.replica {
		fault = "READONLY"
	}
	if fault == "" || fault == "OOM" && name != "SET" {
		return nil
	}
	return failure(refusals[fault])
}

// evict deletes keys, as a server does whose policy allows that, if its mark does not
// let it vote.
func (s *redisServer) evict() {
	for db := range s.dbs {
		if m, err := mark.Parse(s.dbs[db][mark.Key].value); err != nil || m.Real {
			continue
		}
		for _, key := range s.keys(db) {
			if key != mark.Key && s.rng.IntN(2) == 0 {
				s.del(db, key)
			}
		}
	}
}
