package rig

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

var ports struct {
	sync.Mutex
	used map[string]bool
}

// FreeAddress returns an address of 127.0.0.1 that nobody listens on, and that
// this run has not used before. Its port lies below those that systems give to
// outgoing connections: one of these could take a dead master's port, or
// connect to itself. Somebody else may still take it first; so starting is
// tried again.
func FreeAddress(tb TB) string {
	tb.Helper()
	ports.Lock()
	defer ports.Unlock()
	if ports.used == nil {
		ports.used = map[string]bool{}
	}
	for range 1000 {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(10000+rand.IntN(20000)))
		if ports.used[addr] {
			continue
		}
		ln, err := net.Listen("tcp", addr)
		if err != nil {
			continue
		}
		ln.Close()
		ports.used[addr] = true
		return addr
	}
	tb.Fatalf("no free port in 1000 tries")
	return ""
}
