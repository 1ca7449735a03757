package quorum

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// logged keeps what a log says.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// count is how many lines have both words.
// logger writes there what an operator sees.
func (l *logged) logger() hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Output: l, Level: hclog.Info})
}

func (l *logged) count(message, master string) int { return l.countOf(message, "master="+master) }

// countOf is how many lines have all of these texts.
func (l *logged) countOf(texts ...string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for line := range strings.Lines(l.text.String()) {
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(line, text) }) {
			n++
		}
	}
	return n
}

// Section 9: "Log lines: an operator's events." A master that is down is
// named once, also one that nobody has reached since the start, though it has
// lost no connection; and again when it is lost.
func TestDownIsToldOnce(t *testing.T) {
	inBubble(t, 3, func(c *cluster) {
		c.masters[2].kill()
		var lines logged
		q := c.redlockdTelling(lines.logger())
		told := func(when string, want int, lost uint64) {
			t.Helper()
			time.Sleep(5 * time.Second)
			if n := lines.count("master is down", "c"); n != want {
				t.Errorf("%s: %d lines name it, want %d", when, n, want)
			}
			if n := q.Status().Counters.LostConnections; n != lost {
				t.Errorf("%s: %d lost connections, want %d", when, n, lost)
			}
		}
		told("down from the start", 1, 0)
		c.masters[2].mend()
		told("up", 1, 0)
		c.masters[2].kill()
		told("down again", 2, 1)
		if n := lines.count("master is down", "a"); n != 0 {
			t.Errorf("a master that is well is told to be down %d times", n)
		}
	})
}
