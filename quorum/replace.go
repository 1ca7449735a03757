package quorum

import (
	"errors"
	"slices"

	"github.com/redlockd/redlockd/quorum/mark"
)

// ChangeMasters makes another list of masters the one in force, while locks
// are held (M8). It returns at once: what is to be told is logged, and Status
// has how far it is. A master whose name stays, but whose address or
// credentials do not, is dialled anew. The error says why the change cannot be
// made at all; nothing has changed then. Safe for concurrent use; the latest
// list asked for is the one that is gone for.
func (q *Quorum) ChangeMasters(masters []Master) error {
	cfg := q.cfg
	cfg.Masters = masters
	if err := cfg.Validate(); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if from, to := listName(q.masters), listName(masters); from != to {
		if !mark.OneStep(from, to) {
			return errors.New("more than one master is added, removed or replaced: change one at a time, " +
				"or restart this redlockd if the others have this list already")
		}
		// A master that stays moves at once: the majority that the change needs may be
		// at its new address.
		q.masters = moved(q.masters, masters)
		q.redial(q.masters)
		q.change.ask(masters)
		return nil
	}
	q.change.takeBack(masters)
	q.redial(masters)
	q.masters = masters
	return nil
}

// moved is a list with the addresses and credentials that another one has.
func moved(list, to []Master) []Master {
	list = slices.Clone(list)
	for i := range list {
		at := slices.IndexFunc(to, func(m Master) bool { return m.Name == list[i].Name })
		if at >= 0 {
			required := list[i].Required
			list[i] = to[at]
			list[i].Required = required
		}
	}
	return list
}

// ask sets the list to change to.
func (c *change) ask(masters []Master) {
	c.mu.Lock()
	c.wanted, c.said = masters, ""
	c.mu.Unlock()
	c.q.events.changed()
}

// takeBack asks for the list in force: nothing is to be done, unless another
// one is being announced, from which it is to be changed back.
func (c *change) takeBack(masters []Master) {
	c.mu.Lock()
	if !c.announcing {
		masters = nil
	}
	c.wanted, c.said = masters, ""
	c.mu.Unlock()
	c.q.events.changed()
}

// redial takes over what has changed of the masters that stay. Needs mu.
func (q *Quorum) redial(masters []Master) {
	for i := range q.databases {
		d := q.databases[i].Load()
		if d == nil {
			continue
		}
		for _, l := range d.list().links {
			at := slices.IndexFunc(masters, func(m Master) bool { return m.Name == l.name })
			if at >= 0 {
				l.reconfigure(masters[at])
			}
		}
	}
}

// replace makes masters the list in force in all databases, in a state that
// counts for it.
func (q *Quorum) replace(masters []Master, g mark.Generation) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ctx.Err() != nil {
		return
	}
	var leaving []*link
	zero := q.databases[0].Load()
	for i := range q.databases {
		if d := q.databases[i].Load(); d != nil {
			leaving = append(leaving, d.replace(q, masters, zero, g)...)
		}
	}
	q.redial(masters)
	q.masters = masters
	q.change.replaced(masters, g, leaving)
}

// replace makes a list of masters the one in force, in a state that counts for
// it, and returns the links that are not on it.
func (d *database) replace(q *Quorum, masters []Master, zero *database, g mark.Generation) (leaving []*link) {
	before := d.list()
	list := &masterList{Needs: needsOf(masters), name: listName(masters)}
	var joining []*link
	for i := range masters {
		at := slices.IndexFunc(before.links, func(l *link) bool { return l.name == masters[i].Name })
		if at >= 0 {
			list.links = append(list.links, before.links[at])
			continue
		}
		l := newLink(q.ctx, &q.cfg, masters[i], d, q.now, q.log, q.events)
		if d != zero {
			l.zero = zero.list().link(l.name)
			l.traffic = l.zero.traffic
		}
		list.links, joining = append(list.links, l), append(joining, l)
	}
	for _, l := range before.links {
		if !slices.Contains(list.links, l) {
			leaving = append(leaving, l)
		}
	}
	list.Saw(g)
	d.masters.Store(list)
	d.raised.Store(0)
	for _, l := range joining {
		q.monitors.Go((&monitor{link: l}).run)
	}
	return leaving
}

// replaced notes that the list asked for is in force.
func (c *change) replaced(masters []Master, g mark.Generation, leaving []*link) {
	c.mu.Lock()
	if listName(c.wanted) == listName(masters) {
		c.wanted = nil
	}
	c.leaving = append(c.leaving, leaving...)
	c.mu.Unlock()
	c.reach(g)
}

// retire ends the links to masters that are on no list any more.
func (c *change) retire() {
	c.mu.Lock()
	leaving := c.leaving
	c.leaving = nil
	c.mu.Unlock()
	for _, l := range leaving {
		l.end()
	}
}
