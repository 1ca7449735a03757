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
		return c.acquire(key, token, again, 1, r)
	}
	e := &call{kind: acquire, key: key, token: token, grant: c.b.nextGrant()}
	if !c.lastsUntil(e, by, r) {
		return nil
	}
	return c.do(e, r, "SET", key, token, "NX", by.option(), by.value())
}

// lastsUntil makes the TTL of a call one that a time tells, and reports whether that may be
// asked of a redlockd.
func (c *client) lastsUntil(e *call, by deadline, r int) bool {
	ttl := time.Until(by.at)
	if ttl < 50*time.Millisecond || ttl > c.most(r) {
		return false
	}
	e.ttl, e.byTime = ttl, true
	return true
}

// option is that of SET, value the time as Redis reads it.
func (d deadline) option() string {
	if d.seconds {
		return "EXAT"
	}
	return "PXAT"
}

func (d deadline) value() string {
	if d.seconds {
		return strconv.FormatInt(d.at.Unix(), 10)
	}
	return strconv.FormatInt(d.at.UnixMilli(), 10)
}
