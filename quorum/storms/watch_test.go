package storms

import (
	"time"

	"github.com/redlockd/redlockd/quorum"
)

// watchedKeys are the keys of clients that use WATCH: whoever has read a token there may free it.
var watchedKeys = []string{"w", "v"}

// glance is what a client has seen of a key under WATCH, from its asking to its answer.
type glance struct {
	op        quorum.Op // the read
	token     string    // "" if there was no lock
	sent, got time.Duration
	node      *node
	session   int
}

func (g *glance) watch() *quorum.Watch { return g.op.Arm }

// is reports whether a state is the one that was seen (package commands).
func (g *glance) is(st quorum.State) bool {
	return st.Found == (g.token != "") && st.Token == g.token && g.watch().Fits(st)
}

// watches takes a lock plainly, or reads one or two under WATCH and then changes them by EXEC,
// which is to do nothing if any has changed meanwhile (S4).
func (c *client) watches() {
	op := c.lock()
	op.Key = pick(c.rng, watchedKeys)
	if c.chance(50) {
		c.takesPlainly(op)
		return
	}
	keys := []string{op.Key}
	if c.chance(40) && has("several") {
		keys = watchedKeys
	}
	n := c.node()
	_, session := n.running()
	var seen []*glance
	for _, key := range keys {
		g := c.glances(n, session, quorum.Op{Kind: quorum.Read, DB: op.DB, Key: key, Arm: &quorum.Watch{}})
		defer g.watch().Close()
		if g.got == 0 {
			return
		}
		seen = append(seen, g)
	}
	switch {
	case !c.sleep(some(c.rng, 0, 400*time.Millisecond)):
	case len(seen) == 1:
		c.exec(op, seen[0])
	default:
		c.execAll(op, seen)
	}
}

// takesPlainly takes the lock, sometimes gives it another token and then its own again, and frees
// it.
func (c *client) takesPlainly(op quorum.Op) {
	op.Kind, op.TTL = quorum.Acquire, c.ttl(c.node())
	comesBack := c.chance(60) && has("replace")
	stays := op.TTL / 2
	if comesBack {
		stays = min(stays, 150*time.Millisecond) // before somebody who has seen it changes it
	}
	if !c.turns(op) || !c.sleep(some(c.rng, 0, stays)) {
		return
	}
	if comesBack {
		there := op
		there.Kind, there.Replace, there.NewToken = quorum.Extend, true, op.Token+"'"
		back := there
		back.Token, back.NewToken = there.NewToken, op.Token
		if !c.turns(there) || !c.turns(back) || !c.sleep(some(c.rng, 0, op.TTL/2)) {
			return
		}
	}
	if c.chance(70) {
		op.Kind, op.TTL = quorum.Release, 0
		c.turns(op)
	}
}

// turns sends an operation that changes the token, and notes that it did.
func (c *client) turns(op quorum.Op) bool {
	v := c.visits(c.node())
	t := c.judge.begin(v.node, op)
	v.tries = []*try{t}
	made := turn{sent: c.Now(), by: v.node.teller(op.DB)}
	if !v.carriesOut(op).won() {
		return false
	}
	made.got = c.Now()
	c.judge.turned(t, made)
	return true
}

// glances reads a key under WATCH; got is 0 if the client cannot know what was found.
func (c *client) glances(n *node, session int, read quorum.Op) *glance {
	g := &glance{op: read, node: n, session: session, sent: c.Now()}
	v := c.visits(n)
	v.session, v.tries = session, []*try{c.judge.begin(n, read)}
	seen := v.carriesOut(read)
	if seen.verdict == quorum.Held {
		g.token = seen.state.Token
	}
	if !seen.open() {
		g.got = c.Now()
	}
	return g
}

// part returns what an EXEC does to a key: it takes what was free, and frees what was not or
// gives it another token.
func (c *client) part(op quorum.Op, g *glance) quorum.Op {
	op.Key, op.TTL = g.op.Key, c.ttl(g.node)
	switch {
	case g.token == "":
		op.Kind = quorum.Acquire
	case c.chance(50):
		op.Kind, op.Token, op.TTL = quorum.Release, g.token, 0
	default:
		op.Kind, op.NewToken, op.Token, op.Replace = quorum.Extend, op.Token, g.token, true
	}
	return op
}

// exec changes what was watched.
func (c *client) exec(op quorum.Op, g *glance) {
	op = c.part(op, g)
	op.Unless = []*quorum.Watch{g.watch()}
	c.executes([]quorum.Op{op}, op, []*glance{g}, func() bool { return true })
}

// execAll changes several keys that were watched, or all but one of them.
func (c *client) execAll(op quorum.Op, seen []*glance) {
	all := quorum.Op{Kind: quorum.DecideAll, DB: op.DB}
	spared := c.rng.IntN(2 * len(seen)) // an index of seen, or none
	var parts []quorum.Op
	var changes []quorum.Change
	for i, g := range seen {
		all.Keys, all.Unless = append(all.Keys, g.op.Key), append(all.Unless, g.watch())
		if i == spared {
			parts = append(parts, quorum.Op{Kind: quorum.Read, DB: op.DB, Key: g.op.Key})
			continue
		}
		p := c.part(op, g)
		parts = append(parts, p)
		changes = append(changes, quorum.Change{Key: p.Key, Delete: p.Kind == quorum.Release, Token: p.TokenAfter(), TTL: p.TTL})
	}
	all.Key = all.Keys[0]
	differs := false
	all.DecideAll = func(states []quorum.State) []quorum.Change {
		for i, g := range seen {
			if differs = !g.is(states[i]); differs {
				return nil
			}
		}
		return changes
	}
	c.executes(parts, all, seen, func() bool {
		for _, g := range seen {
			differs = differs || g.watch().Changed()
		}
		return differs
	})
}

// executes sends an EXEC that means one operation for each key that was watched. isNull tells
// whether an EXEC that did nothing is the null array, or an error.
func (c *client) executes(parts []quorum.Op, op quorum.Op, seen []*glance, isNull func() bool) {
	v := c.visits(seen[0].node)
	v.session = seen[0].session
	for _, p := range parts {
		t := c.judge.begin(v.node, p)
		t.stranger = true
		v.tries = append(v.tries, t)
	}
	made := turn{sent: c.Now(), by: v.node.teller(op.DB)}
	switch a := v.carriesOut(op); {
	case a.won():
		made.got = c.Now()
		c.judge.acted(v.tries, made, seen)
	case !a.open() && isNull():
		c.judge.nulled(v.tries, seen)
	}
}
