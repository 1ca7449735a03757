package commands

import (
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// shape is a reply by the outcome of one operation that was decided.
type shape func(*quorum.Outcome) resp.Reply

// one is the reply of a command of one operation: its error if nobody can
// tell (P4), else the shape.
func (s shape) one() func([]*quorum.Outcome) resp.Reply {
	return func(outs []*quorum.Outcome) resp.Reply {
		if r, failed := failure(outs); failed {
			return r
		}
		return s(outs[0])
	}
}

// each is the reply of a command that answers an array, an item an operation.
func (s shape) each() func([]*quorum.Outcome) resp.Reply {
	return func(outs []*quorum.Outcome) resp.Reply {
		if r, failed := failure(outs); failed {
			return r
		}
		items := make([]resp.Reply, len(outs))
		for i, o := range outs {
			items[i] = s(o)
		}
		return resp.Array(items...)
	}
}

// sum is the reply of a command that counts: the integers of the operations,
// added up.
func (s shape) sum() func([]*quorum.Outcome) resp.Reply {
	return func(outs []*quorum.Outcome) resp.Reply {
		if r, failed := failure(outs); failed {
			return r
		}
		var n int64
		for _, o := range outs {
			n += s(o).Int
		}
		return resp.Int(n)
	}
}

// failure is the reply that comes before every shape: one operation that was
// not decided makes the whole reply its error.
func failure(outs []*quorum.Outcome) (resp.Reply, bool) {
	for _, o := range outs {
		if o.Err != nil {
			return Failed(o.Err), true
		}
	}
	return resp.Reply{}, false
}

// wonOr is yes for an operation that was carried out, else no.
func wonOr(yes, no resp.Reply) shape {
	return func(o *quorum.Outcome) resp.Reply {
		if o.Verdict == quorum.Won {
			return yes
		}
		return no
	}
}

// foundOr is yes(token) where a read found a lock, else no.
func foundOr(yes func(token string) resp.Reply, no resp.Reply) shape {
	return func(o *quorum.Outcome) resp.Reply {
		if o.Verdict == quorum.Held {
			return yes(o.State.Token)
		}
		return no
	}
}

// The shapes of most commands; made once, since a closure a command costs an
// allocation.
var (
	okOrNull  = wonOr(resp.OK, resp.Null).one()
	oneOrZero = wonOr(resp.Int(1), resp.Int(0)).one()
	countWon  = wonOr(resp.Int(1), resp.Int(0)).sum()
)
