package quorum

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// logged stores what is logged.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// logger returns a logger that writes what an operator sees.
func (l *logged) logger() hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Output: l, Level: hclog.Info})
}

// count returns how many lines have the message and the master's name.
func (l *logged) count(message, master string) int { return l.countOf(message, "master="+master) }

// countOf returns how many lines contain all of these texts.
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

// TestDownIsToldOnce checks that a master that is down is logged once each time it is
// lost, and once if nobody has reached it since the start, although no connection was
// lost then.
func TestDownIsToldOnce(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
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
			t.Errorf("a master that is up is logged as down %d times", n)
		}
	})
}

// TestRightsAreTold checks that the log reports once why a master that was lost refuses
// redlockd when it is back, besides the line about the loss, and once which rights
// redlockd lacks there.
func TestRightsAreTold(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		var lines logged
		q := c.redlockdTelling(lines.logger())
		time.Sleep(5 * time.Second)
		refuse := func(command string) {
			c.masters[2].kill()
			time.Sleep(5 * time.Second)
			c.masters[2].set(func() {
				clear(c.masters[2].Refused)
				c.masters[2].Refused[command] = "NOPERM this user has no permissions to run the '" + command + "' command"
			})
			c.masters[2].mend()
			time.Sleep(5 * time.Second)
		}
		refuse("INFO")
		if n := lines.countOf("master is down", "master=c", "'INFO'"); n != 1 {
			t.Errorf("%d lines report that INFO is refused, want one", n)
		}
		for range 2 {
			refuse("MGET")
		}
		if n := lines.countOf("[WARN]", "lacks rights on a master", "master=c", "lacks=mget"); n != 1 {
			t.Errorf("%d lines report that MGET is refused, want one", n)
		}
		if s := q.Status().Masters[2]; s.State != Voting {
			t.Errorf("without MGET the master is %v, %s", s.State, s.Reason)
		}
		if n := lines.countOf("lacks rights on a master"); n != 1 {
			t.Errorf("%d lines report refused commands, want one", n)
		}
	})
}

// TestFrozenWhileItIsAskedForRights checks that a master that freezes while its rights
// are checked counts as frozen, as with every other question (M1).
func TestFrozenWhileItIsAskedForRights(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.stop(c.q)
		f := c.masters[1]
		f.set(func() { f.Delay, f.Log = 5*time.Millisecond, nil })
		q := c.redlockd()
		for !slices.ContainsFunc(f.commands(0), func(line string) bool { return strings.HasPrefix(line, "PTTL") }) {
			time.Sleep(time.Millisecond)
		}
		f.freeze()
		time.Sleep(2 * c.cfg.Timeout)
		if s := q.Status().Masters[1]; s.State != Frozen {
			t.Errorf("the master is %v, %s", s.State, s.Reason)
		}
	})
}

// TestWaitIsToldOnceItIsKnown: masters that were all lost wait for max_ttl as long as nobody is
// seen who remembers what was granted. Once somebody is, the log says how long they wait, and
// no more than that.
func TestWaitIsToldOnceItIsKnown(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "A", time.Minute)), Won)
		c.stop(c.q)
		for _, f := range c.masters {
			f.kill()
		}
		var lines logged
		q := c.redlockdTelling(lines.logger())
		for _, f := range c.masters[:3] {
			f.startEmpty()
		}
		time.Sleep(5 * time.Second)
		if n := lines.countOf("master may not vote", "wait=24h"); n != 3 {
			t.Errorf("%d masters are said to wait for max_ttl, want 3:\n%s", n, lines.text.String())
		}
		for _, f := range c.masters[3:] {
			f.mend()
		}
		time.Sleep(4 * time.Minute)
		for _, m := range q.Status().Masters[:3] {
			if n := lines.count("master may not vote", m.Name); n != 2 || m.State != Fresh {
				t.Errorf("%d lines tell why %s does not vote, which is in %s, want 2:\n%s", n, m.Name, m.State, lines.text.String())
			}
			if n := lines.countOf("master may not vote", "master="+m.Name, "wait=6m0"); n != 1 {
				t.Errorf("%d lines tell how long %s really waits, want 1:\n%s", n, m.Name, lines.text.String())
			}
		}
	})
}
