package storms

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

// Several clients hold a lock together, with their names in its string: the first one takes it,
// others add their names by a compare-and-set with a TTL (SET ... PX), who leaves takes its name
// out and keeps the TTL (SET ... KEEPTTL), and the last one deletes the key.

const membersKey = "m"

// members are those who were answered that they are in, and until when they certainly are: all
// join for the same TTL, and nobody else takes them out.
type members struct {
	mu   sync.Mutex
	ends map[string]time.Duration
}

// certain returns who certainly is a member until a time.
func (m *members) certain(until time.Duration) (out []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, end := range m.ends {
		if end > until {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func (m *members) note(name string, end time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ends[name] = end
}

func namesIn(st quorum.State) []string {
	if !st.Found || st.Token == "" {
		return nil
	}
	return strings.Split(st.Token, ",")
}

// joins joins the others, looks a few times who is there, and leaves.
func (c *client) joins() {
	name := fmt.Sprint(c.number, "-", c.round)
	asked, ttl := c.Now(), c.membersTTL()
	a := c.decides(c.node(), func(st quorum.State) quorum.Op {
		switch {
		case !st.Found && !st.Lapsed:
			return quorum.Op{Kind: quorum.Acquire, Token: name, TTL: ttl}
		case !st.Found || slices.Contains(namesIn(st), name):
			return quorum.Op{Kind: quorum.Read}
		}
		return quorum.Op{Kind: quorum.Extend, Token: st.Token, Replace: true, NewToken: st.Token + "," + name, TTL: ttl}
	})
	if a.won() && a.done != quorum.Read {
		c.joined.note(name, asked+ttl-membersSlack(ttl))
	}
	for range c.rng.IntN(4) {
		if !c.sleep(some(c.rng, 0, ttl/4)) {
			return
		}
		c.looks(c.node())
	}
	if a.open() || a.won() && a.done != quorum.Read {
		c.leaves(name)
	}
}

// membersTTL returns a TTL that all redlockd allow.
func (s *storm) membersTTL() time.Duration {
	ttl := 3 * time.Second
	for _, cfg := range s.shape.settings {
		ttl = min(ttl, cfg.MaxTTL)
	}
	return ttl
}

// membersSlack is by how much clocks of redlockd and masters may be fast in a TTL.
func membersSlack(ttl time.Duration) time.Duration { return ttl/100 + 10*time.Millisecond }

// looks reads who is a member, and checks that all are there that certainly are.
func (c *client) looks(n *node) {
	sure := c.joined.certain(c.Now())
	a := c.decides(n, func(quorum.State) quorum.Op { return quorum.Op{Kind: quorum.Read} })
	if a.open() {
		return
	}
	still := c.joined.certain(c.Now())
	for _, name := range sure {
		if slices.Contains(still, name) && !slices.Contains(namesIn(a.state), name) {
			c.missing("MEMBERS: redlockd %d says that %q are in, and %s certainly is", n.number, a.state.Token, name)
		}
	}
}

// leaves takes a name out. It asks again while nobody can tell.
func (c *client) leaves(name string) {
	sure := slices.Contains(c.joined.certain(c.Now()), name)
	end := c.joined.endOf(name)
	c.joined.note(name, 0)
	for range 1 + c.rng.IntN(2) {
		n := c.node()
		a := c.decides(n, func(st quorum.State) quorum.Op {
			others := slices.DeleteFunc(namesIn(st), func(other string) bool { return other == name })
			switch {
			case !st.Found || len(others) == len(namesIn(st)):
				return quorum.Op{Kind: quorum.Read}
			case len(others) == 0:
				return quorum.Op{Kind: quorum.Release, Token: st.Token}
			}
			return quorum.Op{Kind: quorum.Extend, Token: st.Token, Replace: true, NewToken: strings.Join(others, ","), TTL: st.TTL.Truncate(time.Millisecond), Keeps: true}
		})
		if sure && has("leaves") && !a.open() && a.done == quorum.Read && c.Now() < end {
			c.missing("NOT A MEMBER: redlockd %d says that %q are in, as %s leaves", n.number, a.state.Token, name)
		}
		if !a.open() {
			return
		}
		sure = false // it may have left by now
	}
}

func (m *members) endOf(name string) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ends[name]
}

// missing fails, unless a master was just made a replica of a server that lacks something.
func (c *client) missing(format string, args ...any) {
	c.judge.mu.Lock()
	defer c.judge.mu.Unlock()
	if c.lagging() {
		c.judge.count("excuse: a master has just become a replica of a server that lacks the lock")
		return
	}
	c.fail(format, args...)
}

// decides sends what a script on the members does.
func (c *client) decides(n *node, choose func(quorum.State) quorum.Op) hearing {
	v := c.visits(n)
	op := quorum.Op{Kind: quorum.Decide, Key: membersKey, Decide: func(st quorum.State) quorum.Op {
		op := choose(st)
		op.Key = membersKey
		return op
	}}
	a := v.carriesOut(op)
	if a.known && !a.won() && a.done != quorum.Read {
		a.verdict = quorum.Undecided // the lock changed meanwhile (package commands)
	}
	c.judge.noteMembers(a)
	return a
}

func (j *witness) noteMembers(a hearing) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case a.open():
		j.count("members: undecided or unheard")
	default:
		j.count(fmt.Sprintf("members: %v", a.done))
	}
}
