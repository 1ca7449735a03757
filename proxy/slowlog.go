package proxy

import (
	"strconv"
	"sync"
	"time"

	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// slowLog keeps the commands that took longest of late, with what they were
// about. What a client sent is not kept: the arguments are those of the
// operations, and no token is among them. Safe for concurrent use.
type slowLog struct {
	mu     sync.Mutex
	lastID int64
	// ring holds the entries; the newest is before next.
	ring [maxSlow]slowEntry
	next int
	used int
}

type slowEntry struct {
	id   int64
	at   time.Time
	took time.Duration
	args []string
	who  *holder
}

// record enters the command of a slot, all of whose outcomes are there, if one
// of them took as long or longer.
func (l *slowLog) record(sl *slot, slowerThan time.Duration) {
	var took time.Duration
	for _, o := range sl.outcomes {
		took = max(took, o.Took)
	}
	if took >= slowerThan {
		l.add(took, slowArgs(sl.command, sl.ops), sl.who)
	}
}

func (l *slowLog) add(took time.Duration, args []string, who *holder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ring[l.next] = slowEntry{l.lastID, time.Now(), took, args, who}
	l.lastID++
	l.next = (l.next + 1) % maxSlow
	l.used = min(l.used+1, maxSlow)
}

// slowArgs are the command as the log tells it: its name, its keys, that there
// was a token, and the TTL.
func slowArgs(command string, ops []quorum.Op) []string {
	args := []string{command}
	for i := range ops {
		op := &ops[i]
		keys := op.Keys
		if op.Kind != quorum.DecideAll {
			keys = []string{op.Key}
		}
		for _, key := range keys {
			if len(args) == maxSlowArgs-1 {
				return append(args, "... (more keys)")
			}
			args = append(args, shorten(key))
		}
	}
	if len(ops) == 1 && ops[0].Token != "" {
		args = append(args, "(token)")
	}
	if len(ops) == 1 && ops[0].TTL > 0 {
		args = append(args, "PX", strconv.FormatInt(ops[0].TTL.Milliseconds(), 10))
	}
	return args
}

// shorten cuts an argument as Redis does.
func shorten(arg string) string {
	if len(arg) <= maxSlowArg {
		return arg
	}
	return arg[:maxSlowArg] + "... (" + strconv.Itoa(len(arg)-maxSlowArg) + " more bytes)"
}

// newest returns at most most entries, the newest first.
func (l *slowLog) newest(most int) []slowEntry {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]slowEntry, min(most, l.used))
	for i := range list {
		list[i] = l.ring[(l.next-1-i+2*maxSlow)%maxSlow]
	}
	return list
}

func (l *slowLog) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.used
}

func (l *slowLog) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.ring[:])
	l.used = 0
}

// slowlog is SLOWLOG GET [count], LEN, RESET and HELP.
func (s *session) slowlog(args [][]byte) resp.Reply {
	log := &s.srv.slow
	switch {
	case grammar.Is(args[1], "get") && len(args) <= 3:
		return log.get(args[2:])
	case grammar.Is(args[1], "len") && len(args) == 2:
		return resp.Int(int64(log.len()))
	case grammar.Is(args[1], "reset") && len(args) == 2:
		log.reset()
		return resp.OK
	case grammar.Is(args[1], "help") && len(args) == 2:
		return slowlogHelp
	}
	return unknownSubcommand("slowlog", args[1])
}

var slowlogHelp = help(
	"SLOWLOG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
	"GET [<count>]",
	"    Return top <count> entries from the slowlog (default: 10, -1 mean all).",
	"    Entries are made of:",
	"    id, timestamp, time in microseconds, arguments array, client IP and port,",
	"    client name. Tokens are replaced.",
	"LEN",
	"    Return the length of the slowlog.",
	"RESET",
	"    Reset the slowlog.",
	"HELP",
	"    Prints this help.",
)

func (l *slowLog) get(count [][]byte) resp.Reply {
	n := int64(10)
	if len(count) > 0 {
		var ok bool
		if n, ok = resp.ParseInt(count[0]); !ok || n < -1 {
			return resp.Error("ERR count should be greater than or equal to -1")
		}
	}
	if n < 0 || n > maxSlow {
		n = maxSlow
	}
	items := []resp.Reply{}
	for _, e := range l.newest(int(n)) {
		items = append(items, resp.Array(resp.Int(e.id), resp.Int(e.at.Unix()), resp.Int(e.took.Microseconds()),
			resp.Array(resp.Bulks(e.args...)...), resp.Bulk(e.who.address), resp.Bulk(e.who.name)))
	}
	return resp.Array(items...)
}
