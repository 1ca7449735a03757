package storms

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redlockd/redlockd/quorum"
	"github.com/redlockd/redlockd/quorum/fakeredis"
)

// Locks that their holders take several times, as package commands has those in hashes: the string
// is the holder and its count. A turn counts up or down by a compare-and-set, with a new TTL; the
// first one creates the key, the last one deletes it, by what was seen last at that redlockd
// (Op.Expect). Who holds several such locks prolongs them key by key.

var hashKeys = []string{"h", "i", "j"}

// mostTurns is how often a holder takes a lock.
const mostTurns = 5

// counted is what is stored for a holder who has the lock that often.
func counted(holder string, turns int) string { return holder + "/" + strconv.Itoa(turns) }

// holderIn returns whose a string is; that of another lock than one in a hash is its own holder.
func holderIn(token string) string {
	holder, _, _ := strings.Cut(token, "/")
	return holder
}

func turnsIn(token string) int {
	_, turns, _ := strings.Cut(token, "/")
	n, _ := strconv.Atoi(turns)
	return n
}

// asStored returns the strings that may stand for a holder on the masters.
func asStored(lock fakeredis.KeyName, holder string) []string {
	if !slices.Contains(hashKeys, lock.Key) {
		return []string{holder}
	}
	var out []string
	for n := 1; n <= mostTurns+1; n++ { // one more would be a turn that is counted twice
		out = append(out, counted(holder, n))
	}
	return out
}

// had reports whether a server had any string of a holder since a time (Server.Had).
func had(f *fakeredis.Server, lock fakeredis.KeyName, holder string, since time.Duration) bool {
	return slices.ContainsFunc(asStored(lock, holder), func(token string) bool { return f.Had(lock, token, since) })
}

// copiesKept returns how many servers have had one string of a holder all the time since the operation
// was sent.
func (t *try) copiesKept(holder string) (n int) {
	t.Lock()
	defer t.Unlock()
	for _, f := range t.servers {
		if slices.ContainsFunc(asStored(t.lock, holder), func(token string) bool { return f.Kept(t.lock, token, t.sent) }) {
			n++
		}
	}
	return n
}

// lacks is Server.Lacks of a holder.
func lacks(f *fakeredis.Server, lock fakeredis.KeyName, holder string, since time.Duration) bool {
	e, ok := f.Get(lock.DB, lock.Key)
	return !(ok && holderIn(e.Token()) == holder) &&
		slices.ContainsFunc(asStored(lock, holder), func(token string) bool { return f.Lacks(lock, token, since) })
}

// reenters takes a lock, or several, a few times and gives it back as often, by any redlockd. In
// some rounds the holder has a name of its own, in others that of all its rounds.
func (c *client) reenters() {
	lock := c.lock()
	if lock.Token = fmt.Sprint(c.number); c.chance(50) {
		lock.Token += fmt.Sprint("-", c.round)
	}
	var locks []quorum.Op
	for _, key := range hashKeys {
		lock.Key = key
		locks = append(locks, lock)
	}
	if c.chance(60) {
		locks = []quorum.Op{pick(c.rng, locks)}
	}
	for range 2 + c.rng.IntN(8) {
		switch lock, dice := pick(c.rng, locks), c.rng.IntN(100); {
		case dice < 40:
			c.takesTurn(lock)
		case dice < 70:
			c.counts(c.node(), lock, -1)
		case dice < 80:
			c.readsCount(lock)
		case dice < 97:
			c.prolongs(locks)
		default: // forceUnlock
			forced := quorum.Op{Kind: quorum.Remove, DB: lock.DB, Key: lock.Key}
			c.call(c.node(), forced, forced)
		}
		if !c.sleep(some(c.rng, 0, 300*time.Millisecond)) {
			return
		}
	}
	for _, lock := range locks {
		for n := 0; n < mostTurns && c.chance(90) && c.counts(c.node(), lock, -1).won(); n++ {
		}
	}
}

// takesTurn takes a lock, unless its holder may have it very often, and tries again after
// NOQUORUM, as client libraries do.
func (c *client) takesTurn(lock quorum.Op) {
	n := c.node()
	for range 3 {
		if c.judge.mayHave(lock) >= mostTurns || !c.counts(n, lock, +1).open() || !c.chance(60) {
			return
		}
		if c.chance(50) {
			n = c.node()
		}
	}
}

// counts takes a turn (step 1), gives one back (-1), or prolongs the lock (0).
func (c *client) counts(n *node, lock quorum.Op, step int) hearing {
	lock.TTL = c.ttl(n)
	v := c.visits(n)
	v.hash = &hashing{storm: c.storm, lock: lock, step: step}
	v.tries = []*try{c.judge.beginTurn(n, lock, step)}
	op := quorum.Op{Kind: quorum.Decide, DB: lock.DB, Key: lock.Key, Decide: v.hash.decide}
	op.Expect = func() (quorum.State, bool) { return v.hash.expects(n) }
	return v.carriesOut(op)
}

