package faults

import (
	"strconv"
	"time"
)

// lockAgain tries with one token, at one redlockd after the other, until it has
// the lock: what was refused and what nobody could tell is asked for again.
func (c *client) lockAgain(key, token string) {
	r, by := c.rng.IntN(len(c.b.redlockds)), c.deadline()
	for range 6 {
		e := c.tryBy(key, token, by, r)
		if c.b.ended() {
			return
		}
		if e != nil && e.answer == yes {
			c.hold(e, again)
			return
		}
		r = (r + 1) % len(c.b.redlockds)
		c.sleep(rand64(c.rng, 40*time.Millisecond))
	}
}

// deadline is a time at which the lock is to end, by the clock of the redlockd
// that is asked, which is this machine's (C3), in whole seconds or in
// milliseconds; or none, which is a TTL.
type deadline struct {
	at      time.Time
	seconds bool
}

// deadline draws one.
func (c *client) deadline() deadline {
	if c.rng.IntN(2) == 0 {
		return deadline{}
	}
	d := deadline{at: time.Now().Add(c.ttl()), seconds: c.rng.IntN(2) == 0}
	d.at = d.at.Truncate(time.Millisecond)
	if d.seconds {
		d.at = d.at.Truncate(time.Second).Add(time.Second)
	}
	return d
}

// tryBy is acquire with a deadline, if there is one. It returns nil where that
// is over, or more than the redlockd allows.
func (c *client) tryBy(key, token string, by deadline, r int) *call {
	if by.at.IsZero() {
		return c.acquire(key, token, again, r)
	}
	e := &call{kind: acquire, key: key, token: token, grant: c.b.nextGrant(), byTime: true}
	if e.ttl = time.Until(by.at); e.ttl < 50*time.Millisecond || e.ttl > c.most(r) {
		return nil
	}
	option, value := "PXAT", by.at.UnixMilli()
	if by.seconds {
		option, value = "EXAT", by.at.Unix()
	}
	c.do(e, r, "SET", key, token, "NX", option, strconv.FormatInt(value, 10))
	return e
}
