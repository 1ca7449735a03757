package faults

import (
	"fmt"
	"sync"
	"time"
)

// What a client asked for.
const (
	acquire = "acquire"
	extend  = "extend"
	release = "release"
	read    = "read"
)

// answer is what a client knows after a call.
type answer int

const (
	yes     answer = iota // it has happened; a read's value counts
	no                    // held by another, not ours, absent
	unknown               // it may have happened, or may still
)

func (a answer) String() string { return [...]string{"yes", "no", "unknown"}[a] }

// call is one call of one client. Times are since the bench began.
type call struct {
	client, redlockd int
	kind, key, token string
	ttl              time.Duration
	sent, got        time.Duration
	answer           answer
	// value is what a read found, or what an unknown answer said.
	value string
	// grant numbers the lock that the client acts for, 0 for none.
	grant int
}

func (c *call) String() string {
	return fmt.Sprintf("%9.3f..%9.3f client %-2d redlockd %d %-7s %s token %s ttl %v: %v %s",
		c.sent.Seconds(), c.got.Seconds(), c.client, c.redlockd, c.kind, c.key, c.token, c.ttl, c.answer, c.value)
}

// history is every call, by key, and every fault, in order.
type history struct {
	began time.Time

	mu         sync.Mutex
	keys       map[string][]*call
	faults     []string
	faultTimes []time.Duration
	violations []string
	counts     map[string]int
}

func newHistory() *history {
	return &history{began: time.Now(), keys: map[string][]*call{}, counts: map[string]int{}}
}

func (h *history) now() time.Duration { return time.Since(h.began) }

func (h *history) add(c *call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keys[c.key] = append(h.keys[c.key], c)
	h.counts[fmt.Sprintf("%s %v", c.kind, c.answer)]++
}

func (h *history) fault(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	h.faults = append(h.faults, fmt.Sprintf("%9.3f ", now.Seconds())+fmt.Sprintf(format, args...))
	h.faultTimes = append(h.faultTimes, now)
}

// violation notes one. Only the first few are shown.
func (h *history) violation(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.violations = append(h.violations, fmt.Sprintf(format, args...))
}

// near are the faults from a while before until a while after.
func (h *history) near(from, to time.Duration) []string {
	var out []string
	for i, at := range h.faultTimes {
		if at > from-4*time.Second && at < to+time.Second {
			out = append(out, h.faults[i])
		}
	}
	return out
}
