package proxy

import (
	"bytes"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// watch is one watched key. outcome is there once read is closed.
type watch struct {
	db    int
	key   string
	watch quorum.Watch
	read  chan struct{}

	outcome *quorum.Outcome
}

// transaction is what came after MULTI (S4).
type transaction struct {
	queue [][][]byte
	bytes int
	// local is the number of commands of the connection in the queue.
	local int
	// broken makes EXEC refuse, because a command was refused.
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

func multiCommand(s *session, _ [][]byte) {
	if s.multi != nil {
		s.refuse(resp.Error("ERR MULTI calls can not be nested"))
		return
	}
	s.multi = &transaction{}
	s.answer(resp.OK)
}

// abortMulti remembers that a command inside MULTI was refused.
func (s *session) abortMulti() {
	if s.multi != nil {
		s.multi.broken = true
	}
}

// enqueue is what becomes of a command inside MULTI.
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
	case local.queues != nil:
		return local.queues(args)
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
		refusal = unknownCommand(s.srv, lower(buf[:], args[0]), args)
	}
	return &refusal
}

// execCommand carries out what was queued. It waits for what WATCH has read, which
// the quorum bounds in time, because the operation is made from it; until then
// nothing more is read, so the order of the keys holds.
func execCommand(s *session, args [][]byte) {
	t := s.multi
	s.multi = nil
	switch {
	case len(args) > 1:
		s.unwatch()
		s.refuse(errExecArity)
	case t == nil:
		s.refuse(errNoMulti)
	case t.broken:
		s.unwatch()
		s.refuse(errExecAbort)
	case t.local > 0 && t.local == len(t.queue):
		execLocal(s, t)
	case t.local > 0 && !mixes(t.queue):
		s.unwatch()
		s.refuse(errMixed)
	default:
		execLocks(s, t)
	}
}

// execLocks hands the transaction down. The watches end with the operation,
// which still looks at them.
func execLocks(s *session, t *transaction) {
	watched, ok := readWatched(s)
	if !ok {
		return
	}
	list := s.watched
	s.watched, s.watchedBytes = nil, 0
	req := mixedRequest(s, t, watched)
	s.begin(req, t.bytes+256, func([]*quorum.Outcome) { closeAll(list) })
}

// execLocal answers a transaction that asks nothing of the masters, under the
// condition that nothing watched has changed.
func execLocal(s *session, t *transaction) {
	watched, ok := readWatched(s)
	if !ok {
		return
	}
	refusal := changed(watched)
	s.unwatch()
	if refusal != nil {
		s.answer(*refusal)
		return
	}
	replies := make([]resp.Reply, len(t.queue))
	for i, args := range t.queue {
		var buf [32]byte
		local := locals[string(lower(buf[:], args[0]))]
		replies[i] = local.run(s, args)
		if replies[i].Kind == resp.KindError {
			s.srv.stats.CountError(replies[i].Text)
		}
	}
	s.answer(resp.Array(replies...))
}

func changed(watched []commands.Watched) *resp.Reply {
	for _, w := range watched {
		if w.Outcome.Err != nil {
			return new(commands.Failed(w.Outcome.Err))
		}
	}
	for _, w := range watched {
		if w.Watch.Changed() {
			return &resp.NullArray
		}
	}
	return nil
}

// readWatched waits for what WATCH has read; it is false when the connection
// has ended meanwhile.
func readWatched(s *session) ([]commands.Watched, bool) {
	s.pipe.Flush()
	watched := make([]commands.Watched, len(s.watched))
	for i, w := range s.watched {
		select {
		case <-w.read:
		case <-s.died():
			return nil, false
		}
		watched[i] = commands.Watched{DB: w.db, Key: w.key, Outcome: w.outcome, Watch: &w.watch}
	}
	return watched, true
}

func discardCommand(s *session, _ [][]byte) {
	if s.multi == nil {
		s.refuse(resp.Error("ERR DISCARD without MULTI"))
		return
	}
	s.multi = nil
	s.unwatch()
	s.answer(resp.OK)
}

// watchCommand reads every key and arms a watch on it. It is always answered OK, at
// once: clients do not look at its reply, so what could not be read is told by
// EXEC.
func watchCommand(s *session, args [][]byte) {
	if s.multi != nil {
		s.refuse(resp.Error("ERR WATCH inside MULTI is not allowed"))
		return
	}
	if len(s.watched)+len(args)-1 > maxWatched {
		s.refuse(errTooManyWatched)
		return
	}
	if s.tooLong(args[1:]) {
		return
	}
	for _, key := range args[1:] {
		watchKey(s, string(key))
	}
	s.answer(resp.OK)
}

func watchKey(s *session, key string) {
	for _, w := range s.watched {
		if w.db == s.db && w.key == key {
			return
		}
	}
	w := &watch{db: s.db, key: key, read: make(chan struct{})}
	s.watched = append(s.watched, w)
	s.watchedBytes += len(key) + 256
	op := &quorum.Op{Kind: quorum.Read, DB: s.db, Key: key, Arm: &w.watch}
	s.srv.q.Do(op, s.pipe, func(o *quorum.Outcome) {
		w.outcome = o
		close(w.read)
	})
}

func unwatchCommand(s *session, _ [][]byte) resp.Reply {
	s.unwatch()
	return resp.OK
}

func (s *session) unwatch() {
	closeAll(s.watched)
	s.watched, s.watchedBytes = nil, 0
}

func closeAll(list []*watch) {
	for _, w := range list {
		w.watch.Close()
	}
}
