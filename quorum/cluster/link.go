package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/latency"
	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/vote"
)

// Link is one database of one master: what is sent there, over one connection at a time,
// and what is known about it. Only its monitor (monitor.go) opens and closes it. Its
// exported methods are safe for concurrent use.
type Link struct {
	cfg *Config
	// Name is the master's name, hash the name's hash in lists and seats.
	Name string
	hash string
	// Embedded is whether the master lives in this process.
	Embedded bool
	db       *Database
	// zero is the link to the same master's database 0, whose mark and clock tell of all
	// databases (follow.go); nil if this is database 0.
	zero   *Link
	now    clock.Clock
	log    hclog.Logger
	events *events
	// poke wakes the monitor before its second is over.
	poke chan struct{}

	// ctx is over when the link is to end; cancel ends it.
	ctx    context.Context
	cancel context.CancelFunc

	// mu guards all fields below, but not what clock and traffic point to, which is safe
	// for concurrent use. ready is signalled when the sender may have work.
	mu    sync.Mutex
	ready *sync.Cond
	// master is the configuration that the next connection uses.
	master Master
	// greeting is the connection that is being set up, conn the one in use.
	greeting *connection
	conn     *connection
	// open is whether operations may be sent over conn.
	open bool
	// view is what the marks say of the master, clock what is known of its clock, outbox
	// the tasks that wait for it.
	view       mark.View
	clock      *clock.Watch
	outbox     outbox.Outbox
	unanswered unanswered
	// others are the links to the master's other databases; only in database 0.
	others []*Link
	// fenceless is whether the master refuses the fence (M3).
	fenceless bool
	fault     fault

	// traffic is shared by all databases of the master; database 0 has it.
	traffic *traffic

	status MasterStatus
	// told is the wait that the log tells.
	told toldWait
}

// unanswered is what the master was asked and has not answered yet.
type unanswered struct {
	// busy is whether a batch is under way, since when.
	busy  bool
	since time.Duration
	// asking is whether a look is under way, since when.
	asking bool
	asked  time.Duration
}

// late reports whether an operation, or a look, went out at limit or before and is
// unanswered.
func (u *unanswered) late(limit time.Duration) bool {
	return u.busy && u.since <= limit || u.asking && u.asked <= limit
}

// fault is the code of the last error that the master answered to an operation, and when
// it came, by our clock.
type fault struct {
	code string
	at   time.Duration
}

// notReached is the reason of a master that is down until it is reached, or cannot be.
const notReached = "not reached yet"

func newLink(ctx context.Context, cfg *Config, m Master, db *Database, now clock.Clock, log hclog.Logger, ev *events) *Link {
	l := &Link{cfg: cfg, Name: m.Name, hash: mark.NameHash(m.Name), Embedded: m.Embedded, master: m, db: db, now: now, events: ev,
		log:     log.With("master", m.Name, "db", db.number),
		poke:    make(chan struct{}, 1),
		traffic: &traffic{},
		status:  MasterStatus{Name: m.Name, Address: m.Address, State: mark.Down, Reason: notReached}}
	l.clock = clock.NewWatch(now, cfg.ClockDrift, l.exact, m.Embedded)
	l.ctx, l.cancel = context.WithCancel(ctx)
	l.ready = sync.NewCond(&l.mu)
	l.outbox = outbox.NewOutbox(now, cfg.Timeout, func() {
		// The time to wait for a larger batch is over.
		l.mu.Lock()
		defer l.mu.Unlock()
		l.outbox.Pace.Stop()
		l.ready.Signal()
	})
	return l
}

// traffic counts how a master's votes went, and how long its batches took.
type traffic struct {
	votes   VoteCounts
	batches latency.Recorder
}

// VoteCounts returns the counts of the master's votes in all databases.
func (l *Link) VoteCounts() *VoteCounts { return &l.traffic.votes }

// frozen reports whether the oldest unanswered operation, or look, is as old as timeout
// at now (M1). The caller must hold mu.
func (l *Link) frozen(now time.Duration) bool {
	limit := now - l.cfg.Timeout
	late := l.unanswered.late(limit)
	return late && !l.db.stalls.StoodStill(now)
}

// end closes the connections and ends the monitor.
func (l *Link) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cancel()
	l.hangUp()
}

func (l *Link) wakeMonitor() {
	select {
	case l.poke <- struct{}{}:
	default:
	}
}

// enter makes a judgement the link's state, if c (or nil) still is its connection, and
// logs it if it changed.
func (l *Link) enter(c *connection, j mark.Judgement) {
	l.mu.Lock()
	if l.conn != c {
		l.mu.Unlock()
		return
	}
	l.open = j.Open && c != nil
	l.outbox.RequestKept(l.open)
	now := l.now()
	n := newsOf(l.status.State, l.status.Reason, j, l.told.corrected(j.Left, now))
	if n == newsWaits {
		l.told = toldWait{left: j.Left, at: now}
	}
	was, address := l.status.State, l.status.Address
	l.status.State, l.status.Reason, l.status.Wait = j.State, j.Reason, max(0, j.Left).Truncate(time.Millisecond)
	ended := l.ctx.Err() != nil // our own stop, or the end of the link, is not the loss of a master
	others := l.others
	l.ready.Broadcast()
	l.mu.Unlock()
	for _, other := range others {
		other.wakeMonitor() // it follows
	}
	if !ended {
		n.tell(l.log, address, j)
		l.events.count(was, j)
	}
	l.events.changed()
}

// drop ends the use of c: tasks that wait get silent votes, and those that must be
// delivered are kept for the next connection.
func (l *Link) drop(c *connection, cause error) {
	l.mu.Lock()
	if l.conn != c {
		l.mu.Unlock()
		return
	}
	lost := l.outbox.Lose()
	l.conn, l.open = nil, false
	now := l.now()
	l.view.Lost()
	l.mu.Unlock()
	l.enter(nil, mark.Judgement{State: mark.Down, Reason: reasonOf(cause)})
	for _, t := range lost {
		t.Answer(vote.Ballot{Vote: vote.Silent}, now)
	}
}

// reconfigure makes the next connection use m, and closes the present one if m's address,
// credentials or use of TLS differ.
func (l *Link) reconfigure(m Master) {
	l.mu.Lock()
	defer l.mu.Unlock()
	same := l.master.SameConnection(m)
	l.master, l.status.Address = m, m.Address
	if !same {
		l.hangUp()
	}
}

// hangUp closes the connections. The caller must hold mu.
func (l *Link) hangUp() {
	for _, c := range []*connection{l.greeting, l.conn} {
		if c != nil {
			c.close()
		}
	}
}

// Describe returns the master's status now; Database.Status sets Required.
func (l *Link) Describe() MasterStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.status
	s.Votes, s.Batches = l.traffic.votes.read(), l.traffic.batches.Read()
	if l.frozen(l.now()) {
		s.State, s.Reason = mark.Frozen, "does not answer"
	}
	return s
}
