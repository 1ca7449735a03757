package quorum

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
)

// Quorum asks the masters. All its methods are safe for concurrent use.
type Quorum struct {
	cfg    Config
	log    hclog.Logger
	now    clock.Clock
	events *events

	ctx      context.Context
	stop     context.CancelFunc
	monitors sync.WaitGroup
	stalls   clock.StallDetector
	// underWay are the calls that were not told their outcome yet.
	underWay  inFlight
	deadlines deadlines
	// agreed is what the marks of all masters say together (M9); name is what
	// this redlockd calls itself in them.
	agreed *mark.Agreement
	name   string

	// change is the change of the list of masters, if there is one (M8).
	change change

	mu sync.Mutex
	// masters are those of the list in force.
	masters   []Master
	databases [Databases]atomic.Pointer[database]
}

// New starts dialling the masters and returns at once: unreachable masters
// are silent until they are reached.
func New(cfg Config, log hclog.Logger) (*Quorum, error) {
	return newQuorum(cfg, log, clock.System())
}

func newQuorum(cfg Config, log hclog.Logger, now clock.Clock) (*Quorum, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	q := &Quorum{cfg: cfg, log: log, now: now, events: newEvents(), masters: cfg.Masters, name: mark.NewID()}
	q.agreed = mark.NewAgreement(q.cfg.settings(), now)
	q.change.init(q, cfg.Masters)
	q.ctx, q.stop = context.WithCancel(context.Background())
	q.underWay.init()
	q.deadlines.now = now
	q.monitors.Go(func() { q.stalls.Beat(q.ctx, q.now) })
	q.database(0)
	if !cfg.Masters[0].Embedded {
		q.monitors.Go(func() { q.change.follow(q.ctx) })
	}
	return q, nil
}

// database returns an open database, and opens it if need be.
func (q *Quorum) database(number int) *database {
	if d := q.databases[number].Load(); d != nil {
		return d
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if d := q.databases[number].Load(); d != nil {
		return d
	}
	d := newDatabase(q.ctx, q, number)
	q.databases[number].Store(d)
	// Only now: a monitor looks at all links of database 0.
	for _, l := range d.list().links {
		q.monitors.Go((&monitor{link: l}).run)
	}
	return d
}

// Do carries out op and calls done exactly once, with the outcome, from any
// goroutine and possibly before Do returns. done must not block. Operations
// on one key are carried out in the order of the calls (V7); op must not be
// changed afterwards. Do itself never blocks.
func (q *Quorum) Do(op *Op, client Client, done func(*Outcome)) {
	if !q.underWay.enter() {
		done(&Outcome{Err: errStopping})
		return
	}
	c := &call{q: q, db: q.database(op.DB), op: op, client: client, done: done, arrived: q.now()}
	switch {
	case !c.db.keys.enter(c, false, c.arrived):
		q.underWay.leave()
		done(&Outcome{Err: errCrowdedKey})
	case !c.begun.Load():
		c.await()
	}
}

// openWait is how long a database that is used for the first time is waited
// for, if no majority is ready before.
const openWait = time.Second

// Open makes a database ready for operations, and calls done when a quorum
// of masters has it open or when waiting does not help: for a database in use
// at once (C5). done must not block.
func (q *Quorum) Open(db int, done func()) {
	d := q.database(db)
	if d.ready() || !q.databases[0].Load().ready() {
		done()
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(q.ctx, openWait)
		defer cancel()
		_ = q.wait(ctx, d)
		done()
	}()
}

// wait returns nil as soon as locks can be taken, else ctx's error.
func (q *Quorum) wait(ctx context.Context, d *database) error {
	for {
		changed := q.events.next()
		if d.ready() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// WaitReady returns nil as soon as locks can be taken: a majority may vote, and
// the required master too if there is one. Else it returns ctx's error.
func (q *Quorum) WaitReady(ctx context.Context) error { return q.wait(ctx, q.database(0)) }

// hold is what the masters are given for a TTL.
func (q *Quorum) hold(ttl time.Duration) time.Duration {
	return q.cfg.hold(ttl, q.agreed.Greatest().Padding)
}

// longestHold is how long a lock of before may last at most: what the marks bear,
// and that of max_ttl as long as none was seen.
func (q *Quorum) longestHold() time.Duration {
	return cmp.Or(q.agreed.EverGranted(), roundHold(q.agreed.Greatest().Hold))
}

// remaining is what a client may still rely on of what is left of a hold.
func (q *Quorum) remaining(left time.Duration) time.Duration {
	return q.cfg.remaining(left, q.agreed.ReadPadding())
}

// Now is the median of the masters' clocks, in milliseconds since 1970, for
// absolute expiries; the local clock while no quorum of them is known.
func (q *Quorum) Now() int64 {
	d := q.database(0)
	clocks := d.clocks()
	if len(clocks) < d.list().Quorum {
		return time.Now().UnixMilli()
	}
	return clocks[len(clocks)/2]
}

// Status is a snapshot of the masters and counters.
func (q *Quorum) Status() Status {
	d := q.database(0)
	s := Status{Masters: d.status(), Quorum: d.list().Quorum, Voting: d.voting(), Ready: d.ready(),
		Embedded: q.cfg.Masters[0].Embedded, Counters: q.events.counters(),
		Timings: q.events.timings.read(), UnderWay: q.underWay.count()}
	g := q.change.known()
	s.Generation, s.Phase = g.Number, g.Phase.String()
	for i := range q.databases {
		if d := q.databases[i].Load(); d != nil {
			s.Waiting += d.keys.waiting()
		}
	}
	return s
}

// Close ends the connections, after what is under way has been answered or
// ctx is over. Operations begun later are Undecided.
func (q *Quorum) Close(ctx context.Context) error {
	err := q.underWay.close(ctx)
	if err == nil {
		err = q.flush(ctx)
	}
	q.mu.Lock()
	for i := range q.databases {
		if d := q.databases[i].Load(); d != nil {
			for _, l := range d.list().links {
				l.end()
			}
		}
	}
	q.change.retire()
	q.stop()
	q.mu.Unlock()
	q.monitors.Wait()
	return err
}

// flush waits until the masters have carried out what was handed to them.
func (q *Quorum) flush(ctx context.Context) error {
	for i := range q.databases {
		d := q.databases[i].Load()
		if d == nil {
			continue
		}
		for _, l := range d.list().links {
			select {
			case <-barrier(l):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}
