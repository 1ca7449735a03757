package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/vote"
)

// announceTTL is how long the lock is asked for under which a change is
// announced; max_ttl if that is shorter.
const announceTTL = 10 * time.Second

var (
	errNotAnnounced = errors.New("the change could not be written to a majority of the old masters")
	errOtherChange  = errors.New("another change of the masters is under way")
	errTwoSteps     = errors.New("more than one master is added, removed or replaced: change one at a time")
)

// take is the list to change to, if there is one, until taken is called.
func (c *change) take() []Master {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ListName(c.wanted) == c.state.Masters {
		c.wanted = nil // it was taken back before it was announced
	}
	c.announcing = c.wanted != nil
	return c.wanted
}

func (c *change) taken() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.announcing = false
}

// begin starts the change to the wanted list, or joins it where another
// redlockd has.
func (c *change) begin(ctx context.Context) {
	wanted := c.take()
	defer c.taken()
	name := ListName(wanted)
	state := c.known()
	if wanted == nil {
		return
	}
	for _, g := range c.seen() {
		later := state.Less(g) && c.borne(g)
		// All marks were lost, and other redlockd have begun with that list.
		begun := g.Phase == mark.Final && !c.inForce(state) &&
			(c.inForce(g) || g == mark.FirstGeneration(name) && c.displaced(state.Masters, name))
		if g.Masters == name && (later || begun) {
			c.all.replace(wanted, g)
			return
		}
	}
	err := errOtherChange
	switch {
	case state.Phase != mark.Final || c.underWay(state):
	case !mark.OneStep(state.Masters, name):
		// It was asked for while the list in force was another one.
		err = errTwoSteps
	default:
		if err = c.announce(ctx, name); err == nil {
			to, _ := c.target()
			c.all.replace(wanted, to)
			return
		}
		c.all.RaiseMarks(state)
	}
	if c.news(err) {
		c.all.log.Warn("change of the list of masters is waiting", "reason", err)
	}
}

// announce writes a change to a majority of the old list's marks, under a lock
// of redlockd's own over that list: so of two changes that are asked for at
// once one is made (M8).
func (c *change) announce(ctx context.Context, name string) error {
	ttl := min(announceTTL, c.all.cfg.MaxTTL)
	token := mark.NewID()
	taken := c.all.now()
	release, held, err := c.all.lock(ChangeKey, token, ttl)
	switch {
	case held:
		return errOtherChange
	case err != nil:
		return err
	}
	defer release()
	// What the marks bore before the lock was ours is no evidence.
	since := c.all.now()
	c.await(ctx, since+followEvery, func() bool { return c.lookedSince(since) })
	to, err := c.next(name, since)
	if err != nil {
		return err
	}
	// What comes to a master when the lock is over could be beside another change.
	c.write(to, taken+ttl)
	if !c.await(ctx, taken+ttl, func() bool { return c.borne(to) }) {
		return errNotAnnounced
	}
	return nil
}

// await waits for a condition, which any news of the masters may fulfil, and
// returns false when it has not been by end.
func (c *change) await(ctx context.Context, end time.Duration, done func() bool) bool {
	for {
		changed := c.all.events.next()
		left := end - c.all.now()
		switch {
		case left <= 0 || ctx.Err() != nil:
			return false
		case done():
			return true
		}
		pause(ctx, changed, left)
	}
}

// lookedSince has the marks looked at, and is whether all that can be have
// been since.
func (c *change) lookedSince(since time.Duration) bool {
	all := true
	for _, l := range c.links() {
		if open, looked := l.LookedAt(); open && looked <= since {
			all = false
			l.wakeMonitor()
		}
	}
	return all
}

// next is the state that announces a list: with a number that no mark bears
// yet, or that of the same list where some bear it already. A change of
// another redlockd that may be on a majority of the marks goes first.
func (c *change) next(name string, since time.Duration) (mark.Generation, error) {
	state := c.known()
	to := mark.Generation{Number: state.Number + 1, Phase: mark.Announced, Masters: name, Before: state.Masters}
	rivals := map[string]int{}
	unknown := 0
	for _, l := range c.links() {
		g, ok := l.generation()
		open, looked := l.LookedAt()
		switch {
		case !ok || !open || looked <= since:
			// What it bore before tells nothing.
			unknown++
		case state.Less(g) && g.Masters != name:
			rivals[g.Masters]++
			to.Number = max(to.Number, g.Number+1)
		}
	}
	for list, n := range rivals {
		// Fewer are enough for who has started with that list, if it is shorter.
		if n+unknown >= min(vote.Majority(len(mark.Hashes(state.Masters))), vote.Majority(len(mark.Hashes(list)))) {
			return to, fmt.Errorf("%w: it may be announced already", errOtherChange)
		}
	}
	return to, nil
}
