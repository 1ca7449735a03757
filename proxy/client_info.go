package proxy

import (
	"sync"
	"time"

	"github.com/redlockd/redlockd/proxy/notify"
)

// superuser is Redis's name for a client that is nobody.
const superuser = "(superuser)"

// clientInfo is what a session shows of itself to others (CLIENT LIST), copied from
// the reading goroutine's fields once for every command. Safe for concurrent use.
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
	queued  int // commands after MULTI; -1 outside
	watched int
	blocked bool
	at      time.Time
	// in are the bytes that came, commands those that were begun.
	in, commands uint64
}

func newClientInfo(now time.Time) *clientInfo {
	return &clientInfo{clientState: clientState{command: "NULL", user: superuser, queued: -1, at: now}}
}

// state is what is shown now.
func (c *clientInfo) state() clientState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.clientState
}

// change changes what is shown. f must not wait.
func (c *clientInfo) change(f func(*clientState)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.clientState)
}

// bytesIn are the bytes that came.
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

// userName is the name of the session's user, empty for none.
func (c *clientInfo) userName() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.user == superuser {
		return ""
	}
	return c.user
}
