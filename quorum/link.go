package quorum

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/clock"
)

// link is one database of one master: what goes there, over one connection
// at a time, and what is known of it. Its monitor (monitor.go) opens and closes
// it; nothing else does.
type link struct {
	cfg *Config
	// name is the master's, hash what lists and seats call it; embedded is
	// whether it lives in this process.
	name     string
	hash     string
	embedded bool
	db       *database
	// zero is the master's link of database 0, for another one.
	zero   *link
	now    clock.Clock
	log    hclog.Logger
	events *events
	// poke wakes the monitor before its second is over.
	poke chan struct{}

	// ctx is over when the link is to end; cancel ends it.
	ctx    context.Context
	cancel context.CancelFunc

	mu    sync.Mutex
	ready *sync.Cond
	// master is where the next connection goes.
	master Master
	// greeting is the connection that is not in use yet, conn the one that
	// is.
	greeting *connection
	conn     *connection
	// open is whether operations may be sent over conn.
	open bool
	// view is what the marks say of the master, clock what is known of its clock,
	// outbox what waits for it.
	view       view
	clock      *clock.Watch
	outbox     outbox
	unanswered unanswered
	// fenceless is whether the master does not let us fence (M3).
	fenceless bool
	fault     fault

	// own is the master's traffic over all databases; that of database 0's
	// link counts, see traffic.
	own traffic

	status MasterStatus
	reason string
	// ended is whether redlockd is stopping, so that what is lost now is no
	// news.
	ended bool
}

// unanswered is what the master was asked and has not answered yet.
type unanswered struct {
	// busy is whether a batch is under way, since when.
	busy  bool
	since time.Duration
	// asking is whether the monitor looks, since when.
	asking bool
	asked  time.Duration
}

// late reports whether an operation, or a look, is unanswered that is as old as limit.
func (u *unanswered) late(limit time.Duration) bool {
	return u.busy && u.since <= limit || u.asking && u.asked <= limit
}

// fault is the code of the last error that the master answered to an operation, and
// when it came.
type fault struct {
	code string
	at   time.Duration
}

func newLink(ctx context.Context, cfg *Config, m Master, db *database, now clock.Clock, log hclog.Logger, ev *events) *link {
	l := &link{cfg: cfg, name: m.Name, hash: nameHash(m.Name), embedded: m.Embedded, master: m, db: db, now: now, events: ev,
		log:    log.With("master", m.Name, "db", db.number),
		poke:   make(chan struct{}, 1),
		clock:  clock.NewWatch(now, cfg.ClockDrift, cfg.Timeout, m.Embedded),
		status: MasterStatus{Name: m.Name, Address: m.Address, State: Down, Reason: "not reached yet"}}
	l.ctx, l.cancel = context.WithCancel(ctx)
	l.ready = sync.NewCond(&l.mu)
	l.outbox = newOutbox(now, newPace(cfg.Timeout, l.enough))
	return l
}

// traffic is how a master's votes went, and how long its batches took.
type traffic struct {
	votes   voteCounts
	batches histogram
}

func (l *link) traffic() *traffic {
	if l.zero != nil {
		return &l.zero.own
	}
	return &l.own
}

// canVote reports whether it may be asked to create locks now. Needs mu.
func (l *link) canVote() bool { return l.open && l.grants() && !l.frozen() }

// votes reports whether the master may be asked to create locks (M4, M5, M9).
func (l *link) votes() bool {
	if l.embedded || !l.clock.Warm() || !l.view.real() || l.joins(l.view.under) || !l.holdsSeat() {
		return l.embedded
	}
	return l.zero == nil || l.zero.bearsReal(0)
}

// joins reports whether the master, which bears this mark, is one that joins the
// list and does not vote yet (M8).
func (l *link) joins(m *mark) bool { return m.joining(l.name) || l.db.list().joining(l.name) }

// bearsReal reports whether the mark is real and bears a hold. Database 0's bears
// that of all, since a restart loses all of them.
func (l *link) bearsReal(hold time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.view.real() && l.lets(l.view.under, hold) && l.holdsSeat()
}

// frozen reports whether the oldest unanswered operation, or look, is as old as
// timeout.
func (l *link) frozen() bool { return l.frozenAt(l.now()) }

func (l *link) frozenAt(now time.Duration) bool {
	limit := now - l.cfg.Timeout
	late := l.unanswered.late(limit)
	return late && !l.db.stalls.StoodStill(now)
}

// latest is the latest possible reading of the master's clock now (V6), for a
// master that may be asked to hold a lock for hold: one whose mark bears it.
// Needs mu.
func (l *link) latest(hold, now time.Duration) (int64, bool) {
	if l.view.under != nil && !l.lets(l.view.under, hold) {
		if l.view.under.real {
			l.want(hold)
		}
		return 0, false
	}
	if hold > 0 && l.zero != nil && !l.embedded && !l.zero.bearsReal(hold) {
		return 0, false
	}
	if l.view.real() {
		l.view.memory.grant(hold, now)
	}
	return l.clock.Latest(now)
}

// bearsHold reports whether the mark bears a hold; else the monitor is told to write
// it, and waitFor is whether that can be expected at once.
func (l *link) bearsHold(hold time.Duration) (bears, waitFor bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.embedded || l.view.real() && l.lets(l.view.under, hold) {
		return true, false
	}
	if waitFor = l.open && l.votes() && !l.frozen(); waitFor {
		l.want(hold)
	}
	return false, waitFor
}

// want tells the monitor which hold the mark shall bear. Needs mu.
func (l *link) want(hold time.Duration) {
	l.view.memory.wanted = max(l.view.memory.wanted, hold)
	l.wakeMonitor()
}

// end closes the connection, after which the monitor sees that its time is
// over.
func (l *link) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.cancel()
	l.hangUp()
}
