package proxy

import (
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/redlockd/redlockd/commands"
)

// shown is what a session shows of itself to others (CLIENT LIST), copied
// from the reading goroutine's fields once for every command.
type shown struct {
	mu      sync.Mutex
	remote  string
	local   string
	name    string
	libName string
	libVer  string
	command string
	db      int
	subs    [kinds]int
	queued  int // commands after MULTI; -1 outside
	watched int
	at      time.Time
}

func (sh *shown) conn(c net.Conn) {
	sh.remote, sh.local = c.RemoteAddr().String(), c.LocalAddr().String()
	sh.command, sh.queued, sh.at = "NULL", -1, time.Now()
}

// show publishes the session's state as the command of this name finds it.
func (s *session) show(name []byte) {
	command, known := commandNames[string(name)]
	if !known {
		command = "unknown"
	}
	queued := -1
	if s.multi != nil {
		queued = len(s.multi.queue)
	}
	sh := &s.shown
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.command, sh.db, sh.queued, sh.watched = command, s.db, queued, len(s.watched)
	for k := range s.subs {
		sh.subs[k] = len(s.subs[k])
	}
	sh.at = time.Now()
}

// commandNames holds every name once, so that a session need not keep copies.
var commandNames = func() map[string]string {
	m := make(map[string]string)
	for _, c := range localCommands() {
		m[c.name] = c.name
	}
	for _, c := range commands.Table() {
		m[c.Name] = c.Name
	}
	return m
}()

func (s *session) rename(name string) {
	s.shown.mu.Lock()
	defer s.shown.mu.Unlock()
	s.shown.name = name
}

// describe is the session's line in CLIENT LIST. What redlockd has no such
// thing of is 0.
func (s *session) describe() string {
	waiting, bytes := s.pipe.size()
	sh := &s.shown
	sh.mu.Lock()
	defer sh.mu.Unlock()
	now := time.Now()
	flags := ""
	if sh.queued >= 0 {
		flags += "x"
	}
	if sh.subs != [kinds]int{} {
		flags += "P"
	}
	if flags == "" {
		flags = "N"
	}
	return fmt.Sprintf("id=%d addr=%s laddr=%s fd=0 name=%s age=%d idle=%d flags=%s db=%d sub=%d psub=%d ssub=%d "+
		"multi=%d watch=%d qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=%d omem=%d tot-mem=%d "+
		"events=r cmd=%s user=default redir=-1 resp=%d lib-name=%s lib-ver=%s\n",
		s.id, sh.remote, sh.local, sh.name, int64(now.Sub(s.born).Seconds()), int64(now.Sub(sh.at).Seconds()), flags,
		sh.db, sh.subs[channels], sh.subs[patterns], sh.subs[shards], sh.queued, sh.watched,
		waiting, bytes, bytes, sh.command, s.protocol(), sh.libName, sh.libVer)
}

// size is how many replies wait, and their bytes.
func (p *pipeline) size() (waiting, bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count, p.bytes + p.messages
}
