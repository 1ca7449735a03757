package cluster

import (
	"errors"
	"slices"

	"github.com/redlockd/redlockd/quorum/mark"
)

// ChangeMasters makes another list of masters the one in force, while locks are held
// (M8). It returns at once: the change is carried out, and logged, by a goroutine of the
// cluster. A master whose name stays, but whose address or credentials do not, is
// dialled anew. The error says why the change cannot be made at all; nothing has changed
// then. The latest list asked for is the one that is gone for.
func (c *Cluster) ChangeMasters(masters []Master) error {
	cfg := c.cfg
	cfg.Masters = masters
	if err := cfg.Validate(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if from, to := ListName(c.masters), ListName(masters); from != to {
		if !mark.OneStep(from, to) {
			return errors.New("more than one master is added, removed or replaced: change one at a time, " +
				"or restart this redlockd if the others have this list already")
		}
		// A master that stays moves at once: the majority that the change needs may be
		// at its new address.
		c.masters = moved(c.masters, masters)
		c.redial(c.masters)
		c.change.ask(masters)
		return nil
	}
	c.change.takeBack(masters)
	c.redial(masters)
	c.masters = masters
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
	c.all.events.changed()
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
	c.all.events.changed()
}

// redial takes over what has changed of the masters that stay. Needs mu.
func (c *Cluster) redial(masters []Master) {
	for i := range c.databases {
		d := c.Opened(i)
		if d == nil {
			continue
		}
		for _, l := range d.List().Links {
			at := slices.IndexFunc(masters, func(m Master) bool { return m.Name == l.Name })
			if at >= 0 {
				l.reconfigure(masters[at])
			}
		}
	}
}

// replace makes masters the list in force in all databases, in a state that
// counts for it.
func (c *Cluster) replace(masters []Master, g mark.Generation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return
	}
	var leaving []*Link
	for i := range c.databases { // database 0 first: the others look at its links
		if d := c.Opened(i); d != nil {
			leaving = append(leaving, d.replace(c, masters, g)...)
		}
	}
	c.redial(masters)
	c.masters = masters
	c.change.replaced(masters, g, leaving)
}

// replace makes a list of masters the one in force, in a state that counts for
// it, and returns the links that are not on it.
func (d *Database) replace(c *Cluster, masters []Master, g mark.Generation) (leaving []*Link) {
	before := d.List()
	list := &List{Needs: needsOf(masters), name: ListName(masters)}
	var joining []*Link
	for i := range masters {
		at := slices.IndexFunc(before.Links, func(l *Link) bool { return l.Name == masters[i].Name })
		if at >= 0 {
			list.Links = append(list.Links, before.Links[at])
			continue
		}
		l := d.newLink(c, masters[i])
		list.Links, joining = append(list.Links, l), append(joining, l)
	}
	for _, l := range before.Links {
		if !slices.Contains(list.Links, l) {
			leaving = append(leaving, l)
		}
	}
	list.Saw(g)
	d.masters.Store(list)
	d.raised.Store(0)
	for _, l := range joining {
		c.monitors.Go(func() { c.watch(l) })
	}
	return leaving
}

// replaced notes that the list asked for is in force.
func (c *change) replaced(masters []Master, g mark.Generation, leaving []*Link) {
	c.mu.Lock()
	if ListName(c.wanted) == ListName(masters) {
		c.wanted = nil
	}
	c.leaving = append(c.leaving, leaving...)
	if !c.state.Less(g) && c.state.Masters != g.Masters {
		// Others have begun with it anew: what was known of our list is past.
		c.state, c.to, c.since = g, g, c.all.now()
	}
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
