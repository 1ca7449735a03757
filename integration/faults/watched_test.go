package faults

import (
	"strconv"
	"time"
)

// watches takes a lock plainly, or reads one or two under WATCH, and then changes what it has
// seen by EXEC, whoever has it.
func (c *client) watches(key, token string) {
	keys := []string{key, key + "-b"}
	if c.rng.IntN(2) == 0 {
		c.takesPlainly(keys[c.rng.IntN(2)], token)
		c.sleep(c.between(0, 50*time.Millisecond))
		return
	}
	r := c.via(watching)
	keys = keys[:1+c.rng.IntN(2)]
	life, asked := c.b.doors[r].killed.Load(), c.b.h.now()
	if _, err := c.ask(r, time.Second, append([]string{"WATCH"}, keys...)...); err != nil {
		c.sleep(c.between(20*time.Millisecond, 200*time.Millisecond))
		return
	}
	conn, known := c.conns[r], true
	var seen []*turn
	for _, k := range keys {
		g := &call{kind: read, key: k}
		c.do(g, r, "GET", k)
		known = known && g.answer != unknown
		seen = append(seen, &turn{asked: asked, watched: g.got, saw: g.value, life: life})
	}
	c.sleep(rand64(c.rng, 100*time.Millisecond))
	if conn == nil || c.conns[r] != conn || !known {
		c.forget(r) // the watch is gone, or stays for nothing
		return
	}
	c.exec(keys, token, r, seen)
}

// takesPlainly takes the lock, sometimes gives it another token and then its own again, and frees
// it.
func (c *client) takesPlainly(key, token string) {
	r := c.via(watching)
	e := &call{kind: acquire, key: key, token: token, ttl: min(c.ttl(), c.most(r)), grant: c.b.nextGrant()}
	life := c.b.doors[r].killed.Load()
	if c.do(e, r, "SET", key, token, "NX", "PX", millis(e.ttl)); e.answer != yes {
		return
	}
	c.b.h.turned(&turn{call: e, became: token, life: life})
	comesBack, stays := c.rng.IntN(2) == 0, e.ttl/2
	if comesBack {
		stays = 50 * time.Millisecond // before somebody who has seen it changes it
	}
	if c.sleep(rand64(c.rng, stays)); comesBack {
		for _, next := range []string{token + "-b", token} {
			r = c.via(watching)
			life = c.b.doors[r].killed.Load()
			if e = c.swap(e, next, r); e.answer != yes {
				return
			}
			c.b.h.turned(&turn{call: e, became: next, life: life})
		}
	}
	r = c.via(watching)
	life = c.b.doors[r].killed.Load()
	if e = c.release(key, token, e.grant, r); e.answer == yes {
		c.b.h.turned(&turn{call: e, life: life})
	}
}

// forget closes the connection to a redlockd.
func (c *client) forget(r int) {
	if c.conns[r] != nil {
		c.conns[r].Close()
		c.conns[r] = nil
	}
}

// exec changes what was seen, or all but one of it: it takes what was free, and frees or
// overwrites what was not.
func (c *client) exec(keys []string, token string, r int, seen []*turn) {
	spared := c.rng.IntN(2 * len(keys)) // an index of keys, or none
	queue := [][]string{{"MULTI"}}
	for i, t := range seen {
		key := keys[i]
		t.call = &call{kind: acquire, key: key, token: token, ttl: min(c.b.maxTTL, c.most(r)), grant: c.b.nextGrant()}
		switch px := millis(t.ttl); {
		case len(keys) > 1 && i == spared:
			t.spared = true
		case t.saw == "":
			queue = append(queue, []string{"SET", key, token, "NX", "PX", px})
		case c.rng.IntN(2) == 0:
			t.kind, t.token, t.ttl = release, t.saw, 0
			queue = append(queue, []string{"DEL", key})
		default:
			t.replaces = true
			queue = append(queue, []string{"SET", key, token, "PX", px})
		}
	}
	for _, args := range queue {
		if _, err := c.ask(r, time.Second, args...); err != nil {
			c.forget(r)
			return
		}
	}
	e := *seen[0].call
	c.send(&e, r, "EXEC")
	c.noteExec(&e, r, seen)
}

// noteExec puts an EXEC into the history, as one call for each key that it changes. One that is
// null changes nothing, nor does one that finds a lock over that it was to delete.
func (c *client) noteExec(e *call, r int, seen []*turn) {
	if e.answer == no {
		c.b.h.nulled(e, seen)
		return
	}
	if e.answer == yes && !c.readItems(e, r) {
		return
	}
	for i, t := range seen {
		asked := *t.call
		*t.call = *e
		t.kind, t.key, t.token, t.ttl, t.grant, t.replaces = asked.kind, asked.key, asked.token, asked.ttl, asked.grant, asked.replaces
		if i > 0 {
			t.amiss = "" // it is judged once
		}
		if !t.spared {
			// Where nobody can tell, the cause may be at another key.
			c.addExec(t, e.answer == unknown && len(seen) > 1)
		}
		if e.answer == yes {
			c.b.h.turned(t)
		}
	}
}

// readItems reads the replies in the array of an EXEC, and returns false if they say that nothing
// was done.
func (c *client) readItems(e *call, r int) (done bool) {
	items, _ := strconv.Atoi(e.value)
	for range items {
		text, err := readReply(c.bufs[r])
		if err != nil {
			e.answer, e.value = unknown, err.Error()
			c.forget(r)
			return true
		}
		done = done || text != "0"
	}
	return done
}

// addExec puts what an EXEC did to one key into the history. What gives a lock another token is a
// release of the one before at once.
func (c *client) addExec(t *turn, implied bool) {
	t.implied = implied || t.replaces
	if t.replaces {
		freed := *t.call
		freed.kind, freed.token, freed.ttl, freed.replaces, freed.implied = release, t.saw, 0, false, implied
		c.b.h.add(&freed)
	}
	c.b.h.add(t.call)
	if t.kind == acquire {
		t.became = t.token
	}
}
