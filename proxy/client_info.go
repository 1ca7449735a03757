package proxy

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/history"
	"github.com/redlockd/redlockd/proxy/notify"
)

// clientInfo is what a session shows of itself to others (CLIENT LIST), copied
// from the reading goroutine's fields once for every command.
type clientInfo struct {
	mu      sync.Mutex
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
	return &clientInfo{command: "NULL", user: superuser, queued: -1, at: now}
}

// remote is the client's address. Safe for concurrent use.
func (s *session) remote() string { return s.conn.RemoteAddr().String() }

// noteCommand publishes the session's state as the command of this name finds it.
func (s *session) noteCommand(name []byte, args [][]byte) {
	command, known := commandNames[string(name)]
	if !known {
		command = "unknown"
	}
	s.called = command
	if command == "client" && len(args) > 1 {
		if sub, ok := clientNames[strings.ToLower(resp.Clean(args[1], 32))]; ok {
			command = sub
		}
	}
	queued := -1
	if s.multi != nil {
		queued = len(s.multi.queue)
	}
	sh := s.clientInfo
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.command, sh.db, sh.queued, sh.watched = command, s.db, queued, len(s.watched)
	sh.subs = s.subs.Counts()
	s.lastCommand = time.Now()
	sh.at = s.lastCommand
	sh.in = s.frames.Bytes()
	sh.commands++
}

// setBlocked shows whether the session waits in BLPOP.
func (s *session) setBlocked(waits bool) {
	s.clientInfo.mu.Lock()
	defer s.clientInfo.mu.Unlock()
	s.clientInfo.blocked = waits
}

// commandNames holds every name once, so that a session need not keep copies;
// clientNames are the subcommands of CLIENT as CLIENT LIST shows them.
var commandNames, clientNames = make(map[string]string), make(map[string]string)

// nameCommands fills them.
func nameCommands() {
	for _, c := range localCommands {
		commandNames[c.name] = c.name
	}
	for _, c := range commands.Table() {
		commandNames[c.Name] = c.Name
	}
	for name := range locals["client"].subs {
		clientNames[name] = "client|" + name
	}
}

func (s *session) rename(name string) {
	s.clientInfo.mu.Lock()
	defer s.clientInfo.mu.Unlock()
	s.clientInfo.name = name
	s.holder = nil
}

// identity is the session for those who ask later who it was.
func (s *session) identity() *history.Holder {
	if s.holder == nil {
		s.clientInfo.mu.Lock()
		defer s.clientInfo.mu.Unlock()
		s.holder = &history.Holder{Session: s.id, Name: s.clientInfo.name, Address: s.remote(), User: s.clientInfo.user}
	}
	return s.holder
}

// describe is the session's line in CLIENT LIST. What redlockd has no such
// thing of is 0.
func describe(s *session) string {
	waiting, bytes := s.pipe.Size()
	sh := s.clientInfo
	sh.mu.Lock()
	defer sh.mu.Unlock()
	now := time.Now()
	flags := ""
	if sh.queued >= 0 {
		flags += "x"
	}
	if sh.subs != [notify.Kinds]int{} {
		flags += "P"
	}
	if sh.blocked {
		flags += "b"
	}
	if flags == "" {
		flags = "N"
	}
	return fmt.Sprintf("id=%d addr=%s laddr=%s fd=0 name=%s age=%d idle=%d flags=%s db=%d sub=%d psub=%d ssub=%d "+
		"multi=%d watch=%d qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=%d omem=%d tot-mem=%d "+
		"events=r cmd=%s user=%s redir=-1 resp=%d lib-name=%s lib-ver=%s io-thread=0 tot-net-in=%d tot-net-out=%d tot-cmds=%d\n",
		s.id, s.remote(), s.conn.LocalAddr(), sh.name, int64(now.Sub(s.born).Seconds()), int64(now.Sub(sh.at).Seconds()), flags,
		sh.db, sh.subs[notify.Channel], sh.subs[notify.Pattern], sh.subs[notify.Shard], sh.queued, sh.watched,
		waiting, bytes, bytes, sh.command, sh.user, s.protocol(), sh.libName, sh.libVer, sh.in, s.pipe.Sent(), sh.commands)
}
