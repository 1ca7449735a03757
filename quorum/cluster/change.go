package cluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
)

// change follows the state of the list of masters on the marks, and takes it
// from phase to phase (M8). What it decides is written by the monitors, which
// raise every mark that lags (reconcile.go). Any number of redlockd do so side by
// side: marks are only ever raised.
type change struct {
	all *Cluster

	mu sync.Mutex
	// state is the latest one of our list that its marks are known to bear,
	// since when by our clock.
	state mark.Generation
	since time.Duration
	// to is what the marks are to bear: state, or what comes next. Where it is not
	// state, it may be written until then, by our clock; 0 for any time.
	to    mark.Generation
	until time.Duration
	// wanted is the list to change to, or nil.
	wanted []Master
	// announcing is while a change is, which cannot be called off any more.
	announcing bool
	// leaving are the links to a master that is on the list before only.
	leaving []*Link
	// said is what people were told last.
	said string
}

func (c *change) init(all *Cluster, masters []Master) {
	c.all = all
	c.state = mark.FirstGeneration(ListName(masters))
	c.to = c.state
}

// known is the latest state of our list.
func (c *change) known() mark.Generation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// target is what the marks of our list shall bear, and until when that may be written, by
// our clock; 0 for any time.
func (c *change) target() (to mark.Generation, until time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.to == c.state {
		return c.to, 0
	}
	return c.to, c.until
}

func (c *change) want() []Master {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wanted
}

// followEvery is how often the marks are looked through, if nothing happens.
const followEvery = time.Second

// follow takes steps until ctx is over.
func (c *change) follow(ctx context.Context) {
	for ctx.Err() == nil {
		changed := c.all.events.next()
		c.step(ctx)
		// The monitors' looks are events too: not at each of them.
		pause(ctx, nil, clock.LookPause)
		pause(ctx, changed, followEvery)
	}
}

// step looks at the marks and does what is due.
func (c *change) step(ctx context.Context) {
	c.look()
	state, since := c.reached()
	passed := c.all.now() - since
	switch {
	case state.Phase == mark.Announced && passed >= c.all.cfg.Handover:
		c.all.RaiseMarks(mark.Generation{Number: state.Number, Phase: mark.Closed, Masters: state.Masters, Before: state.Before})
	case state.Phase == mark.Closed && passed >= c.all.Database(0).wholeHold(since) && c.joined(state):
		c.all.RaiseMarks(mark.Generation{Number: state.Number, Phase: mark.Final, Masters: state.Masters, Before: state.Before})
	case state.Phase == mark.Final:
		c.retire()
	}
	if c.want() != nil {
		c.begin(ctx)
	}
}

// again has the time begin anew that has passed in a state.
func (c *change) again(state mark.Generation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == state {
		c.since = c.all.now()
	}
}

func (c *change) reached() (mark.Generation, time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state, c.since
}

// write has the marks raised to a state, until a time by our clock, 0 for any time.
func (c *change) write(to mark.Generation, until time.Duration) {
	c.mu.Lock()
	before := c.to
	c.to, c.until = to, until
	c.mu.Unlock()
	if before != to {
		for _, l := range c.links() {
			l.wakeMonitor()
		}
	}
}

// links are those of database 0 that are on the list or leave it.
func (c *change) links() []*Link {
	links := append([]*Link(nil), c.all.Opened(0).List().Links...)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.leaving {
		if l.zero == nil {
			links = append(links, l)
		}
	}
	return links
}

// look takes over the latest state of our list that counts, has one completed that
// too few marks bear, and warns where our list is left behind.
func (c *change) look() {
	list := c.all.Database(0).List().name
	best := c.known()
	rest := best // what is to be completed
	for _, g := range c.seen() {
		switch {
		case g.Masters == list && best.Less(g) && c.borne(g):
			best = g
		case g.Masters == list && rest.Less(g) && (c.interrupted(g, best) || c.unfinished(g)):
			rest = g
		case g.Masters != list && g.Before == list && c.want() == nil && c.borne(g):
			if c.news("behind", g) {
				c.all.log.Warn("this redlockd has the old list of masters, reload it with the new one",
					"generation", g.Number, "phase", g.Phase.String())
			}
		}
	}
	c.reach(best)
	if best.Less(rest) {
		c.all.RaiseMarks(rest)
	}
}

// reach makes a state the latest one.
func (c *change) reach(g mark.Generation) {
	c.mu.Lock()
	if !c.state.Less(g) {
		c.mu.Unlock()
		return
	}
	metAtStart := c.state.Phase == mark.Final && g.Phase == mark.Final // an old change, met at the start
	c.state, c.since = g, c.all.now()
	if c.to.Less(g) {
		c.to = g
	}
	c.mu.Unlock()
	if !metAtStart && c.news("reached", g) {
		c.all.log.Info("list of masters is changing", "generation", g.Number, "phase", g.Phase.String())
	}
}

// news reports whether people were not told this last.
func (c *change) news(what ...any) bool {
	said := fmt.Sprint(what...)
	c.mu.Lock()
	defer c.mu.Unlock()
	again := said == c.said
	c.said = said
	return !again
}
