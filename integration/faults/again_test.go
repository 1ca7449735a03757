package faults

import (
	"slices"
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

// deadline is a time at which the lock is to end, by the masters' clocks, in
// whole seconds or in milliseconds; or none, which is a TTL.
type deadline struct {
	at      time.Time
	seconds bool
}

// deadline draws one. It needs masters' clocks that are nearly the same, since
// the time is by their median.
func (c *client) deadline() deadline {
	low, high := c.b.clockRange()
	if c.rng.IntN(2) == 0 || high-low > sameClocks {
		return deadline{}
	}
	d := deadline{at: time.Now().Add(high + c.ttl()), seconds: c.rng.IntN(2) == 0}
	if d.seconds {
		d.at = d.at.Truncate(time.Second).Add(time.Second)
	}
	return d
}

// sameClocks is by how much clocks may differ for a time to mean a TTL.
const sameClocks = 50 * time.Millisecond

// tryBy is acquire with a deadline, if there is one. It returns nil where that
// is over, or more than the redlockd allows.
func (c *client) tryBy(key, token string, by deadline, r int) *call {
	if by.at.IsZero() {
		return c.acquire(key, token, again, r)
	}
	low, high := c.b.clockRange()
	e := &call{kind: acquire, key: key, token: token, grant: c.b.nextGrant(), byTime: true}
	e.ttl, e.most = time.Until(by.at)-high-clockReading, time.Until(by.at)-low+clockReading
	if e.ttl < 50*time.Millisecond || e.most > c.most(r) || high-low > sameClocks {
		return nil
	}
	option, value := "PXAT", by.at.UnixMilli()
	if by.seconds {
		option, value = "EXAT", by.at.Unix()
	}
	c.do(e, r, "SET", key, token, "NX", option, strconv.FormatInt(value, 10))
	if low, high = c.b.clockRange(); high-low > sameClocks {
		// A clock has stepped meanwhile, and the time may mean another TTL.
		e.ttl, e.most = 0, e.most+greatestStep
	}
	return e
}

// clockReading is by how much the median of the masters' clocks may be misread:
// looks are up to two seconds old (V6).
const clockReading = 40 * time.Millisecond

// clockRange is how far the masters' clocks are ahead of this machine's.
func (b *bench) clockRange() (low, high time.Duration) {
	b.h.mu.Lock()
	defer b.h.mu.Unlock()
	return slices.Min(b.ahead), slices.Max(b.ahead)
}
