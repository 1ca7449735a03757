package faults

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"time"
)

// client is one that locks, over a connection to each redlockd. Used by one
// goroutine.
type client struct {
	b     *bench
	id    int
	old   bool // it asks the old Redis
	rng   *rand.Rand
	conns []net.Conn
	bufs  []*bufio.Reader
	// stamps tell when the answers arrived, or are nil.
	stamps []*stamped
	// opened is when each connection was, since the bench began.
	opened []time.Duration
	// process is the one that the key is for, or anyProcess.
	process int64
	// tokens numbers them, so that none is used twice.
	tokens int
}

func newClient(b *bench, id int, old bool) *client {
	n := len(b.doors)
	return &client{b: b, id: id, old: old, rng: rand.New(rand.NewPCG(b.seed, uint64(id))),
		conns: make([]net.Conn, n), bufs: make([]*bufio.Reader, n), stamps: make([]*stamped, n), opened: make([]time.Duration, n)}
}

// equalToken is what all clients use on some keys.
const equalToken = "same"

// manner is how clients use a key.
type manner int

const (
	// unique tokens, by any redlockd.
	unique manner = iota
	// oneDoor is one token for all, by one redlockd, as P1 asks.
	oneDoor
	// unreleased is one token for all, by any redlockd: nobody releases or
	// extends, so nobody can free another's lock. All have one TTL, so that
	// expiries may be equal, too (V6).
	unreleased
	// again is a token of one's own with which a client tries, at one redlockd
	// after the other, until it has the lock: with one TTL, or with one time at
	// which the lock ends.
	again
	// lasting is a token of one's own for the greatest TTL, which is neither
	// extended nor released, so that it lives through whatever happens.
	lasting
	// watching is a token of one's own that is taken, and changed or released, by EXEC of
	// what was read under WATCH, of one or two keys, whoever has it.
	watching
	// together is one lock for several, with their names in its string.
	together
	// comesBack is one token for all, by any redlockd, which all extend and release.
	comesBack
)

// run locks until the bench ends.
func (c *client) run() {
	defer func() {
		for _, conn := range c.conns {
			if conn != nil {
				conn.Close()
			}
		}
	}()
	for !c.b.ended() && !(c.old && c.b.moved.Load()) {
		slot := c.rng.IntN(c.b.slots)
		how := c.b.manner(slot)
		key, process := c.b.key(slot)
		c.process = process
		token := c.newToken()
		if how == oneDoor || how == unreleased || how == comesBack {
			token = equalToken
		}
		c.lock(key, token, how)
	}
}

// newToken is one that nobody has used.
func (c *client) newToken() string {
	c.tokens++
	return fmt.Sprintf("t%d-%d", c.id, c.tokens)
}

// via is the redlockd to use next.
func (c *client) via(how manner) int {
	if c.old {
		return len(c.b.redlockds)
	}
	if how == oneDoor {
		return oneDoorIs
	}
	return c.rng.IntN(len(c.b.redlockds))
}

func (c *client) ttl() time.Duration {
	return c.between(c.b.minTTL, c.b.maxTTL).Truncate(time.Millisecond)
}

// acquire makes one try at one redlockd.
func (c *client) acquire(key, token string, how manner, try, r int) *call {
	e := &call{kind: acquire, key: key, token: token, ttl: c.ttl(), grant: c.b.nextGrant()}
	switch how {
	case lasting:
		e.ttl = c.b.maxTTL
	case unreleased, again:
		e.ttl = (c.b.minTTL + c.b.maxTTL) / 2
	}
	e.ttl = min(e.ttl, c.most(r))
	if how == unique && try == 0 && !c.old && c.rng.IntN(4) == 0 && has("setget") {
		e.tells = true
		return c.do(e, r, "SET", key, token, "NX", "GET", "PX", millis(e.ttl))
	}
	return c.do(e, r, "SET", key, token, "NX", "PX", millis(e.ttl))
}

