package proxy

import (
	"bytes"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// watch is one watched key. outcome is set before read is closed.
type watch struct {
	db    int
	key   string
	watch quorum.Watch
	read  chan struct{}

	outcome *quorum.Outcome
}

// transactions are the queue of MULTI, nil outside of it, and the keys of WATCH. They
// belong to the session's reading goroutine.
type transactions struct {
	multi        *transaction
	watched      []*watch
	watchedBytes int
}

// transaction is what MULTI has queued (S4).
type transaction struct {
	queue [][][]byte
	bytes int
	// local is the number of commands of the connection in the queue.
	local int
	// broken is set when a command was refused; EXEC refuses then.
	broken bool
}

var (
	errExecAbort = resp.Error("EXECABORT Transaction discarded because of previous errors.")
	errMixed     = resp.Error("EXECABORT Transaction discarded because redlockd does not run lock commands " +
		"and commands of the connection in one transaction.")
	errExecArity = resp.Error("EXECABORT Transaction discarded because of: " +
		"wrong number of arguments for 'exec' command")
	errNoMulti        = resp.Error("ERR EXEC without MULTI")
	errTooManyQueued  = resp.Error("ERR too many commands in one transaction")
	errTooManyWatched = resp.Error("ERR too many watched keys")
	errNotInMulti     = resp.Error("ERR Command not allowed inside a transaction")
)

// abortMulti makes EXEC refuse, because a command inside MULTI was refused.
func (t *transactions) abortMulti() {
	if t.multi != nil {
		t.multi.broken = true
	}
}

// queued returns how many commands wait for EXEC, -1 outside of MULTI.
func (t *transactions) queued() int {
	if t.multi == nil {
		return -1
	}
	return len(t.multi.queue)
}

// memory returns about the bytes that the queue and the watches take.
func (t *transactions) memory() int {
	if t.multi == nil {
		return t.watchedBytes
	}
	return t.watchedBytes + t.multi.bytes
}

// enqueue queues a command inside MULTI, or refuses it.
func enqueue(s *session, local localCommand, isLocal bool, args [][]byte) {
	refusal := queueable(s, local, isLocal, args)
	if refusal != nil {
		s.multi.broken = true
		s.refuse(*refusal)
		return
	}
	kept := make([][]byte, len(args))
	for i, a := range args {
		kept[i] = bytes.Clone(a)
		s.multi.bytes += len(a) + 32
	}
	s.multi.queue = append(s.multi.queue, kept)
	if isLocal {
		s.multi.local++
	}
	s.answer(resp.Queued)
}

func queueable(s *session, local localCommand, isLocal bool, args [][]byte) *resp.Reply {
	size := s.multi.bytes
	for _, a := range args {
		size += len(a) + 32
	}
	switch {
	case len(s.multi.queue) >= maxQueued || size > s.srv.cfg().MaxCommandBytes:
		return &errTooManyQueued
	case local.notInMulti:
		return &errNotInMulti
	case local.refuseInMulti != nil:
		return local.refuseInMulti(args)
	case isLocal:
		return nil
	}
	ok, refusal := s.in.Check(args)
	if in, narrow := s.in.(*commands.Interpreter); ok && narrow && !s.user.Unlimited() {
		ok, refusal = in.Permits(s.db, args, len(s.watched) > 0)
	}
	if ok {
		return nil
	}
	if !commands.Known(args[0]) {
		var buf [32]byte
		refusal = unknownCommand(&s.srv.stats, lower(buf[:], args[0]), args)
	}
	return &refusal
}

// watchKey adds a key to the watched ones and returns its watch, or nil if it is watched
// already.
func (t *transactions) watchKey(db int, key string) *watch {
	for _, w := range t.watched {
		if w.db == db && w.key == key {
			return nil
		}
	}
	w := &watch{db: db, key: key, read: make(chan struct{})}
	t.watched = append(t.watched, w)
	t.watchedBytes += len(key) + 256
	return w
}

// unwatch ends all watches.
func (t *transactions) unwatch() {
	closeAll(t.watched)
	t.watched, t.watchedBytes = nil, 0
}

func closeAll(list []*watch) {
	for _, w := range list {
		w.watch.Close()
	}
}
