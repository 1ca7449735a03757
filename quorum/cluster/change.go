package cluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
)

// change follows the state of the list of masters in the marks, and takes it from phase
// to phase (M8). The monitors write what it decides: they raise every mark that lags
// (reconcile.go). Any number of redlockd may do so side by side, because marks are only
// ever raised.
type change struct {
	all *Cluster

	mu sync.Mutex
	// state is the latest state of our list that enough marks record, since when it was found to, by
	// our clock.
	state mark.Generation
	since time.Duration
	// to is the state that the marks are raised to: state, or the one that follows. The
	// one that follows may be written up to until, by our clock; 0 is no limit.
	to    mark.Generation
	until time.Duration
	// wanted is the list to change to, or nil.
	wanted []Master
	// leaving are the links to the masters that are on the previous list only.
	leaving []*Link
	// lastMessage is the last message logged, so that it is not repeated.
	lastMessage string
}

func (c *change) init(all *Cluster, masters []Master) {
	c.all = all
	c.state = mark.FirstGeneration(ListName(masters))
	c.to = c.state
}

// known returns the latest state of our list.
func (c *change) known() mark.Generation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// target returns the state that the marks are raised to, and up to when it may be written,
// by our clock; 0 is no limit.
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

// followEvery is how often the marks are looked through if no event comes.
const followEvery = time.Second

// follow takes steps until ctx is over.
func (c *change) follow(ctx context.Context) {
	for ctx.Err() == nil {
		changed := c.all.events.next()
		c.step(ctx)
		// Every look of a monitor is an event too: do not take a step at each of them.
		pause(ctx, nil, clock.LookPause)
		pause(ctx, changed, followEvery)
	}
}

// step looks at the marks and takes the change to the next phase when that is due.
func (c *change) step(ctx context.Context) {
	c.look()
	state, since := c.reached()
	passed := c.all.now() - since
	next := state
	next.Phase++
	switch {
	case state.Phase == mark.Announced && passed >= c.all.cfg.Handover:
		c.all.RaiseMarks(next)
	case state.Phase == mark.Closed && c.joined(state) && c.mayEnd(next):
		c.all.RaiseMarks(next)
	case state.Phase == mark.Final && !c.underWay(state): // else who leaves may be needed to complete it
		c.retire()
	}
	c.begin(ctx)
}

func (c *change) reached() (mark.Generation, time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state, c.since
}

// write has the monitors raise the marks to a state, up to a time by our clock; 0 is no
// limit.
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

// links returns the links of database 0 to masters that are on the list or leave it.
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

// look takes over the latest state of our list that enough marks record, completes a state that
// too few marks record, and warns if this redlockd still has the old list.
func (c *change) look() {
	c.forget()
	list := c.all.Database(0).List().name
	best := c.known()
	rest := best // the state to complete
	for _, g := range c.recordedStates() {
		switch {
		case g.Masters == list && best.Less(g) && (c.recorded(g) || g.Phase == mark.Closed && c.unfinished(g)):
			best = g
		case g.Masters == list && rest.Less(g) && (c.interrupted(g, best) || c.unfinished(g)):
			rest = g
		case g.Masters != list && g.Before == list && c.want() == nil && c.recorded(g):
			if c.isNewMessage("behind", g) {
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

// forget drops what is known of changes that no mark records any more: all masters of our
// list were lost and begun anew, and are in view. Whoever starts now knows no more.
func (c *change) forget() {
	g, ok := c.all.Opened(0).List().settledAt()
	if !ok {
		return
	}
	c.all.Opened(0).List().forget(g)
	if !g.Less(c.known()) {
		return
	}
	c.mu.Lock()
	c.state, c.to, c.since = g, g, c.all.now()
	c.mu.Unlock()
	c.all.log.Warn("all masters have lost their marks and were begun anew with this list", "generation", g.Number)
}

// reach makes g the latest state.
func (c *change) reach(g mark.Generation) {
	c.mu.Lock()
	if !c.state.Less(g) {
		c.mu.Unlock()
		return
	}
	metAtStart := c.state.Phase == mark.Final && g.Phase == mark.Final // an old change, seen at the start
	c.state, c.since = g, c.all.now()
	if c.to.Less(g) {
		c.to = g
	}
	c.mu.Unlock()
	if !metAtStart && c.isNewMessage("reached", g) {
		c.all.log.Info("list of masters is changing", "generation", g.Number, "phase", g.Phase.String())
	}
}

// isNewMessage reports whether this differs from the last message, which it replaces.
func (c *change) isNewMessage(what ...any) bool {
	message := fmt.Sprint(what...)
	c.mu.Lock()
	defer c.mu.Unlock()
	again := message == c.lastMessage
	c.lastMessage = message
	return !again
}
