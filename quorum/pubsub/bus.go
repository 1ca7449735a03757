package pubsub

import (
	"context"
	"crypto/rand"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/cluster"
)

// Config is a Bus's configuration.
type Config struct {
	// Timeout is how long a Subscribe waits for the masters (V2).
	Timeout time.Duration
	// RunID returns the run_id of the server that operations use under a master's name, or "".
	RunID func(master string) string
	Log   hclog.Logger
	Now   clock.Clock
}

// Bus publishes on all masters, and hears what others publish there. All its methods are
// safe for concurrent use.
type Bus struct {
	cfg     Config
	now     clock.Clock
	self    [selfSize]byte
	deliver atomic.Pointer[func(Message)]

	sent, dropped, heard atomic.Uint64
	// lastHeard is when a master last had a subscriber for the channel of a message. crowds
	// reports whether the latest write was many messages as one, which says nothing of that.
	lastHeard atomic.Int64
	crowds    atomic.Bool

	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu       sync.Mutex
	started  bool
	closing  bool
	peers    []*peer
	names    nameTable
	outgoing outgoing
	seen     seen
}

// New returns a bus without masters.
func New(cfg Config) *Bus {
	b := &Bus{cfg: cfg, now: cfg.Now, names: nameTable{all: map[name]*entry{}, idle: map[name]*entry{}}}
	_, _ = rand.Read(b.self[:]) // never fails
	b.outgoing.credit = burst * mostEvery
	b.lastHeard.Store(int64(-unheardAfter))
	b.ctx, b.stop = context.WithCancel(context.Background())
	return b
}

// Deliver sets what is called for each message of another instance, from several
// goroutines. It must not block.
func (b *Bus) Deliver(f func(Message)) { b.deliver.Store(&f) }

// Counts returns how many messages were sent, dropped for a master, and heard.
func (b *Bus) Counts() (sent, dropped, heard uint64) {
	return b.sent.Load(), b.dropped.Load(), b.heard.Load()
}

// Follow makes these the masters. It does not block.
func (b *Bus) Follow(masters []cluster.Master) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.peers
	b.peers = nil
	for _, m := range masters {
		at := slices.IndexFunc(before, func(p *peer) bool { return p.master.Name == m.Name })
		if at >= 0 {
			before[at].reconfigure(m)
			b.peers = append(b.peers, before[at])
			continue
		}
		b.peers = append(b.peers, newPeer(b, m))
	}
	for _, p := range before {
		if !slices.Contains(b.peers, p) {
			p.end()
		}
	}
	if b.started && !b.closing {
		b.startPeers()
	}
}

// start opens the connections on first use; false if the bus is closed. The caller must
// hold mu.
func (b *Bus) start() bool {
	if !b.started && !b.closing {
		b.started = true
		b.startPeers()
		b.wg.Go(b.tick)
	}
	return !b.closing
}

// startPeers starts those that do not run yet, each with a bit of its own. The caller must
// hold mu.
func (b *Bus) startPeers() {
	used := uint64(0)
	for _, p := range b.peers {
		used |= p.bit
	}
	for _, p := range b.peers {
		for bit := uint64(1); p.bit == 0; bit <<= 1 {
			if used&bit == 0 {
				p.bit = bit
				used |= bit
				b.wg.Go(p.run)
			}
		}
	}
}

// tick ends, once a second, the names that nobody uses any more and the connections that
// are not answered.
func (b *Bus) tick() {
	every := time.NewTicker(clock.LookEvery)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-b.ctx.Done():
			return
		}
		b.mu.Lock()
		now := b.now()
		for _, n := range b.names.sweep(now) {
			b.ask(n, false)
		}
		for _, p := range b.peers {
			p.probe(now, b.names.asked > 0)
		}
		b.seen.forget(now)
		b.mu.Unlock()
	}
}

// receive delivers what a master has sent on a channel, unless it is this redlockd's own or
// another copy of what was delivered already.
func (b *Bus) receive(channel, pattern, text string) {
	if foreign(channel) {
		b.tell(Message{Kind: Plain, Channel: channel, Pattern: pattern, Parts: []string{text}})
		return
	}
	of, encoded, ok := splitPayload(text)
	if !ok || [selfSize]byte(of[:selfSize]) == b.self {
		return
	}
	b.mu.Lock()
	first := b.seen.first(of, b.now())
	b.mu.Unlock()
	if !first {
		return
	}
	messages, _ := readMessages(encoded)
	for _, m := range messages {
		b.tell(m)
	}
}

func (b *Bus) tell(m Message) {
	b.heard.Add(1)
	if f := b.deliver.Load(); f != nil {
		(*f)(m)
	}
}

// Close sends what waits, as far as the masters take it at once, ends the connections, and
// returns when all goroutines have ended.
func (b *Bus) Close() {
	b.mu.Lock()
	if !b.closing && len(b.outgoing.pending) > 0 {
		b.flush()
	}
	b.closing = true
	for _, p := range b.peers {
		p.end()
	}
	b.stop()
	b.mu.Unlock()
	b.wg.Wait()
}
