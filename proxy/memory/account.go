package memory

import (
	"sync"
	"sync/atomic"
)

// step is what an Account may hold without being charged for it, and the step in
// which it is: nearly all sessions never touch the common sum.
const step = 16 << 10

// Pool is the memory that all sessions share. Safe for concurrent use.
type Pool struct {
	held     atomic.Int64
	most     func() int64
	evict    func()
	evicting atomic.Bool
}

// NewPool returns a pool of most bytes. Where more is held it calls evict, which must
// not wait and ends with Evicted.
func NewPool(most func() int64, evict func()) *Pool { return &Pool{most: most, evict: evict} }

// Held is what all accounts hold, in bytes.
func (p *Pool) Held() int64 { return p.held.Load() }

// Most is how much they may.
func (p *Pool) Most() int64 { return p.most() }

// Over reports whether they hold more than they may.
func (p *Pool) Over() bool { return p.held.Load() > p.most() }

// Evicted ends what evict has begun.
func (p *Pool) Evicted() { p.evicting.Store(false) }

// Account is what a session holds of a Pool: what it has sent and is not carried out,
// and what it has not read. Safe for concurrent use.
type Account struct {
	pool   *Pool
	mu     sync.Mutex
	bytes  int64
	closed bool
}

// Open makes it an account of the pool. It must be called first.
func (a *Account) Open(pool *Pool) { a.pool = pool }

// Charge sets one part of the account, which belongs to the caller, to about bytes.
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

// Close gives back what is held; nothing is charged any more.
func (a *Account) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.closed = true
		a.pool.held.Add(-a.bytes)
	}
}

// Bytes are what is held.
func (a *Account) Bytes() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return 0
	}
	return a.bytes
}
