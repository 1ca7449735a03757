package fakeredis

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
)

// Faults are those that a test sets on a server of its own, and what it notes for the test.
type Faults struct {
	Delay   time.Duration     // before each command of a connection
	Halt    time.Duration     // of a script before its TIME number HaltAt
	HaltAt  int               // from 1
	Refused map[string]string // command, "CLIENT KILL" or a command with all arguments -> error
	Secret  string            // a key that redlockd has no right to
	Paged   bool              // SCAN does not tell all keys at once
	// KeepsLog reports whether the commands are noted in Log, and in From the connection of
	// each, which is 0 for those in scripts.
	KeepsLog bool
	Log      []string
	From     []int
	// Ended are the connections that CLIENT KILL was to end.
	Ended map[int]bool
}

// meet notes a command of a connection, or of a script (0), and returns the error that a
// test wants for it, or nil.
func (s *Server) meet(from int, args []string) any {
	name := strings.ToUpper(args[0])
	if s.KeepsLog {
		s.Log, s.From = append(s.Log, name+" "+strings.Join(args[1:], " ")), append(s.From, from)
	}
	if name == "CLIENT" {
		name += " " + strings.ToUpper(args[1])
	}
	switch text := cmp.Or(s.Refused[name], s.Refused[strings.Join(args, " ")]); {
	case text != "":
		return failure(text)
	case s.Secret != "" && slices.Contains(declared(args), s.Secret):
		return failure("NOPERM No permissions to access a key")
	default:
		return nil
	}
}

// declared returns the keys of a script's call, and all of any other command.
func declared(args []string) []string {
	if name := strings.ToUpper(args[0]); name == "EVAL" || name == "EVALSHA" {
		n, _ := strconv.Atoi(args[2])
		return args[3 : 3+n]
	}
	return args
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
func (s *Server) refusal(name string) any {
	fault := s.Fault
	if s.Replica {
		fault = "READONLY"
	}
	if fault == "" || fault == "OOM" && name != "SET" {
		return nil
	}
	return failure(refusals[fault])
}

// Evict deletes keys, as a server does whose policy allows that, if its mark does not
// let it vote.
func (s *Server) Evict() {
	for db := range s.dbs {
		if m, err := mark.Parse(s.dbs[db][mark.Key].Value); err != nil || m.Real {
			continue
		}
		for _, key := range s.Keys(db) {
			if key != mark.Key && s.Rand.IntN(2) == 0 {
				s.Del(db, key)
			}
		}
	}
}
