package quorum

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/redlockd/redlockd/quorum/clock"
)

// The monitor's pace, beside that of its looks (package clock).
const (
	minBackoff = 20 * time.Millisecond
	maxBackoff = 500 * time.Millisecond
	// markTries is how often a mark is written anew in one look when others
	// write it too.
	markTries = 8
)

// monitor dials, greets, fences, looks and judges, until ctx is over. It is the
// only goroutine that opens and closes the link.
func (l *link) monitor() {
	ctx := l.ctx
	backoff := minBackoff
	var earlier []*connection
	for ctx.Err() == nil {
		l.mu.Lock()
		c := newConnection(l.master)
		l.greeting = c
		l.mu.Unlock()
		err := c.dial(l.db.number)
		if err == nil {
			began := l.now()
			earlier, err = l.attend(ctx, c, earlier)
			c.close()
			if l.now()-began > clock.LookEvery {
				backoff = minBackoff
			}
		}
		l.drop(c, err)
		if err != nil && ctx.Err() == nil {
			l.enter(nil, judgement{state: Down, reason: reasonOf(err), said: !broken(err)})
		}
		pause(ctx, nil, backoff/2+rand.N(backoff))
		backoff = min(2*backoff, maxBackoff)
	}
}

// pause returns after d, or as soon as it is poked or ctx is over.
func pause(ctx context.Context, poke <-chan struct{}, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-poke:
	case <-ctx.Done():
	}
}

// attend serves one connection until it is over. It returns the connections
// that a later one must fence.
func (l *link) attend(ctx context.Context, c *connection, earlier []*connection) ([]*connection, error) {
	s, err := l.greet(c)
	if err != nil {
		return earlier, err
	}
	earlier = append(l.fence(c, earlier), c)
	l.mu.Lock()
	l.greeting = nil
	l.conn, l.open, l.view.under, l.view.raw, l.busy = c, false, nil, "", false
	l.asking = false
	l.view.connected()
	l.outbox.pace.forget()
	l.mu.Unlock()
	go l.serve(c)
	if !l.embedded && l.db.number == 0 {
		watching, stop := context.WithCancel(ctx)
		defer stop()
		go l.watchAddress(watching, c)
	}
	for told := l.embedded || l.db.number != 0; ; told = true {
		if err := l.reconcile(c, s); err != nil {
			return earlier, err
		}
		if !told {
			if err := l.tellRights(c); err != nil {
				return earlier, err
			}
		}
		// However often it is poked, it does not look all the time.
		pause(ctx, nil, clock.LookPause)
		pause(ctx, l.poke, l.clock.LookAgain()-clock.LookPause)
		if ctx.Err() != nil {
			return earlier, ctx.Err()
		}
		if s, err = l.look(c); err != nil {
			return earlier, err
		}
	}
}

// greet asks what must be known before the first operation (M3).
func (l *link) greet(c *connection) (observation, error) {
	if l.embedded {
		return l.look(c)
	}
	id, err := c.ask(c.client.B().ClientId().Build())[0].AsInt64()
	if err != nil {
		return observation{}, err
	}
	c.id = id
	s, err := l.look(c)
	if err != nil {
		return observation{}, err
	}
	c.runID = s.server.runID
	c.is7 = atLeast(s.server.version, 7, 0)
	return s, nil
}

// fence ends the earlier connections to the same server, so that nothing of
// them is carried out behind this one (M3). It returns those that are not
// known to have ended.
func (l *link) fence(c *connection, earlier []*connection) []*connection {
	if l.embedded {
		return nil
	}
	var alive []*connection
	for _, e := range earlier {
		// That of another server, which answered here for a while, may still
		// matter when that is back.
		if e.runID != c.runID || l.kill(c, e.id) != nil {
			alive = append(alive, e)
		}
	}
	// Nobody has this number: it tells whether we have the right.
	err := l.kill(c, math.MaxInt64)
	if err != nil {
		l.log.Warn("cannot end earlier connections, releases carry a deadline instead", "error", err)
	}
	l.mu.Lock()
	l.fenceless = err != nil
	l.mu.Unlock()
	return alive[max(0, len(alive)-maxEarlier):]
}

// maxEarlier bounds the connections that are kept to be fenced.
const maxEarlier = 16

// kill ends a connection, or finds it ended.
func (l *link) kill(c *connection, id int64) error {
	err := c.ask(c.client.B().ClientKill().Id(id).Build())[0].Error()
	if err != nil && strings.Contains(err.Error(), "No such client") {
		return nil
	}
	return err
}

// look asks for the server, the mark and the clock.
func (l *link) look(c *connection) (observation, error) {
	sent := l.now()
	commands := make([]rueidis.Completed, 0, 3)
	if !l.embedded {
		commands = append(commands, c.client.B().Info().Build(), c.client.B().Get().Key(MarkKey).Build())
	}
	results := l.asks(c, append(commands, c.client.B().Time().Build())...)
	var s observation
	micros, err := readTime(results[len(results)-1])
	if err != nil {
		return s, err
	}
	s.reading, s.sent = micros/1000, sent
	l.mu.Lock()
	l.sawClock(micros, sent, l.now())
	l.mu.Unlock()
	if l.embedded {
		return s, nil
	}
	info, err := results[0].ToString()
	if err != nil {
		return s, err
	}
	s.server = readInfo(info)
	s.raw, err = results[1].ToString()
	if err != nil && !rueidis.IsRedisNil(err) {
		return s, err
	}
	if s.raw != "" {
		s.mark, err = parseMark(s.raw)
		s.foreign = err != nil
	}
	if l.db.number != 0 {
		return l.lookAtZero(c, s)
	}
	return s, nil
}

// lookAtZero asks for the mark of database 0, where a new database is listed.
func (l *link) lookAtZero(c *connection, s observation) (observation, error) {
	r := l.asks(c, c.client.B().Eval().Script(peekScript.text).Numkeys(1).Key(MarkKey).
		Arg(itoa(int64(l.db.number))).Build())[0]
	raw, err := r.ToString()
	if err != nil && !rueidis.IsRedisNil(err) {
		return s, err
	}
	if s.zeroRaw = raw; raw != "" {
		s.zero, _ = parseMark(raw) // what is no mark lists nothing
	}
	return s, nil
}

// asks asks on the monitor's behalf: a master that does not answer it is frozen
// as well.
func (l *link) asks(c *connection, commands ...rueidis.Completed) []rueidis.RedisResult {
	l.setAsking(true, l.now())
	defer l.setAsking(false, 0)
	return c.ask(commands...)
}

func (l *link) setAsking(asking bool, since time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asking, l.asked = asking, since
	l.outbox.due = l.outbox.due || !asking && l.open && len(l.outbox.retries) > 0
	l.ready.Broadcast()
}

func (l *link) wakeMonitor() {
	select {
	case l.poke <- struct{}{}:
	default:
	}
}
