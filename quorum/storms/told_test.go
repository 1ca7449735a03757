package storms

import (
	"slices"
	"strings"
	"time"

	"github.com/redlockd/redlockd/quorum"
	"github.com/redlockd/redlockd/quorum/fakeredis"
	"github.com/redlockd/redlockd/quorum/vote"
)

// setAndGet is SET NX GET with a token that no other attempt has: an acquire whose client is
// told the token that is in the way. Where that is not known it reads (package commands).
func (c *client) setAndGet(n *node, op quorum.Op) hearing {
	v := c.visits(n)
	t := c.judge.begin(n, op)
	t.tells, v.tries = true, []*try{t}
	op.Decide = func(st quorum.State) quorum.Op {
		if st.Found || st.Lapsed {
			return quorum.Op{Kind: quorum.Read, DB: op.DB, Key: op.Key}
		}
		return quorum.Op{Kind: quorum.Acquire, DB: op.DB, Key: op.Key, Token: op.Token, TTL: op.TTL}
	}
	return v.carriesOut(op)
}

// told checks that a token that a client is told, by a read or by SET NX GET, was on a quorum
// since the client asked: who released it long ago is nobody's answer. The required master's
// word alone decides, too (V11). The caller must hold mu.
func (t *try) told(token string) {
	if token == "" {
		return
	}
	n, strange := t.copies(token)
	switch {
	case n >= t.leastMajority(), t.requiredHad(token):
	case t.leaseOf(t.lock, token).has(t.sent):
		t.count("excuse: a token is told that no quorum has any more, and its client counts on it")
	case strange || t.lagging():
		t.count("excuse: a token is told that no quorum had, by a master whose clock or disk went back")
	default:
		t.fail("TOLD: %v, %s is told by %v at redlockd %d that %q has it, which was on %d masters since", t.lock, t.op.Token, t.op.Kind, t.node.number, token, n)
	}
}

// has reports whether a client may count on the lock at a time.
func (l *lease) has(at time.Duration) bool { return max(l.until, l.ends) > at && l.freed == 0 }

// leastMajority returns the majority of the list or of the one before, if that is less.
func (s *storm) leastMajority() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	least := len(s.file)
	if s.before != nil {
		least = min(least, len(s.before))
	}
	return vote.Majority(least)
}

// requiredHad reports whether a server that is or was the required master had a token since the
// operation was sent: a redlockd may use any of them while the name moves.
func (t *try) requiredHad(token string) bool {
	t.Lock()
	defer t.Unlock()
	return t.shape.required && slices.ContainsFunc(t.servers, func(f *fakeredis.Server) bool {
		return strings.TrimRight(f.Name, "'") == "a" && had(f, t.lock, token, t.sent)
	})
}

// lagging reports whether a master was made a replica of a server that lacks something, so
// shortly before that the redlockd may not have seen it (docs/safety.md).
func (s *storm) lagging() bool {
	s.Lock()
	defer s.Unlock()
	return slices.ContainsFunc(s.servers, func(f *fakeredis.Server) bool { return f.Lagged > 0 && f.Lagged >= s.Now()-5*time.Second })
}
