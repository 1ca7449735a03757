package faults

import (
	"fmt"
	"strings"
	"time"
)

// turn is a change of a token that a client was told to be made, with what it had seen under
// WATCH before, if it was by EXEC.
type turn struct {
	*call
	became string // the token, or "" if it was freed
	// watched is when what was seen was known; 0 if nothing was watched.
	watched time.Duration
	saw     string
	life    int64 // of the redlockd
}

// watches takes a lock plainly and releases it, or reads it under WATCH, and then changes what it
// has seen by EXEC, whoever has it.
func (c *client) watches(key, token string) {
	r := c.via(watching)
	if c.rng.IntN(2) == 0 {
		e := &call{kind: acquire, key: key, token: token, ttl: min(c.ttl(), c.most(r)), grant: c.b.nextGrant()}
		life := c.b.doors[r].killed.Load()
		if c.do(e, r, "SET", key, token, "NX", "PX", millis(e.ttl)); e.answer == yes {
			c.b.h.turned(&turn{call: e, became: token, life: life})
			c.sleep(rand64(c.rng, e.ttl/2))
			e = c.release(key, token, e.grant, c.via(watching))
			if e.answer == yes {
				c.b.h.turned(&turn{call: e, life: c.b.doors[e.redlockd].killed.Load()})
			}
		}
		c.sleep(c.between(0, 50*time.Millisecond))
		return
	}
	life := c.b.doors[r].killed.Load()
	if _, err := c.ask(r, time.Second, "WATCH", key); err != nil {
		c.sleep(c.between(20*time.Millisecond, 200*time.Millisecond))
		return
	}
	conn := c.conns[r]
	seen := &call{kind: read, key: key}
	c.do(seen, r, "GET", key)
	c.sleep(rand64(c.rng, 100*time.Millisecond))
	if conn == nil || c.conns[r] != conn || seen.answer == unknown {
		c.forget(r) // the watch is gone, or stays for nothing
		return
	}
	c.exec(key, token, r, &turn{watched: seen.got, saw: seen.value, life: life})
}

// forget closes the connection to a redlockd.
func (c *client) forget(r int) {
	if c.conns[r] != nil {
		c.conns[r].Close()
		c.conns[r] = nil
	}
}

// exec changes what was seen: it takes what was free, and frees or overwrites what was not.
func (c *client) exec(key, token string, r int, t *turn) {
	e := &call{kind: acquire, key: key, token: token, ttl: min(c.b.maxTTL, c.most(r)), grant: c.b.nextGrant()}
	command := []string{"SET", key, token, "NX", "PX", millis(e.ttl)}
	switch {
	case t.saw == "":
	case c.rng.IntN(2) == 0:
		e.kind, e.token, e.ttl = release, t.saw, 0
		command = []string{"DEL", key}
	default:
		e.replaces = true
		command = []string{"SET", key, token, "PX", millis(e.ttl)}
	}
	for _, args := range [][]string{{"MULTI"}, command} {
		if _, err := c.ask(r, time.Second, args...); err != nil {
			c.forget(r)
			return
		}
	}
	c.send(e, r, "EXEC")
	c.noteExec(e, r, t)
}

// noteExec puts an EXEC into the history. A null array changes nothing.
func (c *client) noteExec(e *call, r int, t *turn) {
	if e.answer == yes {
		text, err := readReply(c.bufs[r])
		if err != nil || !strings.HasPrefix(e.value, "1") {
			if e.answer = no; err != nil && err != errNull {
				e.answer, e.value = unknown, err.Error()
				c.forget(r)
			}
		} else if text == "0" {
			e.answer = no
		}
	}
	if e.answer == no {
		return
	}
	e.implied = e.replaces
	if e.replaces {
		freed := *e
		freed.kind, freed.token, freed.ttl, freed.replaces, freed.implied = release, t.saw, 0, false, false
		c.b.h.add(&freed)
	}
	c.b.h.add(e)
	if e.answer == yes {
		if t.call = e; e.kind == acquire {
			t.became = e.token
		}
		c.b.h.turned(t)
	}
}

func (h *history) turned(t *turn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.turns[t.key] = append(h.turns[t.key], t)
	if t.watched > 0 {
		h.counts["EXEC that acted"]++
	}
}

// gap counts what redlockd is known to get wrong until copies tell which attempt made them.
func (h *history) gap(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	what, _, _ = strings.Cut(what, "%")
	h.gaps[what]++
}

// checkTurns checks that no EXEC acted though the token had changed since its WATCH: by the same
// redlockd at all, by another one to another token. What was free, taken and freed there is not
// seen (S4).
func (h *history) checkTurns(key string) {
	for _, t := range h.turns[key] {
		if t.watched == 0 {
			continue
		}
		for _, o := range h.turns[key] {
			switch same := o.redlockd == t.redlockd && o.life == t.life; {
			case o.sent <= t.watched || o.got >= t.sent:
			case !same && t.saw == "":
				h.gap("WATCH: a lock that was free was taken and freed through another redlockd, and EXEC acts")
			case !same && t.kind == release && o.became == "" && t.became == "":
				h.gap("WATCH: a lock that was freed through another redlockd is freed again, by a copy that this has not reached (V8)")
			default:
				h.violation("WATCH: %q was seen at %.3f, and EXEC acts:\n  %v\nthough it changed to %q:\n  %v", t.saw, t.watched.Seconds(), t.call, o.became, o.call)
			}
		}
	}
}

// mannerOf is how clients use a key.
func (b *bench) mannerOf(key string) manner {
	var slot, n int
	if _, err := fmt.Sscanf(key, "key-%d-%d", &slot, &n); err != nil {
		return unique
	}
	return b.manner(slot)
}
