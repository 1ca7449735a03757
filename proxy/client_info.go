package proxy

import (
	"sync"
	"time"

	"github.com/redlockd/redlockd/proxy/notify"
)

// superuser is the user name that Redis shows for a client that has not logged in.
const superuser = "(superuser)"

// clientInfo is what a session shows of itself to others (CLIENT LIST). The reading
// goroutine copies it from its own fields once for every command. Safe for concurrent
// use.
type clientInfo struct {
	mu sync.Mutex
	clientState
}

// clientState is what a clientInfo holds.
type clientState struct {
	name    string
	user    string
	libName string
	libVer  string
	command string
	db      int
	subs    [notify.Kinds]int
	queued  int // commands queued by MULTI; -1 outside of it
	watched int
	blocked bool
	at      time.Time
	// in counts the bytes received, commands the commands begun.
	in, commands uint64
}

func newClientInfo(now time.Time) *clientInfo {
	return &clientInfo{clientState: clientState{command: "NULL", user: superuser, queued: -1, at: now}}
}

// state returns a copy.
func (c *clientInfo) state() clientState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.clientState
}

// change calls f to change what is shown. f must not wait.
func (c *clientInfo) change(f func(*clientState)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.clientState)
}

// bytesIn returns the number of bytes received.
func (c *clientInfo) bytesIn() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.in
}

// subscriber reports whether the session was subscribed when its last command came.
func (c *clientInfo) subscriber() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.subs != [notify.Kinds]int{}
}

// userName returns the name of the session's user, empty before login.
func (c *clientInfo) userName() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.user == superuser {
		return ""
	}
	return c.user
}
