package proxy

import (
	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// mixes reports whether the commands of the connection in a queue may all stand
// beside its lock commands.
func mixes(queue [][][]byte) bool {
	for _, args := range queue {
		var buf [32]byte
		name := lower(buf[:], args[0])
		if local, isLocal := locals[string(name)]; isLocal && !local.beside {
			return false
		}
	}
	return true
}

// mixedRequest is the transaction of the lock commands, with the replies of the
// others put in their places when it was carried out.
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
			late[i] = func() resp.Reply { return local.run(s, args) } // PUBLISH, which is told last
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
