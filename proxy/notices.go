package proxy

import (
	"time"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/notify"
	"github.com/redlockd/redlockd/quorum"
)

// withLists lets the reply of a request include the signal lists, which are on no master.
// It returns what looks at them (Slot.After), or nil: the commands of the session before
// this one may fill a list, and those behind it too. A removal deletes them.
func (s *Server) withLists(req *commands.Request) (look func([]*quorum.Outcome)) {
	tell := req.List
	if tell == nil || len(req.Ops) == 0 {
		return nil
	}
	ofLocks, ops := req.Reply, req.Ops
	var kept []time.Duration // for how long each list that was found is
	req.Reply = func(outs []*quorum.Outcome) resp.Reply {
		r := ofLocks(outs)
		if r.Kind == resp.KindError {
			return r
		}
		for _, left := range kept {
			tell(&r, left)
		}
		return r
	}
	return func([]*quorum.Outcome) {
		for i := range ops {
			at := notify.Signal{DB: ops[i].DB, Key: ops[i].Key}
			if items, left := s.signals.Peek(at, time.Now()); items > 0 {
				kept = append(kept, left)
			}
			if ops[i].Kind == quorum.Remove {
				s.signals.Drop(at)
			}
		}
	}
}

// notify publishes the messages of a script or transaction that was carried out, and
// fills its lists.
func (s *Server) notify(list []commands.Notice) {
	for _, n := range list {
		if n.Signal != "" && len(n.Signal) > s.cfg().MaxKeyBytes {
			continue // a script has made it; BLPOP refuses names as long
		}
		if n.Signal != "" {
			s.relay.Fill(n, time.Now())
			continue
		}
		s.relay.Publish(n.Sharded, n.Channel, n.Message)
	}
}
