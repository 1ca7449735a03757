package journal

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	// maxLines is how many lines are kept.
	maxLines = 256
	// maxFields and maxValue bound a line: clients choose some values, and a panic's
	// stack is long.
	maxFields = 16
	maxValue  = 512
)

// Line is a line of the log.
type Line struct {
	// Time is when it was logged.
	Time time.Time
	// Level is info, warn or error.
	Level string
	// Text is the constant part, which docs/operations.md explains.
	Text string
	// Fields are the variable parts, in their order.
	Fields []Field
}

// Field is a key=value of a line. Clients choose some values.
type Field struct{ Key, Value string }

// Journal keeps the latest lines. It is safe for concurrent use.
type Journal struct {
	mu sync.Mutex
	// lines is a ring: once it is full, next is the oldest line and the next one to be
	// overwritten.
	lines []Line
	next  int
}

// New returns an empty Journal. It gets lines once it is registered with the logger
// (hclog's RegisterSink).
func New() *Journal { return &Journal{} }

// Accept implements hclog.SinkAdapter.
func (j *Journal) Accept(_ string, level hclog.Level, text string, args ...any) {
	if level < hclog.Info {
		return
	}
	line := Line{Time: time.Now(), Level: level.String(), Text: text, Fields: fields(args)}
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.lines) < maxLines {
		j.lines = append(j.lines, line)
		return
	}
	j.lines[j.next] = line
	j.next = (j.next + 1) % maxLines
}

// Latest returns the latest lines, the newest first, most at most.
func (j *Journal) Latest(most int) []Line {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := len(j.lines)
	latest := make([]Line, 0, min(n, most))
	for i := range min(n, most) {
		latest = append(latest, j.lines[(j.next+n-1-i)%n])
	}
	return latest
}

// fields pairs up keys and values as the log does.
func fields(args []any) []Field {
	out := make([]Field, 0, min(len(args)/2, maxFields))
	for ; len(args) >= 2 && len(out) < maxFields; args = args[2:] {
		out = append(out, Field{Key: bounded(args[0]), Value: bounded(args[1])})
	}
	return out
}

// bounded is a value as text. It holds on to nothing of a longer text.
func bounded(v any) string {
	text := fmt.Sprint(v)
	if len(text) <= maxValue {
		return text
	}
	return strings.ToValidUTF8(text[:maxValue], "") + "..."
}
