package history

import (
	"strconv"
	"sync"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

// MaxSlow bounds the commands that SLOWLOG keeps; maxSlowArgs and maxSlowArg bound the
// arguments of one command and the bytes of an argument.
const (
	MaxSlow     = 128
	maxSlowArgs = 32
	maxSlowArg  = 128
)

// SlowLog keeps the latest slow commands. It does not keep what the client sent: the
// arguments are made from the operations, without tokens. Safe for concurrent use.
type SlowLog struct {
	mu     sync.Mutex
	lastID int64
	// ring holds the entries; the newest is before next.
	ring [MaxSlow]Slow
	next int
	used int
}

// Slow is one slow command.
type Slow struct {
	ID     int64
	At     time.Time
	Took   time.Duration
	Args   []string
	Holder *Holder
}

// Record adds a command, all of whose outcomes have arrived, if one of them took
// slowerThan or longer.
func (l *SlowLog) Record(command string, ops []quorum.Op, outcomes []*quorum.Outcome, who *Holder, slowerThan time.Duration) {
	var took time.Duration
	for _, o := range outcomes {
		took = max(took, o.Took)
	}
	if took >= slowerThan {
		l.add(took, slowArgs(command, ops), who)
	}
}

func (l *SlowLog) add(took time.Duration, args []string, who *Holder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ring[l.next] = Slow{l.lastID, time.Now(), took, args, who}
	l.lastID++
	l.next = (l.next + 1) % MaxSlow
	l.used = min(l.used+1, MaxSlow)
}

// slowArgs returns the command as the log shows it: its name, its keys, whether there was
// a token, and the TTL.
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

// Newest returns at most most entries, the newest first.
func (l *SlowLog) Newest(most int) []Slow {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]Slow, min(most, l.used))
	for i := range list {
		list[i] = l.ring[(l.next-1-i+2*MaxSlow)%MaxSlow]
	}
	return list
}

// Len returns the number of entries.
func (l *SlowLog) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.used
}

// Reset removes all entries.
func (l *SlowLog) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.ring[:])
	l.used = 0
}
