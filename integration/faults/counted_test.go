package faults

import (
	"strconv"
	"time"
)

// A lock in a hash: the holder's name, and how often it has it. Who takes it again counts up, who
// gives it back counts down, and both give it a new TTL; the last turn deletes it.
const (
	takeTurnScript = `if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
local n = redis.call('HINCRBY', KEYS[1], ARGV[1], 1) redis.call('PEXPIRE', KEYS[1], ARGV[2]) return n`
	giveTurnScript = `if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
local n = redis.call('HINCRBY', KEYS[1], ARGV[1], -1)
if n == 0 then redis.call('DEL', KEYS[1]) return 'freed' end
redis.call('PEXPIRE', KEYS[1], ARGV[2]) return n`
)

// counter is what a client knows of the count of its own lock: what it was told last, and how many
// turns it may have taken or given since, without an answer.
type counter struct {
	told, taken, given int
	// end is until when the lock is its own for certain, since the last answer.
	end time.Duration
}

// fits reports whether a count may follow in an answer that came at the time got, and takes it over.
func (n *counter) fits(told, step int, got time.Duration) bool {
	want := n.told + step
	ok := told >= want-n.given && told <= want+n.taken
	if step > 0 && told == 1 && got >= n.end-early {
		ok = true // it had ended
	}
	n.told = told
	return ok
}

// counts takes a lock a few times and gives it back as often, by any redlockd.
func (c *client) counts(key, token string) {
	n, grant := &counter{}, c.b.nextGrant()
	for turn := range 2 + c.rng.IntN(6) {
		if c.b.ended() {
			return
		}
		var goesOn bool
		if turn == 0 || n.told > 0 && turn < 4 && c.rng.IntN(2) == 0 {
			goesOn = c.takesTurn(n, key, token, grant)
		} else {
			goesOn = c.givesTurn(n, key, token, grant)
		}
		if !goesOn {
			break
		}
		c.sleep(rand64(c.rng, max(time.Millisecond, (n.end-c.b.h.now())/3)))
	}
	c.sleep(rand64(c.rng, 100*time.Millisecond))
}

// takesTurn reports whether the client may go on with the lock.
func (c *client) takesTurn(n *counter, key, token string, grant int) bool {
	r := c.via(counted)
	e := &call{kind: renew, key: key, token: token, ttl: min(c.ttl(), c.most(r)), grant: grant}
	c.do(e, r, "EVAL", takeTurnScript, "1", key, token, millis(e.ttl))
	switch e.answer {
	case unknown:
		n.taken++
		return true
	case no:
		return false
	}
	c.checks(n, e, +1)
	return true
}

// givesTurn reports whether the client may still have the lock.
func (c *client) givesTurn(n *counter, key, token string, grant int) bool {
	r := c.via(counted)
	e := &call{kind: extend, key: key, token: token, ttl: min(c.ttl(), c.most(r)), grant: grant}
	c.send(e, r, "EVAL", giveTurnScript, "1", key, token, millis(e.ttl))
	switch last := n.told-n.given <= 1; {
	case e.answer == unknown:
		n.given++
		if last { // it may have freed the lock
			freed := *e
			freed.kind, freed.ttl = release, 0
			c.b.h.add(&freed)
			e.implied = true
		}
		c.b.h.add(e)
		return !last
	case e.answer == no || e.value == "freed":
		e.kind, e.ttl = release, 0
	}
	c.b.h.add(e)
	if e.answer == yes {
		c.checks(n, e, -1)
	}
	return e.answer == yes && e.kind == extend
}

// checks compares the count that a client is told with those that it may have.
func (c *client) checks(n *counter, e *call, step int) {
	told, _ := strconv.Atoi(e.value)
	before := *n
	if !n.fits(told, step, e.got) {
		c.b.h.violation("the count is %d, after %+v: %v", told, before, e)
	}
	n.end = e.sent + e.ttl
}
