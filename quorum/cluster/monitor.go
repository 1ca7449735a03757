package cluster

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/redis/rueidis"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/scripts"
)

// The monitor's pace, besides that of its looks (package clock).
const (
	minBackoff = 20 * time.Millisecond
	maxBackoff = 500 * time.Millisecond
	// markTries is how often a mark is written again in one look while other instances
	// write it too.
	markTries = 8
)

// monitor dials, greets, fences, looks and judges, in a goroutine of its own, the only
// one that opens and closes the link. The link does not know its monitor, but wakes it
// through poke.
type monitor struct {
	*Link
	// judged is what the monitor has last judged; its Mark is the one that was written then.
	judged mark.Observation
	// lacking are the rights that the master does not give redlockd, as logged last.
	lacking string
}

// run works until the link's ctx is over.
func (mon *monitor) run() {
	ctx := mon.ctx
	backoff := minBackoff
	var earlier []*connection
	for ctx.Err() == nil {
		mon.mu.Lock()
		c := newConnection(mon.master)
		mon.greeting = c
		mon.mu.Unlock()
		err := c.dial(mon.db.number)
		if err == nil {
			began := mon.now()
			earlier, err = mon.attend(ctx, c, earlier)
			c.close()
			if mon.now()-began > clock.LookEvery {
				backoff = minBackoff
			}
		}
		mon.drop(c, err)
		if err != nil && ctx.Err() == nil {
			mon.enter(nil, mark.Judgement{State: mark.Down, Reason: reasonOf(err), ByMaster: !broken(err)})
		}
		pause(ctx, nil, backoff/2+rand.N(backoff))
		backoff = min(2*backoff, maxBackoff)
	}
}

// attend serves one connection until it is over. It returns the connections that a later
// one must fence.
func (mon *monitor) attend(ctx context.Context, c *connection, earlier []*connection) ([]*connection, error) {
	s, err := mon.greet(c)
	if err != nil {
		return earlier, err
	}
	earlier = append(mon.fence(c, earlier), c)
	mon.mu.Lock()
	mon.greeting = nil
	mon.conn, mon.open, mon.view.Under, mon.view.Raw, mon.unanswered.busy = c, false, nil, "", false
	mon.unanswered.asking = false
	mon.view.Connected()
	mon.outbox.Pace.Forget()
	mon.mu.Unlock()
	go (&sender{Link: mon.Link, c: c}).serve()
	if !mon.Embedded && mon.db.number == 0 {
		watching, stop := context.WithCancel(ctx)
		defer stop()
		go mon.watchAddress(watching, c)
	}
	if mon.judged.OfAnother(&s) {
		mon.clock.Forget()
	}
	for rightsChecked := mon.Embedded || mon.db.number != 0; ; rightsChecked = true {
		if err := mon.reconcile(c, s); err != nil {
			return earlier, err
		}
		if !rightsChecked {
			if err := mon.warnOfRights(c); err != nil {
				return earlier, err
			}
		}
		// Even if it is poked often, it does not look all the time.
		pause(ctx, nil, clock.LookPause)
		pause(ctx, mon.poke, mon.clock.LookAgain()-clock.LookPause)
		if ctx.Err() != nil {
			return earlier, ctx.Err()
		}
		if s, err = mon.look(c); err != nil {
			return earlier, err
		}
	}
}

// greet asks for what must be known before the first operation (M3).
func (mon *monitor) greet(c *connection) (mark.Observation, error) {
	if mon.Embedded {
		return mon.look(c)
	}
	id, err := c.ask(c.dialect.Client.B().ClientId().Build())[0].AsInt64()
	if err != nil {
		return mark.Observation{}, err
	}
	c.id = id
	s, err := mon.look(c)
	if err != nil {
		return mark.Observation{}, err
	}
	c.runID = s.Server.RunID
	c.dialect.Is7 = mark.AtLeast(s.Server.Version, 7, 0)
	return s, nil
}

// look reads the server's INFO, the mark and the clock.
func (mon *monitor) look(c *connection) (mark.Observation, error) {
	sent := mon.now()
	commands := make([]rueidis.Completed, 0, 3)
	if !mon.Embedded {
		commands = append(commands, c.dialect.Client.B().Info().Build(), c.dialect.AskMark())
	}
	results := mon.asks(c, append(commands, c.dialect.Client.B().Time().Build())...)
	var s mark.Observation
	micros, err := outbox.ReadTime(results[len(results)-1])
	if err != nil {
		return s, err
	}
	s.Reading, s.Sent = micros/1000, sent
	if mon.zero == nil {
		mon.mu.Lock()
		mon.sawClock(micros, sent, mon.now())
		mon.mu.Unlock()
	}
	if mon.Embedded {
		return s, nil
	}
	info, err := results[0].ToString()
	if err != nil {
		return s, err
	}
	s.Server = mark.ReadInfo(info)
	s.Raw, s.Seal, err = c.dialect.ReadMark(results[1])
	if err != nil {
		return s, err
	}
	switch {
	case s.Raw == mon.judged.Raw: // as a second ago, and parsed then
		s.Mark, s.Foreign = mon.judged.Mark, mon.judged.Foreign
	case s.Raw != "":
		s.Mark, err = mark.Parse(s.Raw)
		s.Foreign = err != nil
	}
	return s, nil
}

// asks sends commands for the monitor: a master that does not answer them is frozen too.
func (mon *monitor) asks(c *connection, commands ...rueidis.Completed) []rueidis.RedisResult {
	mon.setAsking(true, mon.now())
	defer mon.setAsking(false, 0)
	return c.ask(commands...)
}

// raise writes the mark that was seen with a change, up to a time by our clock (0 is no limit),
// and looks at the master again.
func (mon *monitor) raise(c *connection, s mark.Observation, until time.Duration, change func(*mark.Mark)) (mark.Observation, error) {
	switch _, err := mon.write(c, s, s.Mark.With(change), until); {
	case broken(err):
		return s, err
	case err != nil:
		mon.log.Debug("a master answered an error", "code", reasonOf(err))
		return s, nil
	}
	return mon.look(c)
}

// eval runs a script for marks on the master.
func (mon *monitor) eval(c *connection, script *scripts.Script, args ...string) rueidis.RedisResult {
	return mon.asks(c, c.dialect.Client.B().Eval().Script(script.Text).Numkeys(1).Key(mark.Key).Arg(args...).Build())[0]
}

// setAsking notes that the master was asked at since, or has answered.
func (mon *monitor) setAsking(asking bool, since time.Duration) {
	mon.mu.Lock()
	defer mon.mu.Unlock()
	mon.unanswered.asking, mon.unanswered.asked = asking, since
	mon.outbox.RequestKept(!asking && mon.open)
	mon.ready.Broadcast()
}

// noteObservation takes over what a look found, whether or not the master may vote. It may
// be a later look than the one by which the cause of a step was sought.
func (mon *monitor) noteObservation(s mark.Observation) {
	if s.Mark == nil || s.Mark.Name != mon.Name || !s.Mark.Counts(mon.db.List().name) {
		return
	}
	warmUp := clock.WarmUpTime(mon.db.agreed.Greatest().Timeout)
	mon.mu.Lock()
	defer mon.mu.Unlock()
	mon.noteMark(s.Mark, s.Sent)
	since := mon.now() - warmUp - clock.LookEvery
	stepped, _ := mon.clock.Stepped()
	mon.view.Doubts(s.Mark, mon.clock.WatchedSince(since), stepped == 0)
	mon.view.DoubtedSince(s.Sent, stepped == 0 && mon.clock.WatchedSince(mon.view.Standing.DoubtedAt))
}
