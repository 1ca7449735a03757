package faults

import "strings"

// extendBy extends by a time: EXPIREAT or PEXPIREAT in a script, or SET with a condition.
func (c *client) extendBy(e *call, by deadline, r int) {
	command := "PEXPIREAT"
	if by.seconds {
		command = "EXPIREAT"
	}
	if c.rng.IntN(2) == 0 {
		c.do(e, r, "SET", e.key, e.token, "IFEQ", e.token, by.option(), by.value())
	} else {
		c.do(e, r, "EVAL", strings.ReplaceAll(extendScript, "PEXPIRE", command), "1", e.key, e.token, by.value())
	}
}

// swap gives the lock of a call another token. It is a release of the one and an acquire of the
// other at once.
func (c *client) swap(e *call, token string, r int) *call {
	x := &call{kind: acquire, key: e.key, token: token, grant: e.grant, replaces: true, implied: true}
	x.ttl = min(c.b.maxTTL, c.most(r))
	if c.rng.IntN(2) == 0 {
		c.send(x, r, "SET", x.key, x.token, "IFEQ", e.token, "PX", millis(x.ttl))
	} else {
		c.send(x, r, "EVAL", swapScript, "1", x.key, e.token, x.token, millis(x.ttl))
	}
	freed := *x
	freed.kind, freed.token, freed.ttl, freed.replaces, freed.implied = release, e.token, 0, false, false
	c.b.h.add(&freed)
	if x.answer != no {
		c.b.h.add(x)
	}
	return x
}

const swapScript = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) return 1 end return 0`
