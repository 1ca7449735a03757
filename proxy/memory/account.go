package memory

import (
	"sync"
	"sync/atomic"
)

// step is the unit in which accounts are charged. An account below one step is not
// charged at all, so that nearly all sessions never touch the common sum.
const step = 16 << 10

// Pool is the memory that all sessions share. Safe for concurrent use.
type Pool struct {
	held     atomic.Int64
	most     func() int64
	evict    func()
	evicting atomic.Bool
}

// NewPool returns a pool of most bytes. When more is held it calls evict once, which must
// not block; Evicted must be called when the eviction is over.
func NewPool(most func() int64, evict func()) *Pool { return &Pool{most: most, evict: evict} }

// Held returns the bytes that all accounts hold.
func (p *Pool) Held() int64 { return p.held.Load() }

// Most returns the bytes that they may hold.
func (p *Pool) Most() int64 { return p.most() }

// Over reports whether they hold more than Most.
func (p *Pool) Over() bool { return p.held.Load() > p.most() }

// Evicted ends an eviction: the next excess calls evict again.
func (p *Pool) Evicted() { p.evicting.Store(false) }

// Account is the memory that one session holds of a Pool: commands received and not
// carried out, and replies and messages not read. Safe for concurrent use.
type Account struct {
	pool   *Pool
	mu     sync.Mutex
	bytes  int64
	closed bool
}

// Open sets the pool. It must be called first.
func (a *Account) Open(pool *Pool) { a.pool = pool }

// Charge sets one part of the account, whose current size is *part, to about bytes. Only
// one goroutine at a time may charge the same part.
func (a *Account) Charge(part *int, bytes int) {
	bytes -= bytes % step
	change := int64(bytes - *part)
	if change == 0 {
		return
	}
	*part = bytes
	a.mu.Lock()
	if !a.closed {
		a.bytes += change
		a.pool.held.Add(change)
	}
	a.mu.Unlock()
	if change > 0 && a.pool.Over() && a.pool.evicting.CompareAndSwap(false, true) {
		a.pool.evict()
	}
}

// Close gives back what is held; later charges have no effect.
func (a *Account) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.closed = true
		a.pool.held.Add(-a.bytes)
	}
}

// Bytes returns the bytes held.
func (a *Account) Bytes() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return 0
	}
	return a.bytes
}
