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
