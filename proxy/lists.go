package proxy

import (
	"time"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/notify"
	"github.com/redlockd/redlockd/quorum"
)

// llenCommand is LLEN of a signal list. Of a lock it is Redis's error.
func llenCommand(s *session, args [][]byte) {
	key, db := string(args[1]), s.db
	if quorum.Reserved(key) {
		s.refuse(errReserved)
		return
	}
	if s.tooLong(args[1:]) {
		return
	}
	reply := func(outs []*quorum.Outcome) resp.Reply {
		switch o := outs[0]; {
		case o.Err != nil:
			return commands.Failed(o.Err)
		case o.Verdict == quorum.Held:
			return resp.Error("WRONGTYPE Operation against a key holding the wrong kind of value")
		}
		items, _ := s.srv.signals.Peek(notify.Signal{DB: db, Key: key}, time.Now())
		return resp.Int(int64(items))
	}
	s.begin(commands.Request{Ops: []quorum.Op{{Kind: quorum.Read, DB: db, Key: key}}, Reply: reply}, 256+len(key), nil)
}

// withLists lets a reply see the signal lists, which no master has: when it is
// made, since what the session has sent before may fill one.
func (s *Server) withLists(req *commands.Request) {
	tell := req.List
	if tell == nil || len(req.Ops) == 0 {
		return
	}
	ofLocks, ops := req.Reply, req.Ops
	req.Reply = func(outs []*quorum.Outcome) resp.Reply {
		r := ofLocks(outs)
		if r.Kind == resp.KindError {
			return r
		}
		for i := range ops {
			if items, left := s.signals.Peek(notify.Signal{DB: ops[i].DB, Key: ops[i].Key}, time.Now()); items > 0 {
				tell(&r, left)
			}
		}
		return r
	}
}

// notify tells those who wait what a script or a transaction has to say, once
// it was carried out.
func (s *Server) notify(list []commands.Notice) {
	for _, n := range list {
		if n.Signal != "" && len(n.Signal) > s.cfg().MaxKeyBytes {
			continue // a script has made it; nobody can wait for it
		}
		if n.Signal != "" {
			s.signals.Fill(n, time.Now())
			continue
		}
		s.hub.Publish(n.Sharded, n.Channel, n.Message)
	}
}
