package cluster

import (
	"errors"
	"slices"

	"github.com/redlockd/redlockd/quorum/mark"
)

// ChangeMasters puts another list of masters in force, while locks are held (M8). It
// returns at once: a goroutine of the cluster carries the change out, and logs it. A
// master that keeps its name, but not its address or credentials, is dialled again. The
// error says why the change cannot be made at all; then nothing has changed. Only the
// latest list requested is carried out.
func (c *Cluster) ChangeMasters(masters []Master) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.mayChange(masters); err != nil {
		return err
	}
	// A master that stays is dialled at its new address at once: the majority that a change
	// needs may include it.
	c.redial(moved(c.masters, masters))
	c.change.ask(masters)
	return nil
}

// MayChange returns the error that ChangeMasters would return now, and changes nothing.
func (c *Cluster) MayChange(masters []Master) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mayChange(masters)
}

// mayChange is MayChange. The caller must hold mu.
func (c *Cluster) mayChange(masters []Master) error {
	cfg := c.cfg
	cfg.Masters = masters
	if err := cfg.Validate(); err != nil {
		return err
	}
	if from, to := ListName(c.masters), ListName(masters); from != to && !mark.OneStep(from, to) {
		return errors.New("more than one master is added, removed or replaced: change one at a time, " +
			"or restart this redlockd if the others have this list already")
	}
	return nil
}

// moved returns a list with the addresses and credentials of another one.
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

// ask sets the list to change to. If that is the list in force, it withdraws a requested
// change (begin), unless one is being announced: then a change back is requested.
func (c *change) ask(masters []Master) {
	c.mu.Lock()
	c.wanted, c.lastMessage = masters, ""
	c.mu.Unlock()
	c.all.events.changed()
}

// redial makes masters those on the list in force, and applies new addresses and credentials
// of those that stay. The caller must hold mu.
func (c *Cluster) redial(masters []Master) {
	c.masters = masters
	if c.follow != nil {
		c.follow(masters)
	}
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

// replace makes masters the list in force in all databases; g is a recorded state of
// it. Addresses and credentials are the latest ones: another file may have been read since
// the change began.
func (c *Cluster) replace(masters []Master, g mark.Generation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return
	}
	masters = moved(moved(masters, c.masters), c.change.want())
	var leaving []*Link
	for i := range c.databases { // database 0 first: the other databases use its links
		if d := c.Opened(i); d != nil {
			leaving = append(leaving, d.replace(c, masters, g)...)
		}
	}
	c.redial(masters)
	c.change.replaced(masters, g, leaving)
}

// replace makes masters the list in force in this database; g is a recorded state of
// it. It returns the links that are not on the list.
func (d *Database) replace(c *Cluster, masters []Master, g mark.Generation) (leaving []*Link) {
	before := d.List()
	list := d.newList(masters)
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
		c.monitors.Go((&monitor{Link: l}).run)
	}
	return leaving
}

// replaced notes that a requested list is in force.
func (c *change) replaced(masters []Master, g mark.Generation, leaving []*Link) {
	c.mu.Lock()
	if ListName(c.wanted) == ListName(masters) {
		c.wanted = nil
	}
	c.leaving = append(c.leaving, leaving...)
	if !c.state.Less(g) && c.state.Masters != g.Masters {
		// Other instances have begun anew with this list: what was known of our old list
		// is void.
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
