package faults

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
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
	// opened is when each connection was, since the bench began.
	opened []time.Duration
	// tokens numbers them, so that none is used twice.
	tokens int
}

func newClient(b *bench, id int, old bool) *client {
	n := len(b.doors)
	return &client{b: b, id: id, old: old, rng: rand.New(rand.NewPCG(b.seed, uint64(id))),
		conns: make([]net.Conn, n), bufs: make([]*bufio.Reader, n), opened: make([]time.Duration, n)}
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
	// extends, so nobody can free another's lock.
	unreleased
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
		key, how := c.b.key(slot), c.b.manner(slot)
		c.tokens++
		token := fmt.Sprintf("t%d-%d", c.id, c.tokens)
		if how != unique {
			token = equalToken
		}
		c.lock(key, token, how)
	}
}

// via is the redlockd to use next.
func (c *client) via(how manner) int {
	if c.old {
		return len(c.b.redlockds)
	}
	if how == oneDoor {
		return 0
	}
	return c.rng.IntN(len(c.b.redlockds))
}

func (c *client) ttl() time.Duration {
	return c.between(c.b.minTTL, c.b.maxTTL).Truncate(time.Millisecond)
}

// lock tries once to take a key, again after an unknown answer with the same
// token, and does with it what clients do.
func (c *client) lock(key, token string, how manner) {
	for try := 0; ; try++ {
		e := &call{kind: acquire, key: key, token: token, ttl: c.ttl(), grant: c.b.nextGrant()}
		c.do(e, c.via(how), "SET", key, token, "NX", "PX", strconv.FormatInt(e.ttl.Milliseconds(), 10))
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
	end := e.sent + e.ttl
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
		if how == unreleased {
			continue
		}
		x, script := &call{kind: extend, key: e.key, token: e.token, ttl: c.ttl(), grant: e.grant}, extendScript
		if how == unique && c.rng.IntN(3) == 0 {
			x.kind, script = renew, renewScript
		}
		c.do(x, c.via(how), "EVAL", script, "1", e.key, e.token, strconv.FormatInt(x.ttl.Milliseconds(), 10))
		if x.answer == no {
			return
		}
		if x.answer == yes {
			end = x.sent + x.ttl
		}
	}
	left := end - c.b.h.now()
	if how == unreleased {
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
		if how == unique || c.b.h.now() < end-20*time.Millisecond {
			c.release(e.key, e.token, e.grant, c.via(how))
		}
	}
}

// do makes one call and puts it into the history.
func (c *client) do(e *call, r int, args ...string) *call {
	e.client, e.redlockd, e.old = c.id, r, c.old
	e.undoes = c.b.old > 0 && e.kind == release && e.grant == 0
	// Now and then a client that does not wait, and is gone.
	wait := stay + slack + 3*time.Second
	switch {
	case c.rng.IntN(40) == 0:
		wait = time.Duration(1+c.rng.IntN(300)) * time.Millisecond
	case e.kind == acquire && c.rng.IntN(10) == 0:
		// It leaves while its lock is being taken, and asks elsewhere.
		wait = time.Duration(200+c.rng.IntN(2000)) * time.Microsecond
	}
	server := c.b.doors[r]
	e.sent = c.b.h.now()
	text, err := c.ask(r, wait, args...)
	e.got = c.b.h.now()
	calm := !server.disturbing.Load() && server.disturbed.Load() < int64(e.sent)
	e.frozen = !calm
	var told errReply
	switch {
	case err == nil && text == "0" && e.kind != read:
		e.answer = no
	case err == nil:
		e.answer, e.value = yes, text
	case err == errNull:
		e.answer = no
	case errors.As(err, &told):
		e.answer, e.value = unknown, told.Error()
		if !strings.HasPrefix(e.value, "NOQUORUM ") {
			c.b.h.violation("an error other than NOQUORUM: %v", e)
		}
	default:
		e.answer, e.value = unknown, err.Error()
		if calm && wait > time.Second && server.killed.Load() < int64(c.opened[r]) {
			c.b.h.violation("a broken connection or no answer, though redlockd was well: %v", e)
		}
	}
	if calm && e.got-e.sent > stay+slack {
		c.b.h.violation("an answer after %v, though redlockd was well: %v", e.got-e.sent, e)
	}
	c.b.h.add(e)
	return e
}

func (c *client) between(low, high time.Duration) time.Duration { return low + rand64(c.rng, high-low) }

func rand64(r *rand.Rand, d time.Duration) time.Duration { return time.Duration(r.Int64N(int64(d))) }

func (c *client) sleep(d time.Duration) {
	if d > 0 {
		time.Sleep(d)
	}
}
