package quorum

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/mark"
)

// Quorum carries operations out on the masters. All its methods are safe for concurrent
// use.
type Quorum struct {
	cluster *cluster.Cluster
	// cfg, now and agreed are the cluster's.
	cfg    *cluster.Config
	now    clock.Clock
	agreed *mark.Agreement

	counts counts
	// underWay are the calls that were not told their outcome yet.
	underWay  inFlight
	deadlines deadlines
	keyspaces [cluster.Databases]atomic.Pointer[keyspace]
}

// New starts dialling the masters and returns at once: unreachable masters
// are silent until they are reached. The error is that of cfg.Validate. Close ends what
// it has begun.
func New(cfg cluster.Config, log hclog.Logger) (*Quorum, error) {
	return newQuorum(cfg, log, clock.System())
}

func newQuorum(cfg cluster.Config, log hclog.Logger, now clock.Clock) (*Quorum, error) {
	q := &Quorum{now: now}
	q.underWay.init()
	q.deadlines.now = now
	all, err := cluster.New(cfg, log, now, q.lockChange)
	if err != nil {
		return nil, err
	}
	q.cluster, q.cfg, q.agreed = all, all.Config(), all.Agreement()
	return q, nil
}

// Do carries out op and calls done exactly once, with the outcome, from any
// goroutine and possibly before Do returns. done must not block. Operations
// on one key are carried out in the order of the calls (V7); op must not be
// changed afterwards. client is nil where there is none that may go. Do itself never
// blocks.
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

// WaitReady returns nil as soon as locks can be taken: a majority may vote, and
// the required master too if there is one. Else it returns ctx's error.
func (q *Quorum) WaitReady(ctx context.Context) error { return q.cluster.Database(0).Wait(ctx) }

// ChangeMasters makes another list of masters the one in force, while locks
// are held (M8). It returns at once: what is to be told is logged, and Status
// has how far it is. A master whose name stays, but whose address or
// credentials do not, is dialled anew. The error says why the change cannot be
// made at all; nothing has changed then. The latest list asked for is the one that
// is gone for.
func (q *Quorum) ChangeMasters(masters []cluster.Master) error {
	return q.cluster.ChangeMasters(masters)
}

// hold is what the masters are given for a TTL (V3).
func (q *Quorum) hold(ttl time.Duration) time.Duration {
	return q.cfg.Hold(ttl, q.agreed.Greatest().Padding)
}

// remaining is what a client may still rely on of what is left of a hold (V3).
func (q *Quorum) remaining(left time.Duration) time.Duration {
	return q.cfg.Remaining(left, q.agreed.ReadPadding())
}

// Now is the median of the masters' clocks, in milliseconds since 1970, for
// absolute expiries; the local clock while no quorum of them is known.
func (q *Quorum) Now() int64 { return q.cluster.Time() }

// Status is a snapshot of the masters and counters.
func (q *Quorum) Status() Status {
	d := q.cluster.Database(0)
	s := Status{Masters: d.Status(), Quorum: d.List().Quorum, Voting: d.Voting(), Ready: d.Ready(),
		Embedded: q.cfg.Masters[0].Embedded, Counters: q.counts.read(),
		Timings: q.counts.timings.read(), UnderWay: q.underWay.count()}
	s.Counters.Quarantines, s.Counters.LostConnections, s.Counters.MasterErrors = q.cluster.Counts()
	g := q.cluster.Generation()
	s.Generation, s.Phase = g.Number, g.Phase.String()
	for i := range q.keyspaces {
		if k := q.keyspaces[i].Load(); k != nil {
			s.Waiting += k.keys.waiting()
		}
	}
	return s
}

// Close ends the connections, after what is under way has been answered or
// ctx is over. Operations begun later are Undecided.
func (q *Quorum) Close(ctx context.Context) error {
	err := q.underWay.close(ctx)
	if err == nil {
		err = q.cluster.Flush(ctx)
	}
	q.cluster.Close()
	return err
}

// lockChange takes the lock under which the list of masters is changed (M8).
func (q *Quorum) lockChange(key, token string, ttl time.Duration) (release func(), held bool, err error) {
	o := q.wait(&Op{Kind: Acquire, Key: key, Token: token, TTL: ttl})
	if o.Verdict != Won {
		return nil, o.Verdict == Held, o.Err
	}
	release = func() { q.wait(&Op{Kind: Release, Key: key, Token: token}) }
	at := o.Clock()
	if err := o.Confirm(at); err != nil {
		release()
		return nil, false, err
	}
	o.Told(at)
	return release, false, nil
}

// wait carries an operation of redlockd's own out.
func (q *Quorum) wait(op *Op) *Outcome {
	done := make(chan *Outcome, 1)
	q.Do(op, nil, func(o *Outcome) { done <- o })
	return <-done
}
