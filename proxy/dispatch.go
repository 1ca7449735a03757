package proxy

import (
	"strings"
	"time"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/history"
	"github.com/redlockd/redlockd/proxy/replies"
	"github.com/redlockd/redlockd/quorum"
)

// interpreter is what a session needs of package commands.
type interpreter interface {
	Understand(db int, args [][]byte) (commands.Request, bool)
	Check(args [][]byte) (ok bool, refusal resp.Reply)
	Exec(db int, watched []commands.Watched, queue [][][]byte) commands.Request
	Scripts() int
}

// dispatch carries out one command. Its checks are in the order of Redis's.
func (s *session) dispatch(args [][]byte) {
	s.mode.next()
	s.srv.stats.Commands.Add(1)
	var buf [32]byte
	name := lower(buf[:], args[0])
	local, isLocal := locals[string(name)]
	s.noteCommand(name, args)
	switch {
	case string(name) == "post" || string(name) == "host:":
		s.crossProtocol()
	case s.user == nil && !local.beforeLogin:
		s.abortMulti()
		s.refuse(resp.Error("NOAUTH Authentication required."))
	case isLocal && !commands.Takes(local.arity, len(args)):
		s.abortMulti()
		s.refuse(wrongArity(local.name))
	case isLocal && s.user != nil && s.refuseWithoutRight(string(name), args):
	case s.protocol() == 2 && s.subs.Count() > 0 && !local.whileSubscribed:
		s.abortMulti()
		s.refuse(notSubscribed(name))
	case s.multi != nil && !local.runsInMulti:
		enqueue(s, local, isLocal, args)
	case local.special != nil:
		local.special(s, args)
	case isLocal:
		s.answerLocal(local, args)
	default:
		s.lockCommand(name, args)
	}
}

// notSubscribed refuses a command in the subscriber mode of RESP2.
func notSubscribed(name []byte) resp.Reply {
	code := "ERR "
	if string(name) == "exec" {
		code = "EXECABORT Transaction discarded because of: "
	}
	return resp.Error(code + "Can't execute '" + resp.Clean(name, 32) + "': only (P|S)SUBSCRIBE / " +
		"(P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context")
}

// refuseWithoutRight refuses a command of the connection that the user has no right to,
// and reports whether it did.
func (s *session) refuseWithoutRight(name string, args [][]byte) bool {
	refused := noRightTo(s.user, name, args)
	if refused == "" {
		return false
	}
	s.abortMulti()
	s.refuse(resp.Error(refused))
	return true
}

// crossProtocol closes a connection that speaks HTTP, as Redis does: a web page may have
// made a browser send a request with commands in its body.
func (s *session) crossProtocol() {
	s.srv.stats.ProtocolErrors.Add(1)
	s.Log().Debug("closing a connection that speaks HTTP")
	s.quit = true
}

// answerLocal runs the command before it makes the slot, because HELLO's own reply is in
// the protocol that HELLO asks for.
func (s *session) answerLocal(local localCommand, args [][]byte) {
	r := local.run(s, args)
	if r.Kind == resp.KindError {
		s.refuse(r)
		return
	}
	s.answer(r)
}

// refuse answers with an error, without asking the masters.
func (s *session) refuse(r resp.Reply) {
	s.srv.stats.CountError(r.Text)
	s.answer(r)
}

// lockCommand hands a command of package commands to the quorum.
func (s *session) lockCommand(name []byte, args [][]byte) {
	req, ok := s.in.Understand(s.db, args)
	if !ok {
		s.refuse(unknownCommand(&s.srv.stats, name, args))
		return
	}
	if req, ok = swept(s, req); !ok {
		return
	}
	s.armReads(req.Ops)
	look := s.srv.withLists(&req)
	size := 256
	for _, a := range args {
		size += len(a)
	}
	s.begin(req, size, look)
}

// begin queues the slot of a request and then starts its operations. The slot comes first
// because Do may call done before it returns. Do is called here, in the reading
// goroutine, because the order of its calls is the order of operations on a key (V7).
func (s *session) begin(req commands.Request, size int, after func([]*quorum.Outcome)) {
	sl := &replies.Slot{Shape: req.Reply, Proto: s.protocol(), Silent: s.mode.silent(), Size: size, After: after}
	if len(req.Ops) == 0 {
		sl.Reply, sl.Shape = req.Reply(nil), nil
		if sl.Reply.Kind == resp.KindError {
			s.srv.stats.CountError(sl.Reply.Text)
		}
		sl.Size = resp.Size(sl.Reply)
		if after != nil {
			after(nil)
		}
		s.pipe.Add(sl)
		return
	}
	if req.Notices != nil {
		sl.After = func(outs []*quorum.Outcome) {
			s.srv.notify(req.Notices(outs))
			if after != nil {
				after(outs)
			}
		}
	}
	s.handDown(sl, req.Ops)
}

// handDown queues a slot that waits for operations, and starts these.
func (s *session) handDown(sl *replies.Slot, ops []quorum.Op) {
	sl.Command, sl.Holder, sl.Held = s.called, s.identity(), s.srv.held
	sl.Expect(ops)
	s.pipe.Add(sl)
	for i := range ops {
		s.srv.q.Do(&ops[i], s.pipe, func(o *quorum.Outcome) { s.pipe.Outcome(sl, i, o) })
	}
}

// tooLong refuses a command of the connection that names a key beyond max_key_bytes, and
// reports whether it did.
func (s *session) tooLong(keys [][]byte) bool {
	most := s.srv.cfg().MaxKeyBytes
	for _, key := range keys {
		if len(key) > most {
			s.refuse(commands.ErrLongKey)
			return true
		}
	}
	return false
}

// noteCommand copies the session's state, as it is when this command begins, to
// clientInfo.
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
	s.lastCommand = time.Now()
	s.clientInfo.change(func(c *clientState) {
		c.command, c.db, c.queued, c.watched = command, s.db, s.queued(), len(s.watched)
		c.subs = s.subs.Counts()
		c.at, c.in = s.lastCommand, s.frames.Bytes()
		c.commands++
	})
}

// rename sets the name of the session (CLIENT SETNAME).
func (s *session) rename(name string) {
	s.clientInfo.change(func(c *clientState) { c.name = name })
	s.holder = nil
}

// identity returns the session as history records it for the locks that it takes.
func (s *session) identity() *history.Holder {
	if s.holder == nil {
		c := s.clientInfo.state()
		s.holder = &history.Holder{Session: s.id, Name: c.name, Address: s.remote(), User: c.user}
	}
	return s.holder
}
