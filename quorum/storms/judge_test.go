package storms

import (
	"slices"
	"sync"
	"time"

	"github.com/redlockd/redlockd/quorum"
	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/fakeredis"
)

// witness records what clients were answered, and judges it by P1 and P4.
type witness struct {
	*storm
	mu     sync.Mutex
	leases map[fakeredis.KeyName][]*lease
	tries  map[fakeredis.KeyName][]*try // those under way
	past   map[fakeredis.KeyName][]*try // those that ended last
	turns  map[fakeredis.KeyName][]turn // of watched keys
	counts map[string]int               // of verdicts and of excuses
}

// lease is what the clients with one token were answered about a lock.
type lease struct {
	token string
	// until is how long the client has the lock alone (P1), sure how long at least
	// reads must find it.
	until, sure time.Duration
	// ends is when the last TTL that a client was answered is over, may until when
	// copies may live on masters, whatever the answer was.
	ends, may time.Duration
	// former is until when copies may live that had the token which a change has replaced:
	// one that was won, maybe too late for its client, is repeated to masters that missed
	// it, and keeps a later expiry.
	former time.Duration
	// open is the number of operations under way that may take or prolong the lock;
	// closed is when the last of them ended.
	open   int
	closed time.Duration
	// untold reports whether an extend of the lock was answered with yes before the
	// operation that took it was.
	untold bool
	// gaps is how often it was taken or prolonged after it was over.
	gaps int
	// doubt reports whether one of them was not answered with yes or no.
	doubt bool
	// freed is when a release of the lock was answered with yes; 0 if none was since it
	// was taken.
	freed time.Duration
	// late reports whether an operation that takes the lock could still reach masters
	// then.
	late bool
	// from are the redlockd that were asked to take or prolong the lock.
	from []*node
	// taken is when the last operation was sent that was answered with the lock, told when it was
	// answered.
	taken, told time.Duration
	// touched is when other clients last released, shortened or overwrote the lock.
	touched time.Duration
	// kept reports whether copies may be left until the hold is over, since no redlockd
	// rolls them back (P5).
	kept bool
	// count is how often its holder has a lock in a hash.
	count tally
}

// try is one operation, from its sending to its end.
type try struct {
	*witness
	lock fakeredis.KeyName
	op   quorum.Op // as the client means it
	node *node
	cfg  cluster.Config
	// ended is 0 while the operation is under way.
	sent, ended time.Duration
	// froze and uncounted are the redlockd's stillness when the operation was sent.
	froze     int
	uncounted time.Duration
	// lease is the lease of the token, to that of the token that the lock is to have;
	// had and hadSure are what was promised when the operation was sent.
	lease, to    *lease
	had, hadSure time.Duration
	// byRead reports whether the answer follows from a read, tells whether it tells the
	// token that is in the way, stranger whether the client names another one's token.
	byRead, tells, stranger bool
	// holder is the lease that certainly holds the lock when a read is sent, gaps is that
	// lease's.
	holder *lease
	gaps   int
	// turn is what it does to the count of a lock in a hash.
	turn turning
}

func newWitness(s *storm) *witness {
	return &witness{storm: s, leases: map[fakeredis.KeyName][]*lease{}, tries: map[fakeredis.KeyName][]*try{}, past: map[fakeredis.KeyName][]*try{}, turns: map[fakeredis.KeyName][]turn{}, counts: map[string]int{}}
}

func (j *witness) noteRenewal(late bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if late {
		j.count("renewed, and late again")
	} else {
		j.count("renewed, or denied")
	}
}

func (j *witness) count(what string) { j.counts[what]++ }

// leaseOf returns the lease of a token. The caller must hold mu.
func (j *witness) leaseOf(lock fakeredis.KeyName, token string) *lease {
	for _, l := range j.leases[lock] {
		if l.token == token {
			return l
		}
	}
	l := &lease{token: token}
	j.leases[lock] = append(j.leases[lock], l)
	return l
}

// takes reports whether an operation may leave a lock with its token.
func takes(op *quorum.Op) bool {
	return op.Kind == quorum.Acquire || op.Kind == quorum.AcquireOrExtend || op.Kind == quorum.Extend || op.Kind == quorum.Store
}

// teller is a redlockd that answers, in one of its lives, with one list of masters.
type teller struct {
	node *node
	life int
	list *cluster.List
}

func (n *node) teller(db int) teller {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.q == nil || n.q.Cluster().Opened(db) == nil {
		return teller{}
	}
	return teller{n, n.lives, n.q.Cluster().Opened(db).List()}
}