// prolongs gives all locks a new TTL, each by itself.
func (c *client) prolongs(locks []quorum.Op) {
	n := c.node()
	var together sync.WaitGroup
	for _, lock := range locks {
		one := &client{storm: c.storm, number: c.number, rng: rand.New(rand.NewPCG(c.rng.Uint64(), 0))}
		together.Go(func() { one.counts(n, lock, 0) })
	}
	together.Wait()
}

// readsCount reads a lock, and checks the count if it is the client's own.
func (c *client) readsCount(lock quorum.Op) {
	holder := lock.Token
	if a := c.read(lock); !a.open() && a.state.Found && holderIn(a.state.Token) == holder {
		c.judge.countIs(lock, turnsIn(a.state.Token))
	}
}

// hashing is one such operation, as package commands has it.
type hashing struct {
	*storm
	lock quorum.Op
	step int
	// last is what was decided on last, and counts.
	last quorum.Op
	// undone reports whether a turn that nobody was told of is undone before the next operation
	// that the redlockd carries out in this life.
	undone bool
	life   int
}

// choose returns what follows from a state.
func (h *hashing) choose(st quorum.State) quorum.Op {
	holder, turns := holderIn(st.Token), turnsIn(st.Token)+h.step
	switch {
	case !st.Found && h.step > 0:
		return quorum.Op{Kind: quorum.Acquire, Token: counted(h.lock.Token, 1), TTL: h.lock.TTL}
	case !st.Found || holder != h.lock.Token:
		return quorum.Op{Kind: quorum.Read}
	case turns == 0:
		return quorum.Op{Kind: quorum.Release, Token: st.Token}
	}
	return quorum.Op{Kind: quorum.Extend, Token: st.Token, TTL: h.lock.TTL, Replace: h.step != 0, NewToken: counted(holder, turns)}
}

// decide is choose for Op.Decide, also where the lock is over and its copies are not (V15).
func (h *hashing) decide(st quorum.State) quorum.Op {
	op := h.choose(st)
	if st.Lapsed {
		held := h.choose(quorum.State{Found: true, Token: st.Token})
		switch {
		case op.Kind == quorum.Acquire && held.Kind == quorum.Extend:
			op = quorum.Op{Kind: quorum.Extend, Token: st.Token, TTL: h.lock.TTL, Replace: op.Token != st.Token, NewToken: op.Token}
		case op.Kind == quorum.Acquire:
			op = held
		case op.Kind == quorum.Read && held.Kind == quorum.Release:
			op = held
		}
	}
	op.DB, op.Key = h.lock.DB, h.lock.Key
	h.last = op
	return op
}

// sighting is where a string was seen last: at a redlockd in one of its lives.
type sighting struct {
	node *node
	life int
	lock fakeredis.KeyName
}

func (h *hashing) at(n *node, life int) sighting {
	return sighting{n, life, fakeredis.KeyName{DB: h.lock.DB, Key: h.lock.Key}}
}

// expects returns the state that was seen last, if anything is done in it.
func (h *hashing) expects(n *node) (quorum.State, bool) {
	h.mu.Lock()
	token := h.sighted[h.at(n, n.life())]
	h.mu.Unlock()
	st := quorum.State{Found: token != "", Token: token, TTL: time.Millisecond}
	return st, h.choose(st).Kind != quorum.Read
}

// ends notes what the operation has found and left.
func (h *hashing) ends(v *visit, o *quorum.Outcome, life int) {
	if h == nil {
		return
	}
	after := ""
	switch carriedOut := o.Err == nil && (o.Done == quorum.Read || o.Verdict == quorum.Won); {
	case !carriedOut || h.last.Kind == quorum.Release:
	case h.last.Kind == quorum.Read:
		after = o.State.Token
	default:
		after = h.last.TokenAfter()
	}
	h.mu.Lock()
	h.sighted[h.at(v.node, life)] = after
	h.mu.Unlock()
	nobody := o.Err != nil || v.caller.gone.Load()
	h.life, h.undone = life, nobody && o.Did != nil && o.Did.Kind == quorum.Acquire
}

// verdict returns what the client is told.
func (h *hashing) verdict(o *quorum.Outcome) quorum.Verdict {
	found := quorum.State{Found: o.State.Token != "", Token: o.State.Token, TTL: time.Millisecond}
	if h.step <= 0 {
		found.Found = found.Found && !o.State.Lapsed
	}
	switch {
	case o.Err != nil || o.Verdict == quorum.Won && o.Done != quorum.Read:
		return o.Verdict
	case o.Done != quorum.Read && (o.Verdict == quorum.Held && !found.Found || h.choose(found).Kind != quorum.Read):
		return quorum.Undecided // the lock changed meanwhile
	case found.Found:
		return quorum.Held
	}
	return quorum.Absent
}
