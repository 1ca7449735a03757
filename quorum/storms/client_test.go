package storms

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

// client takes one of a few locks again and again.
type client struct {
	*storm
	number int
	rng    *rand.Rand
	round  int
}

// caller is a client's connection.
type caller struct{ gone atomic.Bool }

func (c *caller) Gone() bool { return c.gone.Load() }

// hearing is the answer that a client got; known is false if it got none.
type hearing struct {
	verdict quorum.Verdict
	state   quorum.State
	known   bool
	// done is what was carried out, err what the client reads if nothing was decided.
	done quorum.Kind
	err  error
}

func (a hearing) won() bool { return a.known && a.verdict == quorum.Won }

// open reports whether the client cannot know what became of the operation.
func (a hearing) open() bool {
	return !a.known || a.verdict == quorum.Undecided || a.verdict == quorum.Split
}

func (c *client) chance(percent int) bool { return c.rng.IntN(100) < percent }

// node returns a redlockd, if need be the one after the drawn one, since nobody asks one
// that is quiet.
func (c *client) node() *node {
	n := pick(c.rng, c.nodes)
	if c.spared(quiet{n}) {
		return c.nodes[(n.number+1)%len(c.nodes)]
	}
	return n
}

// live uses locks until the storm ends.
func (c *client) live() {
	for ; c.sleep(some(c.rng, 0, 120*time.Millisecond)); c.round++ {
		if c.busy != "" && c.chance(60) {
			c.does(c.busy)
			continue
		}
		switch dice := c.rng.IntN(100); {
		case dice < 25:
			c.read(c.lock())
		case dice < 29 && has("several"):
			c.several()
		case dice < 31 && has("moves"):
			c.moves()
		case dice < 35 && has("crowd"):
			c.crowd()
		case dice < 40 && has("tokenless"):
			c.tokenless()
		case dice < 44 && has("watch"):
			c.does("watch")
		case dice < 48 && has("members"):
			c.does("members")
		case dice < 52 && has("comesback"):
			c.does("comesback")
		case dice < 57 && has("hashes"):
			c.does("hashes")
		default:
			c.session()
		}
	}
}

// does is one round of what is busy in some storms.
func (c *client) does(class string) {
	switch class {
	case "watch":
		c.watches()
	case "members":
		c.joins()
	case "comesback":
		c.comesBack()
	case "hashes":
		c.reenters()
	}
}

// drawBusy returns what most clients do in a storm, or nothing.
func (s *storm) drawBusy() string {
	busy := pick(s.stream("busy"), []string{"", "", "", "watch", "members", "comesback", "hashes"})
	if busy == "" || !has(busy) {
		return ""
	}
	return busy
}

// lock returns an operation on one of the locks, with a new token.
func (c *client) lock() quorum.Op {
	op := quorum.Op{Key: []string{"k", "l"}[c.rng.IntN(2)], Token: fmt.Sprint(c.number, "-", c.round)}
	if c.rng.IntN(4) == 0 && has("databases") {
		op.DB = 3
	}
	return op
}

func (c *client) read(op quorum.Op) hearing {
	op.Kind, op.Token = quorum.Read, ""
	return c.call(c.node(), op, op)
}

// ttl returns a random TTL that a redlockd allows.
func (c *client) ttl(n *node) time.Duration {
	most := n.config().MaxTTL
	if c.chance(80) {
		most = min(most, 4*time.Second)
	}
	return some(c.rng, 150*time.Millisecond, most).Truncate(time.Millisecond)
}

// session takes a lock, keeps it for a while, and usually releases it.
func (c *client) session() {
	op := c.lock()
	if !c.take(&op) {
		return
	}
	for c.chance(70) && c.sleep(time.Duration(c.rng.Int64N(int64(op.TTL)*9/10+1))) {
		if !c.keep(&op) {
			return
		}
	}
	if c.chance(65) {
		c.free(op)
	}
}

// take tries to acquire a lock, if need be with the same token through other redlockd.
func (c *client) take(op *quorum.Op) bool {
	n := c.node()
	op.Kind, op.TTL = quorum.Acquire, c.ttl(n)
	if c.chance(25) && has("orextend") {
		op.Kind = quorum.AcquireOrExtend
	}
	wrapped := c.chance(10) && has("decide")
	var at int64 // the absolute end, by the wall clocks of the redlockd
	for try := 0; ; try++ {
		q, _ := n.running()
		if q != nil && has("pxat") && (at != 0 || try == 0 && c.chance(30)) {
			if at == 0 {
				at = time.Now().UnixMilli() + op.TTL.Milliseconds()
			}
			op.TTL = time.Duration(at-time.Now().UnixMilli()) * time.Millisecond
		}
		if op.TTL = min(op.TTL, n.config().MaxTTL); op.TTL < time.Millisecond {
			return false
		}
		a := hearing{}
		if try == 0 && op.Kind == quorum.Acquire && c.chance(20) && has("setget") {
			a = c.setAndGet(n, *op)
		} else {
			a = c.ask(n, *op, wrapped)
		}
		if a.won() {
			return true
		}
		if try == 3 || !c.chance(60) || !has("again") {
			return false
		}
		if n = c.node(); c.chance(50) && !c.sleep(some(c.rng, 0, 50*time.Millisecond)) {
			return false
		}
	}
}