// begin notes that an operation is sent. One that releases or shortens a lock ends what
// was promised, whatever the answer (P1).
func (j *witness) begin(n *node, op quorum.Op) *try {
	j.mu.Lock()
	defer j.mu.Unlock()
	t := &try{witness: j, lock: fakeredis.KeyName{DB: op.DB, Key: op.Key}, op: op, node: n, cfg: n.config(), sent: j.Now()}
	t.froze, t.uncounted = n.stillness()
	if op.Token != "" && op.Kind != quorum.Read {
		t.lease = j.leaseOf(t.lock, op.Token)
		t.to, t.had, t.hadSure = t.lease, t.lease.until, t.lease.sure
		if op.Replace {
			t.to = j.leaseOf(t.lock, op.NewToken)
		}
	}
	if takes(&op) {
		t.lease.open++
		t.to.open++
		t.to.from = append(t.to.from, n)
	}
	for _, l := range j.leases[t.lock] {
		t.disturb(l)
		if l.sure > t.sent {
			t.holder, t.gaps = l, l.gaps
		}
	}
	j.tries[t.lock] = append(j.tries[t.lock], t)
	return t
}

// limit returns until when a client may count on a lease once this operation is sent,
// and whether the operation limits it at all.
func (t *try) limit(l *lease) (time.Duration, bool) {
	own := l == t.lease
	switch {
	case t.op.Kind == quorum.Remove, t.op.Kind == quorum.Store && !own, own && (t.op.Kind == quorum.Release || t.op.Replace):
		return 0, true
	case t.op.Kind == quorum.Expire, own && (t.op.Kind == quorum.Store || t.op.Kind == quorum.Extend || t.op.Kind == quorum.AcquireOrExtend):
		return t.sent + t.op.TTL, true
	default:
		return 0, false
	}
}

// disturb ends or shortens the promise of a lease if this operation may do so, and
// reports whether it does. The caller must hold mu.
func (t *try) disturb(l *lease) bool {
	limit, ok := t.limit(l)
	if !ok || l.until <= limit {
		return false
	}
	l.until, l.sure = limit, min(l.sure, limit)
	if l != t.lease || t.stranger {
		l.touched = t.Now()
	}
	return true
}

// undisturbed reports whether no other client can have released or shortened a lease
// since the operation was sent. The caller must hold mu.
func (t *try) undisturbed(l *lease) bool {
	if l.touched >= t.sent {
		return false
	}
	for _, other := range t.tries[t.lock] {
		if _, ok := other.limit(l); ok && other != t {
			return false
		}
	}
	return true
}

// lasts returns until when a copy made now may live on masters. The reading of a master's clock
// that its expiry counts from may be ahead by the round trip of a look, which is less than the
// padding.
func (t *try) lasts() time.Duration {
	hold := t.cfg.Hold(t.op.TTL, t.widest())
	return t.Now() + hold + t.widest() + t.cfg.LookSlack() + hold/100
}

// over ends the operation. The caller must hold mu.
func (t *try) over() {
	at := slices.Index(t.tries[t.lock], t)
	t.tries[t.lock] = slices.Delete(t.tries[t.lock], at, at+1)
	now := t.Now()
	t.ended = now
	t.past[t.lock] = append(t.past[t.lock], t)
	if list := t.past[t.lock]; len(list) > 200 {
		t.past[t.lock] = slices.Delete(list, 0, 100)
	}
	for _, l := range t.leases[t.lock] {
		if _, ok := t.limit(l); ok && (l != t.lease || t.stranger) {
			l.touched = now
		}
		if t.op.Kind == quorum.Expire && (l.may >= t.sent || l.open > 0 || l.closed >= t.sent) {
			l.may, l.doubt = max(l.may, t.lasts()), true
			// A rollback goes by the expiry, so it spares what this has prolonged.
			l.kept = l.kept || l.freed == 0
		}
	}
	if takes(&t.op) {
		t.lease.open--
		t.to.open--
		t.lease.closed, t.to.closed = now, now
	}
	t.forget(now)
}

// forget drops leases that no client can have any more. The caller must hold mu.
func (t *try) forget(now time.Duration) {
	old := func(l *lease) bool {
		return l.open == 0 && max(l.may, l.former, l.until, l.closed, l.freed)+20*time.Second < now
	}
	if list := t.leases[t.lock]; len(list) > 50 {
		t.leases[t.lock] = slices.DeleteFunc(list, old)
	}
}

// widest returns the greatest padding of any redlockd: all use it as soon as a mark
// bears it.
func (s *storm) widest() time.Duration {
	padding := time.Duration(s.begun.Load())
	for _, cfg := range s.shape.settings {
		padding = max(padding, cfg.Settings().Padding())
	}
	return padding
}
