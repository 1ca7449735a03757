package cluster

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
)

// ChangeKey is the key of the lock under which a change of the list of masters is
// announced (M8). Like [mark.Key] it is hidden from clients.
const ChangeKey = "redlockd:change"

// Reserved reports whether a key is redlockd's own.
func Reserved(key string) bool { return key == mark.Key || key == ChangeKey }

// Cluster is the masters, with the list of masters in force. All its methods are safe for
// concurrent use.
type Cluster struct {
	cfg    Config
	log    hclog.Logger
	now    clock.Clock
	events *events
	lock   Locker

	ctx      context.Context
	stop     context.CancelFunc
	monitors sync.WaitGroup
	stalls   clock.StallDetector
	// agreed is what the marks of all masters say together (M9).
	agreed *mark.Agreement

	// change is the change of the list of masters, if one is under way (M8).
	change change

	mu sync.Mutex
	// masters are the masters on the list in force, follow is told of them.
	masters   []Master
	follow    func([]Master)
	databases [Databases]atomic.Pointer[Database]
}

// Locker takes a lock for redlockd itself, under which it announces a change of the list
// of masters (M8). held reports whether another instance has the lock; otherwise err is
// why it could not be taken. If held is false and err is nil, release must be called
// once. It may block.
type Locker func(key, token string, ttl time.Duration) (release func(), held bool, err error)

// New starts dialling the masters and returns at once; masters that are not reached yet
// are silent. now must be monotonic and count sleep. lock is called, from a goroutine of
// the cluster, when a change of the list of masters is announced. The error is that of
// Config.Validate. Close ends everything that New started.
func New(cfg Config, log hclog.Logger, now clock.Clock, lock Locker) (*Cluster, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	c := &Cluster{cfg: cfg, log: log, now: now, lock: lock, events: newEvents(), masters: cfg.Masters}
	c.agreed = mark.NewAgreement(c.cfg.Settings(), now)
	c.change.init(c, cfg.Masters)
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.monitors.Go(func() { c.stalls.Beat(c.ctx, c.now) })
	c.Database(0)
	if !cfg.Masters[0].Embedded {
		c.monitors.Go(func() { c.change.follow(c.ctx) })
	}
	return c, nil
}

// Database returns a database, 0 to Databases-1, and opens it on first use. It does not
// wait for its connections.
func (c *Cluster) Database(number int) *Database {
	if d := c.Opened(number); d != nil {
		return d
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if d := c.Opened(number); d != nil {
		return d
	}
	d := newDatabase(c, number)
	c.databases[number].Store(d)
	// Start the monitors only after the database is stored: they look at all links of
	// database 0.
	for _, l := range d.List().Links {
		c.monitors.Go((&monitor{Link: l}).run)
	}
	return d
}

// Opened returns a database if it is open, else nil.
func (c *Cluster) Opened(number int) *Database { return c.databases[number].Load() }

// WaitFor waits until locks can be taken in a database, for limit at most, or until
// Close.
func (c *Cluster) WaitFor(d *Database, limit time.Duration) {
	ctx, cancel := context.WithTimeout(c.ctx, limit)
	defer cancel()
	_ = d.Wait(ctx)
}

// Config returns the configuration, which must not be changed. Its Masters are those at
// the start, not those of the list in force.
func (c *Cluster) Config() *Config { return &c.cfg }

// Agreement returns what the marks of all masters say together (M9).
func (c *Cluster) Agreement() *mark.Agreement { return c.agreed }

// Counts returns how often a quarantine began, a connection was lost, and a master
// answered an error, since the start and in all databases.
func (c *Cluster) Counts() (quarantines, lostConnections, masterErrors uint64) {
	return c.events.quarantines.Load(), c.events.lostConnections.Load(), c.events.masterErrors.Load()
}

// Generation returns the latest state of the list of masters in force (M8): a change that only
// some marks record too, until it is final. It may take an operator to complete it.
func (c *Cluster) Generation() mark.Generation {
	state := c.change.known()
	if g := c.Database(0).List().newest.Load(); g != nil && g.Phase != mark.Final && g.Number > state.Number {
		return *g
	}
	return state
}

// Follow has f called with the masters on the list in force, now and whenever the list or a
// master's address changes. f must neither block nor call the cluster.
func (c *Cluster) Follow(f func([]Master)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.follow = f
	f(c.masters)
}

// RunID returns the run_id of the server that operations use under a master's name, or "" if
// there is none.
func (c *Cluster) RunID(master string) string {
	for _, s := range c.Database(0).Status() {
		if s.Name == master && s.State != mark.Down {
			return s.RunID
		}
	}
	return ""
}

// RaiseMarks has the monitors raise all marks to a state of the list of masters (M8).
func (c *Cluster) RaiseMarks(to mark.Generation) { c.change.write(to, 0) }

// LongestHold returns an upper bound for the remaining time of locks granted before now:
// the greatest hold that any mark records, or the hold of the greatest max_ttl while no
// mark records one.
func (c *Cluster) LongestHold() time.Duration {
	if granted := c.agreed.EverGranted(); granted > 0 {
		return granted
	}
	return RoundHold(c.agreed.Greatest().Hold)
}

// errOwed is the error of Flush if a master that cannot be reached has releases or
// rollbacks to come.
var errOwed = errors.New("some masters cannot be reached")

// Flush waits until the masters have carried out all tasks handed to them, or cannot
// carry them out. It returns ctx's error if ctx ends first, and else errOwed if releases,
// changes of token or rollbacks are left that were to be repeated.
func (c *Cluster) Flush(ctx context.Context) error {
	var err error
	for i := range c.databases {
		d := c.Opened(i)
		if d == nil {
			continue
		}
		for _, l := range d.List().Links {
			select {
			case <-barrier(l):
			case <-ctx.Done():
				return ctx.Err()
			}
			if l.owes() {
				err = errOwed
			}
		}
	}
	return err
}

// Close ends the connections, and returns when the monitors have returned.
func (c *Cluster) Close() {
	c.mu.Lock()
	for i := range c.databases {
		if d := c.Opened(i); d != nil {
			for _, l := range d.List().Links {
				l.end()
			}
		}
	}
	c.change.retire()
	c.stop()
	c.mu.Unlock()
	c.monitors.Wait()
}