// ask carries an operation out, directly or as what follows from a read.
func (c *client) ask(n *node, op quorum.Op, wrapped bool) hearing {
	if !wrapped {
		return c.call(n, op, op)
	}
	outer := quorum.Op{Kind: quorum.Decide, DB: op.DB, Key: op.Key, Decide: func(st quorum.State) quorum.Op {
		taken := op.Kind == quorum.Acquire || op.Kind == quorum.AcquireOrExtend
		ours := st.Found && st.Token == op.Token
		if taken && !st.Found && !st.Lapsed || op.Kind != quorum.Acquire && ours {
			return op
		}
		return quorum.Op{Kind: quorum.Read, DB: op.DB, Key: op.Key}
	}}
	return c.call(n, op, outer)
}

// keep uses a lock that the client has, and returns whether the client still has it.
func (c *client) keep(op *quorum.Op) bool {
	n := c.node()
	op.Kind, op.Replace, op.NewToken = quorum.Extend, false, ""
	switch dice := c.rng.IntN(100); {
	case dice < 10:
		c.read(*op)
		return true
	case dice < 25 && has("orextend"):
		op.Kind = quorum.AcquireOrExtend
	case dice < 32:
		again := *op
		again.Kind = quorum.Acquire
		return !c.call(n, again, again).won()
	case dice < 45 && has("replace"):
		op.Replace, op.NewToken = true, op.Token+"'"
	}
	op.TTL = c.ttl(n) // longer or shorter
	at := after(op.TTL)
	a := c.ask(n, *op, op.Kind == quorum.Extend && c.chance(10) && has("decide"))
	if a.open() && !op.Replace && c.chance(60) {
		n = c.node()
		op.TTL = c.ttl(n)
		if left := n.left(at); left > 0 && c.chance(50) && has("pxat") {
			op.TTL = left // one time for both
		}
		a = c.call(n, *op, *op)
	}
	if a.won() && op.Replace {
		op.Token = op.NewToken
	}
	op.Replace, op.NewToken = false, ""
	return a.won() || a.open() && c.chance(70)
}

// free releases a lock.
func (c *client) free(op quorum.Op) {
	op.Kind, op.TTL, op.Replace = quorum.Release, 0, false
	wrapped := c.chance(15) && has("decide")
	if a := c.ask(c.node(), op, wrapped); a.open() && c.chance(50) {
		c.call(c.node(), op, op)
	}
}

// tokenless sends a command without a token to compare.
func (c *client) tokenless() {
	op := c.lock()
	n := c.node()
	op.Kind = []quorum.Kind{quorum.Remove, quorum.Expire, quorum.Store}[c.rng.IntN(3)]
	if op.Kind != quorum.Remove {
		op.TTL = c.ttl(n)
	}
	if op.Kind != quorum.Store {
		op.Token = ""
	}
	at := after(op.TTL)
	if a := c.call(n, op, op); op.Kind != quorum.Expire || !a.open() || !has("pxat") {
		return
	}
	n = c.node() // EXPIREAT, which names the same time once more
	if op.TTL = n.left(at); op.TTL > 0 {
		c.call(n, op, op)
	}
}

// after returns the time, by the clocks of redlockd, at which a TTL is over that begins now.
func after(ttl time.Duration) int64 { return time.Now().UnixMilli() + ttl.Milliseconds() }

// left returns the TTL that a redlockd makes of such a time; 0 if it refuses that.
func (n *node) left(at int64) time.Duration {
	left := time.Duration(at-time.Now().UnixMilli()) * time.Millisecond
	if left < time.Millisecond || left > n.config().MaxTTL {
		return 0
	}
	return left
}

// several takes two locks at once, and releases them.
func (c *client) several() {
	n, lock := c.node(), c.lock()
	ttl := c.ttl(n)
	keys := []string{"k", "l"}
	change := func(frees bool) ([]quorum.Op, quorum.Op) {
		var parts []quorum.Op
		for _, key := range keys {
			p := quorum.Op{Kind: quorum.Acquire, DB: lock.DB, Key: key, Token: lock.Token, TTL: ttl}
			if frees {
				p.Kind, p.TTL = quorum.Release, 0
			}
			parts = append(parts, p)
		}
		return parts, quorum.Op{Kind: quorum.DecideAll, DB: lock.DB, Keys: keys, DecideAll: func(states []quorum.State) []quorum.Change {
			var out []quorum.Change
			for i, st := range states {
				if frees != st.Found || frees && st.Token != lock.Token || st.Lapsed {
					return nil
				}
				out = append(out, quorum.Change{Key: keys[i], Delete: frees, Token: lock.Token, TTL: ttl})
			}
			return out
		}}
	}
	parts, op := change(false)
	if !c.callAll(n, parts, op).won() || !c.sleep(time.Duration(c.rng.Int64N(int64(ttl)))) {
		return
	}
	if c.chance(60) {
		parts, op = change(true)
		c.callAll(c.node(), parts, op)
	}
}

// crowd takes many locks at once through one redlockd, and releases them, so that they
// go out as bundles.
func (c *client) crowd() {
	n := c.node()
	ttl, many := c.ttl(n), 6+c.rng.IntN(12)
	all := func(kind quorum.Kind, n *node, ttl time.Duration) {
		var together sync.WaitGroup
		for i := range many {
			op := quorum.Op{Kind: kind, Key: fmt.Sprint("c", i), Token: fmt.Sprint(c.number, "-", c.round), TTL: ttl}
			one := &client{storm: c.storm, number: c.number, rng: rand.New(rand.NewPCG(c.rng.Uint64(), 0))}
			together.Go(func() { one.call(n, op, op) })
		}
		together.Wait()
	}
	all(quorum.Acquire, n, ttl)
	if c.sleep(time.Duration(c.rng.Int64N(int64(ttl)))) && c.chance(70) {
		all(quorum.Release, c.node(), 0)
	}
}
