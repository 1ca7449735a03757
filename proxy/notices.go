package proxy

import (
	"time"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/notify"
	"github.com/redlockd/redlockd/quorum"
)

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
