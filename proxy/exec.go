package proxy

import (
	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

func multiCommand(s *session, _ [][]byte) {
	if s.multi != nil {
		s.refuse(resp.Error("ERR MULTI calls can not be nested"))
		return
	}
	s.multi = &transaction{}
	s.answer(resp.OK)
}

// execCommand carries out what was queued. It waits until the reads of WATCH are
// answered, which the quorum bounds in time, because the transaction is made from them.
// Until then nothing more is read, so the order of operations on a key holds.
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
	case t.local == len(t.queue):
		execLocal(s, t)
	case t.local > 0 && !mixes(t.queue):
		s.unwatch()
		s.refuse(errMixed)
	default:
		execLocks(s, t)
	}
}

// execLocks hands the transaction to the quorum. The watches stay armed until the
// operation ends, because it still checks them.
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

// execLocal answers a transaction of commands of the connection only, unless a watched
// key has changed.
func execLocal(s *session, t *transaction) {
	watched, ok := readWatched(s)
	if !ok {
		return
	}
	refusal, ok := lookAgain(s, watched)
	if !ok {
		return
	}
	s.unwatch()
	if refusal != nil {
		s.answer(*refusal)
		return
	}
	s.pipe.AwaitOutcomes()
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

// readWatched waits until all reads of WATCH are answered. It returns false when the
// connection has ended meanwhile.
func readWatched(s *session) ([]commands.Watched, bool) {
	s.pipe.Flush()
	watched := make([]commands.Watched, len(s.watched))
	for i, w := range s.watched {
		select {
		case <-w.read:
		case <-s.connClosed():
			return nil, false
		}
		watched[i] = commands.Watched{DB: w.db, Key: w.key, Outcome: w.outcome, Watch: &w.watch}
	}
	return watched, true
}

// lookAgain reads the watched keys once more, behind all operations that this session
// sent before and that may change them (V7). It returns the reply with which EXEC does
// nothing, or nil, and false when the connection has ended meanwhile.
func lookAgain(s *session, watched []commands.Watched) (*resp.Reply, bool) {
	s.pipe.Flush()
	refusals, looked := make([]*resp.Reply, len(watched)), make(chan struct{}, len(watched))
	for i, w := range watched {
		op := &quorum.Op{Kind: quorum.Read, DB: w.DB, Key: w.Key}
		s.srv.q.Do(op, s.pipe, func(o *quorum.Outcome) {
			refusals[i] = w.Refusal(o)
			looked <- struct{}{}
		})
	}
	for range watched {
		select {
		case <-looked:
		case <-s.connClosed():
			return nil, false
		}
	}
	for _, r := range refusals {
		if r != nil {
			return r, true
		}
	}
	return nil, true
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

// watchCommand reads every key and arms a watch on it, and answers OK when that is done.
// It answers OK even if a key could not be read, because clients do not look at WATCH's
// reply: EXEC answers the error then. Whatever changes a key after the OK counts as a
// change.
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
	var ops []quorum.Op
	before := len(s.watched)
	for _, key := range args[1:] {
		if w := s.watchKey(s.db, string(key)); w != nil {
			ops = append(ops, quorum.Op{Kind: quorum.Read, DB: w.db, Key: w.key, Arm: &w.watch})
		}
	}
	if len(ops) == 0 {
		s.answer(resp.OK)
		return
	}
	sl, added := s.slot(resp.OK), s.watched[before:]
	sl.After = func(outs []*quorum.Outcome) {
		for i, w := range added {
			w.outcome = outs[i]
			close(w.read)
		}
	}
	s.handDown(sl, ops)
}

// armReads lets the reads of watched keys tell the watches what they find: a lock that was not there
// at WATCH has changed the key, also if it has gone again by EXEC (S4).
func (s *session) armReads(ops []quorum.Op) {
	for i := range ops {
		op := &ops[i]
		for _, w := range s.watched {
			if op.Kind == quorum.Read && op.Arm == nil && w.db == op.DB && w.key == op.Key {
				op.Arm = &w.watch
			}
		}
	}
}

func unwatchCommand(s *session, _ [][]byte) resp.Reply {
	s.unwatch()
	return resp.OK
}

// mixes reports whether the commands of the connection in a queue may all stand
// beside its lock commands.
func mixes(queue [][][]byte) bool {
	for _, args := range queue {
		var buf [32]byte
		name := lower(buf[:], args[0])
		if local, isLocal := locals[string(name)]; isLocal && !local.besideLocks {
			return false
		}
	}
	return true
}

// mixedRequest returns the request of the queue's lock commands. When it was carried out,
// the replies of the other commands are put in their places.
func mixedRequest(s *session, t *transaction, watched []commands.Watched) commands.Request {
	if t.local == 0 {
		return s.in.Exec(s.db, watched, t.queue)
	}
	var locks [][][]byte
	late := make([]func() resp.Reply, len(t.queue))
	for i, args := range t.queue {
		var buf [32]byte
		local, isLocal := locals[string(lower(buf[:], args[0]))]
		switch {
		case !isLocal:
			locks = append(locks, args)
		case local.special != nil:
			late[i] = func() resp.Reply { return local.run(s, args) } // PUBLISH, which runs when EXEC is answered
		default:
			reply := local.run(s, args)
			late[i] = func() resp.Reply { return reply }
		}
	}
	req := s.in.Exec(s.db, watched, locks)
	inner := req.Reply
	req.Reply = func(outs []*quorum.Outcome) resp.Reply {
		r := inner(outs)
		if r.Kind != resp.KindArray {
			return r
		}
		all, next := make([]resp.Reply, len(late)), 0
		for i := range late {
			if late[i] != nil {
				all[i] = late[i]()
				continue
			}
			all[i] = r.Items[next]
			next++
		}
		return resp.Array(all...)
	}
	return req
}
