package quorum

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Bounds on what waits for one master (M1). Releases and rollbacks have the
// second half for themselves.
const (
	maxQueued      = 8192
	maxQueuedBytes = 16 << 20
	// maxBatch bounds the tasks of one write.
	maxBatch = 512
	// maxOwed bounds what is kept for the next connection; beyond it the
	// copies end with their hold.
	maxOwed = 65536
)

// lane is one database of one master: what goes there, over one connection
// at a time, and what is known of it. Its keeper (keeper.go) opens and closes
// it; nothing else does.
type lane struct {
	cfg    *Config
	master Master
	index  int
	db     *database
	// zero is the master's lane of database 0, for another one.
	zero   *lane
	now    clock
	log    hclog.Logger
	events *events
	// poke wakes the keeper before its second is over.
	poke chan struct{}

	mu    sync.Mutex
	ready *sync.Cond
	// greeting is the connection that is not in use yet, conn the one that
	// is.
	greeting *connection
	conn     *connection
	// open is whether operations may be sent over conn.
	open bool
	// under is the mark that votes are asked under, raw as it stands there;
	// nil for embedded masters.
	under *mark
	raw   string
	looks looks
	// offsets are what the clock must fit to, redraw whether the next look
	// begins them anew. stepped is when one did not fit, until it is known
	// why; looked is when the last look came in (M5).
	offsets offsets
	redraw  bool
	stepped time.Duration
	looked  time.Duration
	// markSent is when the newest look at the mark went out, pending since
	// when the mark is known to be pending; 0 when it is not (M4).
	markSent time.Duration
	pending  time.Duration

	queue []*task
	bytes int
	// busy is whether a batch is under way, since when.
	busy  bool
	since time.Duration
	// asking is whether the keeper looks, since when.
	asking bool
	asked  time.Duration
	// owed must still be carried out, over this or the next connection; due
	// is whether that is to be tried.
	owed   map[owedKey]*task
	due    bool
	purged time.Duration
	// fenceless is whether the master does not let us fence (M3).
	fenceless bool

	memory memory
	status MasterStatus
	reason string
	// ended is whether redlockd is stopping, so that what is lost now is no
	// news.
	ended bool
}

// owedKey names a rollback by its attempt, and a release by its token.
type owedKey struct {
	key, token string
	expiry     int64
}

func newLane(cfg *Config, index int, db *database, now clock, log hclog.Logger, events *events) *lane {
	m := cfg.Masters[index]
	l := &lane{cfg: cfg, master: m, index: index, db: db, now: now, events: events,
		log:  log.With("master", m.Name, "db", db.number),
		poke: make(chan struct{}, 1), owed: map[owedKey]*task{},
		looks: looks{drift: cfg.ClockDrift}, offsets: offsets{drift: cfg.ClockDrift},
		status: MasterStatus{Name: m.Name, Address: m.Address, State: Down, Reason: "not reached yet"}}
	l.ready = sync.NewCond(&l.mu)
	return l
}

// send hands a task to the master at a time, or returns false when its vote is
// silent at once (M1). It never blocks.
func (l *lane) send(t *task, now time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.takes(t, now) {
		if t.mustArrive() {
			l.owe(t)
		}
		return false
	}
	if (t.creates() || t.heals) && len(l.owed) > 0 {
		// What this redlockd takes now must not be freed by a release that it
		// was asked for before (V8): that goes first.
		name := owedKey{key: t.key, token: t.token}
		if before := l.owed[name]; before != nil {
			delete(l.owed, name)
			l.append(before)
		}
	}
	l.append(t)
	l.ready.Signal()
	return true
}

// append needs mu.
func (l *lane) append(t *task) {
	l.queue = append(l.queue, t)
	l.bytes += t.size()
}

// takes is whether the task may be sent now.
func (l *lane) takes(t *task, now time.Duration) bool {
	switch {
	case !l.open || l.frozenAt(now):
		return false
	case len(l.queue) >= 2*maxQueued || l.bytes >= 2*maxQueuedBytes:
		return false
	case !t.mustArrive() && (len(l.queue) >= maxQueued || l.bytes >= maxQueuedBytes):
		return false
	default:
		return !t.creates() || l.votes() && l.db.silentFor(now) == 0
	}
}

// votes is whether the master may be asked to create locks (M4).
func (l *lane) votes() bool {
	if l.master.Embedded || l.under == nil || !l.under.real {
		return l.master.Embedded
	}
	return l.zero == nil || l.zero.bearsReal(0)
}

// bearsReal is whether the mark is real and bears a hold. Database 0's bears
// that of all, since a restart loses all of them.
func (l *lane) bearsReal(hold time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.under != nil && l.under.real && l.under.greatest >= hold
}

// frozen is whether the oldest unanswered operation, or look, is as old as
// timeout.
func (l *lane) frozen() bool { return l.frozenAt(l.now()) }

