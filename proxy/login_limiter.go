package proxy

import (
	"net/netip"
	"sync"
	"time"
)

// Limits of guessing passwords. The longest pause is short, because clients
// that share an address with who guesses wait as well.
const (
	firstPause   = 10 * time.Millisecond
	longestPause = 500 * time.Millisecond
	// guessMemory is how long a failed login is remembered, at least.
	guessMemory = 30 * time.Second
	// maxGuessers bounds the addresses that are remembered, twice.
	maxGuessers = 2048
)

// loginLimiter slows those who try passwords, by their address, and keeps the
// warnings to one a second. Safe for concurrent use.
type loginLimiter struct {
	mu sync.Mutex
	// failures are counted in two halves: when the newer one is full or old it
	// becomes the older one, which is forgotten. So memory is bounded whoever
	// comes from wherever.
	newer, older map[netip.Prefix]int
	turned       time.Time

	last       time.Time
	suppressed int
}

// addressOf is an address as far as one owner is likely to have it.
func addressOf(remote string) netip.Prefix {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Prefix{} // all that have no address, as in tests, are one
	}
	bits := 32
	if addr := at.Addr().Unmap(); addr.Is6() {
		bits = 64
	}
	p, _ := at.Addr().Unmap().WithZone("").Prefix(bits) // the bits fit
	return p
}

// pause is how long the next login from there waits.
func (g *loginLimiter) pause(remote string) time.Duration {
	at := addressOf(remote)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turn(time.Now())
	n := g.newer[at] + g.older[at]
	if n == 0 {
		return 0
	}
	return min(firstPause<<min(n-1, 16), longestPause)
}

// failed counts a login that failed, and logs it. What was sent as the password
// is not logged, nor a name that is nobody's, which may be one.
func (g *loginLimiter) failed(s *session, name string) {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turn(now)
	g.newer[addressOf(s.remote())]++
	if now.Sub(g.last) < time.Second {
		g.suppressed++
		return
	}
	s.log().Warn("login failed", "address", s.remote(), "user", name, "unreported", g.suppressed)
	g.last, g.suppressed = now, 0
}

// turn needs mu.
func (g *loginLimiter) turn(now time.Time) {
	if g.newer == nil || len(g.newer) >= maxGuessers || now.Sub(g.turned) >= guessMemory {
		g.older, g.newer, g.turned = g.newer, make(map[netip.Prefix]int), now
	}
}
