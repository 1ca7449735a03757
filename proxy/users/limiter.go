package users

import (
	"net/netip"
	"sync"
	"time"
)

// Limits on guessing passwords. The longest pause is short, because clients that share an
// address with an attacker wait as well.
const (
	firstPause   = 10 * time.Millisecond
	longestPause = 500 * time.Millisecond
	// guessMemory is how long a failed login is remembered at least.
	guessMemory = 30 * time.Second
	// maxGuessers bounds the addresses in each of the two halves.
	maxGuessers = 2048
)

// Limiter slows login attempts by address, and limits the warnings about them to one a
// second. Safe for concurrent use.
type Limiter struct {
	mu sync.Mutex
	// Failures are counted in two halves. When the newer one is full or old it becomes
	// the older one, and the previous older one is forgotten. So memory is bounded
	// however many addresses are used.
	newer, older map[netip.Prefix]int
	turned       time.Time

	last       time.Time
	suppressed int
}

// Origin returns the part of a client's address that one owner is likely to have: the
// whole of an IPv4 address, the /64 of an IPv6 address.
func Origin(remote string) netip.Prefix {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Prefix{} // connections without an address, as in tests, count as one
	}
	bits := 32
	if addr := at.Addr().Unmap(); addr.Is6() {
		bits = 64
	}
	p, _ := at.Addr().Unmap().WithZone("").Prefix(bits) // cannot fail: the bits fit
	return p
}

// Pause returns how long the next login from an address must wait.
func (g *Limiter) Pause(remote string) time.Duration {
	at := Origin(remote)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turnLocked(time.Now())
	n := g.newer[at] + g.older[at]
	if n == 0 {
		return 0
	}
	return min(firstPause<<min(n-1, 16), longestPause)
}

// Failed counts a failed login from an address. due reports whether to log it, and
// unreported how many were not logged before.
func (g *Limiter) Failed(remote string) (unreported int, due bool) {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turnLocked(now)
	g.newer[Origin(remote)]++
	if now.Sub(g.last) < time.Second {
		g.suppressed++
		return 0, false
	}
	unreported = g.suppressed
	g.last, g.suppressed = now, 0
	return unreported, true
}

// turnLocked forgets the older half when the newer one is full or old.
func (g *Limiter) turnLocked(now time.Time) {
	if g.newer == nil || len(g.newer) >= maxGuessers || now.Sub(g.turned) >= guessMemory {
		g.older, g.newer, g.turned = g.newer, make(map[netip.Prefix]int), now
	}
}
