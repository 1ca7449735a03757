package admin

import (
	"sync"
	"time"
)

// Reloads is how the reloads of the configuration went. The start counts as one that went
// well. Safe for concurrent use.
type Reloads struct {
	mu   sync.Mutex
	good bool
	at   time.Time
}

// NewReloads returns the Reloads of a process that started at now.
func NewReloads(now time.Time) *Reloads { return &Reloads{good: true, at: now} }

// Done tells that a reload ended at now, and whether the file is in force.
func (r *Reloads) Done(good bool, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.good = good
	if good {
		r.at = now
	}
}

// Last returns whether the last one went well, and when one last did.
func (r *Reloads) Last() (good bool, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.good, r.at
}
