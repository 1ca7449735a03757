package quorum

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/pubsub"
)

// Quorum carries operations out on the masters. All its methods are safe for concurrent
// use.
type Quorum struct {
	cluster *cluster.Cluster
	// cfg, now and agreed are the cluster's.
	cfg    *cluster.Config
	now    clock.Clock
	agreed *mark.Agreement

	bus    *pubsub.Bus
	counts counts
	// underWay counts the calls whose outcome was not delivered yet.
	underWay  inFlight
	deadlines deadlines
	keyspaces [cluster.Databases]atomic.Pointer[keyspace]
}

// New starts dialling the masters and returns at once: masters are silent until they
// are reached. The error is that of cfg.Validate. The caller must call Close.
func New(cfg cluster.Config, log hclog.Logger) (*Quorum, error) {
	return NewWithClock(cfg, log, clock.System())
}

// NewWithClock is New with another clock, for tests in virtual time.
func NewWithClock(cfg cluster.Config, log hclog.Logger, now clock.Clock) (*Quorum, error) {
	q := &Quorum{now: now}
	q.underWay.init()
	q.deadlines.init(now)
	all, err := cluster.New(cfg, log, now, q.lockChange)
	if err != nil {
		return nil, err
	}
	q.cluster, q.cfg, q.agreed = all, all.Config(), all.Agreement()
	q.openBus(log)
	return q, nil
}

// Do carries out op and calls done exactly once, with the outcome, from any goroutine
// and possibly before Do returns. done must not block. Operations on one key are
// carried out in the order of the calls (V7); op must not be changed afterwards. client
// may be nil for an operation without a client that can go. Do itself never blocks.
func (q *Quorum) Do(op *Op, client Client, done func(*Outcome)) {
	if !q.underWay.enter() {
		done(&Outcome{Err: errStopping})
		return
	}
	c := &call{q: q, db: q.keyspace(op.DB), op: op, client: client, done: done, arrived: q.now()}
	switch {
	case !c.db.keys.enter(c, false, c.arrived):
		q.underWay.leave()
		done(&Outcome{Err: errCrowdedKey})
	case c.turns.Load() > 0:
		c.await()
	}
}

// openWait bounds how long Open waits for a majority when a database is used for the
// first time.
const openWait = time.Second

// Open makes a database ready for operations. It calls done when a quorum of masters
// has opened the database, or when waiting does not help; at once if it is in use
// already (C5). done must not block.
func (q *Quorum) Open(db int, done func()) {
	d := q.cluster.Database(db)
	if d.Ready() || !q.cluster.Database(0).Ready() {
		done()
		return
	}
	go func() {
		q.cluster.WaitFor(d, openWait)
		done()
	}()
}

// Cluster returns the masters, for tests that look at more of them than Status tells.
func (q *Quorum) Cluster() *cluster.Cluster { return q.cluster }

// Opened reports whether a database is in use.
func (q *Quorum) Opened(db int) bool { return q.cluster.Opened(db) != nil }

// WaitReady returns nil as soon as locks can be taken: a majority may vote, including
// the required master if there is one. If ctx ends first, it returns ctx's error.
func (q *Quorum) WaitReady(ctx context.Context) error { return q.cluster.Database(0).Wait(ctx) }

// ChangeMasters replaces the list of masters while locks are held (M8). It returns at
// once: messages about the change are logged, and Status shows its progress. A master
// that keeps its name but gets another address or other credentials is dialled anew. An
// error means that the change is impossible and nothing was changed. If it is called
// several times, the latest list is the target.
func (q *Quorum) ChangeMasters(masters []cluster.Master) error {
	return q.cluster.ChangeMasters(masters)
}

// MayChangeMasters returns the error that ChangeMasters would return now, and changes nothing.
func (q *Quorum) MayChangeMasters(masters []cluster.Master) error {
	return q.cluster.MayChange(masters)
}

// hold returns how long the masters keep a lock for a TTL (V3).
func (q *Quorum) hold(ttl time.Duration) time.Duration {
	return q.cfg.Hold(ttl, q.agreed.Greatest().Padding())
}

// Ready reports whether locks can be taken now, see [Status].
func (q *Quorum) Ready() bool { return q.cluster.Database(0).Ready() }

// Status returns a snapshot of the masters and counters.
func (q *Quorum) Status() Status {
	d := q.cluster.Database(0)
	s := Status{Masters: d.Status(), Quorum: d.List().Quorum, Voting: d.Voting(), WarmingUp: d.WarmingUp(), Ready: d.Ready(), Silence: d.Silence(),
		Embedded: q.cfg.Masters[0].Embedded, Counters: q.counts.read(),
		Timings: q.counts.timings.read(), UnderWay: q.underWay.count()}
	if !s.Ready && wantsBootstrap(d, s.Masters) {
		s.Hint = bootstrapHint
	}
	s.Counters.Quarantines, s.Counters.LostConnections, s.Counters.MasterErrors = q.cluster.Counts()
	s.Counters.MessagesSent, s.Counters.MessagesDropped, s.Counters.MessagesHeard = q.bus.Counts()
	g := q.cluster.Generation()
	s.Generation, s.Phase = g.Number, g.Phase.String()
	for i := range q.keyspaces {
		if k := q.keyspaces[i].Load(); k != nil {
			s.Waiting += k.keys.waiting()
		}
	}
	return s
}

// Close ends the connections, once the operations under way have been answered or ctx
// is over. Operations that begin later are Undecided. It returns an error if a release or
// a rollback did not reach all masters.
func (q *Quorum) Close(ctx context.Context) error {
	err := q.underWay.close(ctx)
	if err == nil {
		err = q.cluster.Flush(ctx)
	}
	q.bus.Close()
	q.cluster.Close()
	return err
}

// lockChange takes the lock that guards a change of the list of masters (M8).
func (q *Quorum) lockChange(key, token string, ttl time.Duration) (release func(), held bool, err error) {
	o := q.wait(&Op{Kind: Acquire, Key: key, Token: token, TTL: ttl})
	if o.Verdict != Won {
		return nil, o.Verdict == Held, o.Err
	}
	release = func() { q.wait(&Op{Kind: Release, Key: key, Token: token}) }
	at := o.Clock()
	if _, err := o.Confirm(at); err != nil {
		release()
		return nil, false, err
	}
	return release, false, nil
}

// wait carries out an operation of redlockd itself and waits for its outcome.
func (q *Quorum) wait(op *Op) *Outcome {
	done := make(chan *Outcome, 1)
	q.Do(op, nil, func(o *Outcome) { done <- o })
	return <-done
}
