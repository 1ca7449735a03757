package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
)

// announceTTL is the TTL of the lock under which a change is announced, or max_ttl if
// that is shorter.
const announceTTL = 10 * time.Second

var (
	errNotAnnounced = errors.New("the change could not be written to a majority of the old masters")
	errOtherChange  = errors.New("another change of the masters is under way")
	errTwoSteps     = errors.New("more than one master is added, removed or replaced: change one at a time")
)

// begin announces the change to the wanted list, if there is one, or takes it over where another
// instance has announced it.
func (c *change) begin(ctx context.Context) {
	c.mu.Lock()
	if ListName(c.wanted) == c.state.Masters {
		c.wanted = nil // it is in force: the request was withdrawn before it was announced
	}
	wanted, state := c.wanted, c.state
	c.mu.Unlock()
	if wanted == nil {
		return
	}
	name := ListName(wanted)
	for _, g := range c.recordedStates() {
		later := state.Less(g) && c.recorded(g)
		if g.Masters == name && (later || c.overtaken(state, g)) {
			c.all.replace(wanted, g)
			return
		}
	}
	err := errOtherChange
	switch {
	case state.Phase != mark.Final || c.underWay(state):
	case !mark.OneStep(state.Masters, name):
		// The change was requested while another list was in force.
		err = errTwoSteps
	default:
		if err = c.announce(ctx, name); err == nil {
			to, _ := c.target()
			c.all.replace(wanted, to)
			return
		}
		c.all.RaiseMarks(state)
	}
	about := err
	if _, ok := errors.AsType[*notLocked](err); ok {
		about = errors.New("no lock") // its text changes with every attempt
	}
	if c.isNewMessage("waiting", about) {
		c.all.log.Warn("change of the list of masters is waiting", "reason", err)
	}
}

// notLocked is the error of an attempt to get the lock ChangeKey.
type notLocked struct{ error }

// announce writes a change to a majority of the old list's marks. Meanwhile it has the
// lock ChangeKey on the old list, so that of two changes requested at the same time only
// one is made (M8).
func (c *change) announce(ctx context.Context, name string) error {
	ttl := min(announceTTL, c.all.cfg.MaxTTL)
	token := mark.NewID()
	taken := c.all.now()
	release, held, err := c.all.lock(ChangeKey, token, ttl)
	switch {
	case held:
		return errOtherChange
	case err != nil:
		return &notLocked{err}
	}
	defer release()
	// Only what the marks record while this redlockd has the lock counts.
	since := c.all.now()
	looks, cancel := context.WithTimeout(ctx, followEvery)
	defer cancel()
	_ = c.all.events.until(looks, func() bool { return c.lookedSince(since) })
	to, err := c.next(name, since)
	if err != nil {
		return err
	}
	// A write that reaches a master after the lock is over could contradict another
	// instance's change.
	c.write(to, taken+ttl)
	writes, cancel := context.WithTimeout(ctx, taken+ttl-c.all.now())
	defer cancel()
	if c.all.events.until(writes, func() bool { return c.recorded(to) }) != nil {
		return errNotAnnounced
	}
	return nil
}

// lookedSince reports whether all masters that can be looked at have been looked at after
// since, and wakes the monitors of those that have not.
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

// next returns the state that announces a list, with a number above those of all changes
// to other lists that the marks record. It returns an error where a change of another
// instance may be on a majority of the marks: that one goes first.
func (c *change) next(name string, since time.Duration) (mark.Generation, error) {
	state := c.known()
	to := mark.Generation{Number: state.Number + 1, Phase: mark.Announced, Masters: name, Before: state.Masters}
	rivals := map[string]int{}
	unknown := 0
	for _, l := range c.links() {
		r := l.recorded()
		open, looked := l.LookedAt()
		switch {
		case !r.known || !open || looked <= since || !r.speaks:
			// What it recorded earlier may have changed since.
			unknown++
		case state.Less(r.Generation) && r.Masters != name:
			rivals[r.Masters]++
			to.Number = max(to.Number, r.Number+1)
		}
	}
	for list, n := range rivals {
		// If the rival list is shorter, a redlockd that was started with it needs fewer
		// marks.
		if n+unknown >= min(majority(state.Masters), majority(list)) {
			return to, fmt.Errorf("%w: it may be announced already", errOtherChange)
		}
	}
	return to, nil
}
