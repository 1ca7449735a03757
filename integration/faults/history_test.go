package faults

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"
)

// What a client asked for.
const (
	acquire = "acquire"
	extend  = "extend"
	renew   = "renew" // acquire or extend
	release = "release"
	read    = "read"
	// overdue is an acquire by a time that was over when redlockd read it,
	// which is refused.
	overdue = "overdue"
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
	// left is when the answer left redlockd, or 0 where the system does not say.
	left   time.Duration
	answer answer
	// value is what a read found, or what an unknown answer said.
	value string
	old   bool // asked of the old Redis
	// answered is whether an answer came all the same, as the client hung up: one
	// that redlockd wrote before it could see that (P5).
	answered bool
	// undoes is whether a release is of what nobody was told to have, while
	// old clients may hold the lock: the old Redis refused it, and it may have
	// been on all other masters.
	undoes bool
	// frozen is whether that redlockd stood still between the two.
	frozen bool
	// amiss is what a redlockd that is well does not do, if it was well.
	amiss string
	// byTime is whether the TTL was told by a time.
	byTime bool
	// tells is whether an acquire that is refused tells the token that is in the way.
	tells bool
	// replaces is whether an acquire gives a lock another token: nothing undoes that (V8).
	// implied is whether another call, which was made with it, is judged in its place.
	replaces, implied bool
	// step is what a turn does to the count of a lock in a hash, count what its yes tells of that.
	step, count int
	// n numbers the calls of a run.
	n int
	// grant numbers the lock that the client acts for, 0 for none.
	grant int
}

// gives reports whether its yes is the having of a lock.
func (c *call) gives() bool { return c.kind == acquire || c.kind == extend || c.kind == renew }

func (c *call) String() string {
	return fmt.Sprintf("%9.3f..%9.3f call %d client %-2d redlockd %d %-7s %s token %s ttl %v: %v %s",
		c.sent.Seconds(), c.got.Seconds(), c.n, c.client, c.redlockd, c.kind, c.key, c.token, c.ttl, c.answer, c.value)
}

// name is short, for lists of causes.
func (c *call) name() string {
	return fmt.Sprintf("%s %d by client %d at redlockd %d (%v, sent %.3fs)", c.kind, c.n, c.client, c.redlockd, c.answer, c.sent.Seconds())
}

// history is every call, by key, and every fault, in order.
type history struct {
	began time.Time

	mu         sync.Mutex
	keys       map[string][]*call
	faults     []string
	faultTimes []time.Duration
	violations []string
	accounts   map[string]*account // of keys with violations
	troubles   []*trouble
	// voting are the times at which a redlockd said that a master votes, by their numbers.
	voting map[[2]int][]time.Duration
	// stood are the times in which the bench itself stood still.
	stood []stillness
	// bares are the times of bare majorities.
	bares  []stretch
	counts map[string]int
	// mute are the times at which a redlockd said that a master does not vote.
	mute map[[2]int][]time.Duration
	// strings are what members of strings were told, turns the changes of tokens beside EXEC, and
	// nulls the EXEC that were null.
	strings map[string][]*glimpse
	turns   map[string][]*turn
	nulls   []*null
}

func newHistory() *history {
	return &history{began: time.Now(), keys: map[string][]*call{}, accounts: map[string]*account{}, counts: map[string]int{},
		voting: map[[2]int][]time.Duration{}, mute: map[[2]int][]time.Duration{},
		strings: map[string][]*glimpse{}, turns: map[string][]*turn{}}
}

func (h *history) now() time.Duration { return time.Since(h.began) }

func (h *history) add(c *call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keys[c.key] = append(h.keys[c.key], c)
	h.counts[fmt.Sprintf("%s %v", c.kind, c.answer)]++
}

// count is how often calls of a kind were answered so.
func (h *history) count(what string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.counts[what]
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

// stillness is a time in which the machine gave this process nothing.
type stillness struct{ from, to time.Duration }

// after is how long redlockd may still be without an answer: if it stood still for more than a
// second, too, its last look at the masters may be too old for an attempt (V6).
func (s stillness) after() time.Duration {
	if s.to-s.from < time.Second {
		return 0
	}
	return back
}

// watchItself notes when the bench itself stands still, as redlockd then may
// have too.
func (b *bench) watchItself() {
	const pace, late = 10 * time.Millisecond, 100 * time.Millisecond
	for !b.ended() {
		from := b.h.now()
		time.Sleep(pace)
		if to := b.h.now(); to-from > pace+late {
			b.h.mu.Lock()
			b.h.stood = append(b.h.stood, stillness{from, to})
			b.h.mu.Unlock()
		}
	}
}

// stoodStill reports whether the bench stood still in a time.
func (h *history) stoodStill(from, to time.Duration) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.stood, func(s stillness) bool { return s.from < to && from < s.to })
}

// stretch is a time in which two masters were away, at whose end a third was
// made to forget or freeze.
type stretch struct{ from, to time.Duration }

// bareMajority notes that locks taken in a stretch were on a bare majority at
// its end.
func (h *history) bareMajority(from, to time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bares = append(h.bares, stretch{from, to})
}

// onBare reports whether a span began on a bare majority and outlived the loss of
// one of it.
func (h *history) onBare(s span) bool {
	return slices.ContainsFunc(h.bares, func(b stretch) bool { return s.by.sent > b.from && s.by.got < b.to && s.end > b.to })
}

// onBares is how many holders so far had a bare majority and lost a master of
// it.
func (h *history) onBares() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	w := &times{troubles: h.troubles, stood: h.stood}
	for _, calls := range h.keys {
		for _, s := range spansOf(bySent(calls), w, bySending) {
			if h.onBare(s) {
				n++
			}
		}
	}
	return n
}

// bySent is calls in the order of their sending.
func bySent(calls []*call) []*call {
	return slices.SortedFunc(slices.Values(calls), func(x, y *call) int { return cmp.Compare(x.sent, y.sent) })
}
