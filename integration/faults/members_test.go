package faults

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// Several clients hold a lock together, with their names in its string. Who joins reads it and
// sets it anew by a compare-and-set with a TTL, who leaves keeps the TTL, and the last one
// deletes the key.
const (
	joinScript = `local s = redis.call('GET', KEYS[1])
if not s then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 'joined' end
redis.call('SET', KEYS[1], s .. ',' .. ARGV[1], 'PX', ARGV[2]) return 'joined'`
	changeScript = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL') return 1 end return 0`
)

// glimpse is what a client was told of who is in a string, or that it has joined or begins to
// leave.
type glimpse struct {
	client    int
	redlockd  int
	sent, got time.Duration
	who       string // joins or leaves; "" if it only looks
	until     time.Duration
	found     []string
}

// joins joins a string, looks a few times who is in, and leaves.
func (c *client) joins(key, name string) {
	ttl, r := c.b.minMost(), c.via(together)
	sent := c.b.h.now()
	text, err := c.ask(r, patience, "EVAL", joinScript, "1", key, name, millis(ttl))
	if err == nil && text == "joined" {
		c.b.h.glimpsed(key, &glimpse{client: c.id, redlockd: r, sent: sent, got: c.b.h.now(), who: name, until: sent + ttl})
	}
	for range c.rng.IntN(3) {
		c.sleep(rand64(c.rng, ttl/4))
		c.looks(key)
	}
	c.leaves(key, name)
	c.sleep(rand64(c.rng, 50*time.Millisecond))
}

const patience = stay + slack + 3*time.Second

// minMost is the greatest TTL that all redlockd allow.
func (b *bench) minMost() time.Duration {
	most := b.maxTTL
	for _, r := range b.redlockds {
		most = min(most, r.maxTTL)
	}
	return most
}

// looks reads who is in.
func (c *client) looks(key string) (text string, ok bool) {
	r, sent := c.via(together), c.b.h.now()
	text, err := c.ask(r, patience, "GET", key)
	if err != nil && !errors.Is(err, errNull) {
		return "", false
	}
	g := &glimpse{client: c.id, redlockd: r, sent: sent, got: c.b.h.now()}
	if text != "" {
		g.found = strings.Split(text, ",")
	}
	c.b.h.glimpsed(key, g)
	return text, true
}

// leaves reads the string and takes a name out, until it is told that it is out.
func (c *client) leaves(key, name string) {
	for range 6 {
		text, ok := c.looks(key)
		if !ok {
			c.sleep(rand64(c.rng, 100*time.Millisecond))
			continue
		}
		names := strings.Split(text, ",")
		others := slices.DeleteFunc(slices.Clone(names), func(other string) bool { return other == name })
		if len(others) == len(names) {
			return
		}
		r, sent := c.via(together), c.b.h.now()
		c.b.h.glimpsed(key, &glimpse{client: c.id, redlockd: r, sent: sent, got: sent, who: name}) // it begins to leave
		args := []string{"EVAL", changeScript, "1", key, text, strings.Join(others, ",")}
		if len(others) == 0 {
			args = []string{"EVAL", releaseScript, "1", key, text}
		}
		if reply, err := c.ask(r, patience, args...); err == nil && reply == "1" {
			return
		}
	}
}

func (h *history) glimpsed(key string, g *glimpse) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.strings[key] = append(h.strings[key], g)
	what := "members: looked"
	if g.who != "" && g.until > 0 {
		what = "members: joined"
	}
	h.counts[what]++
}

// checkMembers checks that whoever looks is told of all that certainly are in: from the answer to
// joining until its TTL is over, counted from the sending, or until it begins to leave.
func (h *history) checkMembers(key string) {
	ends := map[string]time.Duration{}
	for _, g := range h.strings[key] {
		if g.who != "" && g.until == 0 {
			if end, is := ends[g.who]; !is || g.sent < end {
				ends[g.who] = g.sent
			}
		}
	}
	for _, m := range h.strings[key] {
		if m.until == 0 {
			continue
		}
		end := m.until - early
		if left, is := ends[m.who]; is {
			end = min(end, left)
		}
		for _, g := range h.strings[key] {
			if g.who == "" && g.sent > m.got && g.got < end && !slices.Contains(g.found, m.who) {
				h.violation("MEMBERS: %s of %s is in from %.3f to %.3f, and redlockd %d says from %.3f to %.3f that %q are", m.who, key,
					m.got.Seconds(), end.Seconds(), g.redlockd, g.sent.Seconds(), g.got.Seconds(), g.found)
			}
		}
	}
}