// most is the greatest TTL that may be asked of a redlockd.
func (c *client) most(r int) time.Duration {
	if c.old {
		return c.b.maxTTL
	}
	return min(c.b.maxTTL, c.b.redlockds[r].maxTTL)
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// lock tries once to take a key, again after an unknown answer with the same
// token, and does with it what clients do.
func (c *client) lock(key, token string, how manner) {
	switch how {
	case again:
		c.lockAgain(key, token)
		return
	case watching:
		c.watches(key, token)
		return
	case together:
		c.joins(key, token)
		return
	}
	for try := 0; ; try++ {
		e := c.acquire(key, token, how, try, c.via(how))
		switch e.answer {
		case yes:
			c.hold(e, how)
			return
		case no:
			if c.rng.IntN(4) == 0 && !c.old {
				c.do(&call{kind: read, key: key}, c.via(how), "GET", key)
			}
			c.sleep(c.between(20*time.Millisecond, 200*time.Millisecond))
			return
		}
		// With equal tokens a release of what may not be ours could free
		// another's.
		if how == unique && c.rng.IntN(3) == 0 {
			c.release(key, token, 0, c.via(how))
			return
		}
		c.sleep(c.between(5*time.Millisecond, 100*time.Millisecond))
		if how != unique || try == 2 || c.b.ended() {
			return
		}
	}
}

const (
	releaseScript = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`
	extendScript  = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`
	// renewScript acquires or extends.
	renewScript = `if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`
)

func (c *client) release(key, token string, grant, r int) *call {
	return c.do(&call{kind: release, key: key, token: token, grant: grant}, r,
		"EVAL", releaseScript, "1", key, token)
}

// hold extends and reads for a while, and releases or lets the lock end.
func (c *client) hold(e *call, how manner) {
	own, end := *e, e.sent+e.ttl
	e = &own // its token may change
	for range c.rng.IntN(4) {
		if c.rng.IntN(3) == 0 {
			break
		}
		c.sleep(c.between(0, max(time.Millisecond, (end-c.b.h.now())*2/3)))
		// An old Redis shows attempts that may be lost.
		if c.rng.IntN(3) == 0 && !c.old {
			c.do(&call{kind: read, key: e.key}, c.via(how), "GET", e.key)
			continue
		}
		if how == unreleased || how == lasting {
			continue
		}
		r := c.via(how)
		x, script := &call{kind: extend, key: e.key, token: e.token, ttl: min(c.ttl(), c.most(r)), grant: e.grant}, extendScript
		if (how == unique || how == again) && c.rng.IntN(3) == 0 {
			x.kind, script = renew, renewScript
		}
		switch by := c.deadline(); {
		case how == unique && c.rng.IntN(4) == 0 && !c.old:
			x = c.swap(e, c.newToken(), r)
		case (how == unique || how == again) && x.kind == extend && !by.at.IsZero() && !c.old && c.lastsUntil(x, by, r):
			c.extendBy(x, by, r)
		default:
			c.do(x, r, "EVAL", script, "1", e.key, e.token, millis(x.ttl))
		}
		if x.answer == no {
			return
		}
		if x.answer == yes {
			end = x.sent + x.ttl
			e.token = x.token
		}
	}
	left := end - c.b.h.now()
	if how == unreleased || how == lasting {
		c.sleep(left)
		return
	}
	switch c.rng.IntN(4) {
	case 0: // it ends by itself
		c.sleep(left)
	case 1:
		c.sleep(left * 9 / 10)
		fallthrough
	default:
		c.sleep(rand64(c.rng, max(1, left/3)))
		// A release that comes after the end may be of another's, with equal
		// tokens.
		if how != oneDoor && how != comesBack || c.b.h.now() < end-20*time.Millisecond {
			c.release(e.key, e.token, e.grant, c.via(how))
		}
	}
}

func (c *client) between(low, high time.Duration) time.Duration { return low + rand64(c.rng, high-low) }

func rand64(r *rand.Rand, d time.Duration) time.Duration { return time.Duration(r.Int64N(int64(d))) }

func (c *client) sleep(d time.Duration) {
	if d > 0 {
		time.Sleep(d)
	}
}
