package storms

import (
	"slices"
	"strings"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

// watchedKey is the key of clients that use WATCH: whoever has read a token there may free it.
const watchedKey = "w"

// turn is a change of the token under a key that a client was answered to be made.
type turn struct {
	sent, got time.Duration
	token     string // "" if the lock was freed
	by        teller
}

// watches takes the lock plainly, or reads it under WATCH and then changes it by EXEC, which is
// to do nothing if the token has changed meanwhile (S4).
func (c *client) watches() {
	op := c.lock()
	op.Key = watchedKey
	if c.chance(50) {
		op.Kind, op.TTL = quorum.Acquire, c.ttl(c.node())
		if c.turns(c.visits(c.node()), op, nil).won() && c.sleep(some(c.rng, 0, op.TTL/2)) && c.chance(70) {
			op.Kind = quorum.Release
			c.turns(c.visits(c.node()), op, nil)
		}
		return
	}
	w := &quorum.Watch{}
	defer w.Close()
	v := c.visits(c.node())
	_, session := v.node.running()
	read := quorum.Op{Kind: quorum.Read, DB: op.DB, Key: op.Key, Arm: w}
	v.session, v.tries = session, []*try{c.judge.begin(v.node, read)}
	seen := v.carriesOut(read)
	if seen.verdict != quorum.Held {
		seen.state = quorum.State{}
	}
	if got := c.Now(); !seen.open() && c.sleep(some(c.rng, 0, 400*time.Millisecond)) {
		c.exec(op, &glance{token: seen.state.Token, got: got, node: v.node, session: session, watch: w})
	}
}

// glance is what a client has seen under WATCH.
type glance struct {
	token   string
	got     time.Duration
	node    *node
	session int
	watch   *quorum.Watch
}

// exec changes what was watched.
func (c *client) exec(op quorum.Op, g *glance) {
	op.Unless, op.TTL = []*quorum.Watch{g.watch}, c.ttl(g.node)
	switch {
	case g.token == "":
		op.Kind = quorum.Acquire
	case c.chance(50):
		op.Kind, op.Token, op.TTL = quorum.Release, g.token, 0
	default:
		op.Kind, op.NewToken, op.Token, op.Replace = quorum.Extend, op.Token, g.token, true
	}
	v := c.visits(g.node)
	v.session = g.session
	c.turns(v, op, g)
}

// turns sends an operation that changes the token, and notes that it did.
func (c *client) turns(v *visit, op quorum.Op, g *glance) hearing {
	t := c.judge.begin(v.node, op)
	t.stranger, v.tries = g != nil, []*try{t}
	sent, by := c.Now(), v.node.teller(op.DB)
	a := v.carriesOut(op)
	if !a.won() {
		return a
	}
	made := turn{sent: sent, got: c.Now(), by: by}
	if op.Kind != quorum.Release {
		made.token = op.TokenAfter()
	}
	c.judge.turned(t, made, g)
	return a
}

// turned notes a change, and checks that what the client of an EXEC had seen was not changed
// before: through the same redlockd by anybody, through another one to another token. A token
// that has come back there, or a lock that was free, taken and freed, is not seen (S4).
func (j *witness) turned(t *try, made turn, g *glance) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.turns[t.lock] = append(j.turns[t.lock], made); g == nil {
		return
	}
	j.count("EXEC that acted")
	for _, other := range j.turns[t.lock] {
		switch {
		case other.sent <= g.got || other.got >= made.sent:
		case other.by != made.by && g.token == "":
			j.gap("WATCH: %v, %q was taken and freed through another redlockd while %s watched it free, and EXEC acts", t.lock, other.token, t.op.Token)
		case other.by != made.by && t.op.Kind == quorum.Release && other.token == "":
			j.gap("WATCH: %v, %q was freed through another redlockd, and is freed again by a copy that this has not reached (V8)", t.lock, g.token)
		default:
			j.fail("WATCH: %v, %s has watched %q since %v at redlockd %d, it became %q at %v at redlockd %d, and EXEC acts", t.lock, t.op.TokenAfter(),
				g.token, g.got, t.node.number, other.token, other.got, other.by.node.number)
		}
	}
	if list := j.turns[t.lock]; len(list) > 200 {
		j.turns[t.lock] = slices.Delete(list, 0, 100)
	}
}

// gap counts what redlockd is known to get wrong until copies tell which attempt made them; with
// the class "gaps" it fails.
func (j *witness) gap(format string, args ...any) {
	if has("gaps") {
		j.fail(format, args...)
		return
	}
	j.tell("GAP "+format, args...)
	j.count("KNOWN GAP: " + strings.NewReplacer("%v", "-", "%q", "-", "%s", "-", "%d", "-").Replace(format))
}