func (l *lane) frozenAt(now time.Duration) bool {
	limit := now - l.cfg.Timeout
	return l.busy && l.since <= limit || l.asking && l.asked <= limit
}

// latest is the latest possible reading of the master's clock now (V6), for a
// master that may be asked to hold a lock for hold: one whose mark bears it.
func (l *lane) latest(hold, now time.Duration) (int64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.under != nil && l.under.greatest < hold {
		if l.under.real {
			l.want(hold)
		}
		return 0, false
	}
	if hold > 0 && l.zero != nil && !l.master.Embedded && !l.zero.bearsReal(hold) {
		return 0, false
	}
	return l.looks.latest(now)
}

// bears is whether the mark bears a hold; else the keeper is told to write
// it, and waitFor is whether that can be expected at once.
func (l *lane) bears(hold time.Duration) (bears, waitFor bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.master.Embedded || l.under != nil && l.under.real && l.under.greatest >= hold {
		return true, false
	}
	if waitFor = l.open && l.votes() && !l.frozen(); waitFor {
		l.want(hold)
	}
	return false, waitFor
}

// want tells the keeper which hold the mark shall bear. Needs mu.
func (l *lane) want(hold time.Duration) {
	l.memory.wanted = max(l.memory.wanted, hold)
	l.wakeKeeper()
}

// owe keeps a task for when the master can be reached again. Needs mu.
func (l *lane) owe(t *task) {
	name := owedKey{key: t.key, token: t.token}
	if t.rollback {
		name.expiry = t.expiry
	}
	if _, known := l.owed[name]; !known && !l.mayOwe() {
		return
	}
	again := *t
	again.att = nil
	l.owed[name] = &again
}

// mayOwe makes room for what is owed, if it can. Needs mu.
func (l *lane) mayOwe() bool {
	if len(l.owed) < maxOwed {
		return true
	}
	now := l.now()
	if now-l.purged < time.Second {
		return false
	}
	l.purged = now
	maps.DeleteFunc(l.owed, func(_ owedKey, t *task) bool { return now >= t.until })
	return len(l.owed) < maxOwed
}

// owes is whether the rollback of an attempt is still to be carried out.
func (l *lane) owes(key, token string, expiry int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.owed[owedKey{key: key, token: token, expiry: expiry}] != nil
}

// payBack puts what is owed behind what waits already: that may be the late
// part of what it undoes. Needs mu.
func (l *lane) payBack() {
	l.due = false
	now := l.now()
	for name, t := range l.owed {
		delete(l.owed, name)
		if now < t.until {
			l.append(t)
		}
	}
}

// next waits for work and takes a batch of it, or returns nil when c is over.
func (l *lane) next(c *connection) *batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.conn == c && (!l.open || len(l.queue) == 0 && !l.due) {
		l.ready.Wait()
	}
	if l.conn != c {
		return nil
	}
	if l.due {
		l.payBack()
	}
	b := l.take()
	if len(b.tasks) > 0 {
		l.busy, l.since = true, b.sent
	}
	return b
}

// take moves tasks from the queue into a batch, without those that nobody
// awaits any more. Needs mu.
func (l *lane) take() *batch {
	n := min(len(l.queue), maxBatch)
	b := &batch{tasks: make([]*task, 0, n), under: l.under, sent: l.now()}
	for i, t := range l.queue[:n] {
		l.queue[i] = nil
		l.bytes -= t.size()
		if t.creates() && !l.votes() {
			// It was queued before the quarantine began.
			b.unsent = append(b.unsent, t)
			continue
		}
		if t.att == nil || t.att.goesOut(t.index, b.sent) || t.mustArrive() {
			l.hurry(t, b.sent)
			b.tasks = append(b.tasks, t)
		}
	}
	l.queue = l.queue[n:]
	if len(l.queue) == 0 {
		l.queue = nil
	}
	return b
}

// hurry gives what deletes a deadline, where an earlier connection cannot be
// fenced (M3). Needs mu.
func (l *lane) hurry(t *task, now time.Duration) {
	if !l.fenceless || t.rollback || t.kind != Release && t.kind != Remove {
		return
	}
	if latest, ok := l.looks.latest(now); ok {
		t.deadline = latest + l.cfg.Timeout.Milliseconds()
	}
}

// barrier returns a channel that is closed when all that waits now has been
// carried out, or will not be.
func (l *lane) barrier() <-chan struct{} {
	t := &task{kind: Read, key: MarkKey, passed: make(chan struct{})}
	if !l.send(t, l.now()) {
		close(t.passed)
	}
	return t.passed
}

// end closes the connection, after which the keeper sees that ctx is over.
func (l *lane) end(stop context.CancelFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	stop()
	for _, c := range []*connection{l.greeting, l.conn} {
		if c != nil {
			c.close()
		}
	}
}
