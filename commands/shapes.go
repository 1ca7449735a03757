package commands

import "github.com/redlockd/redlockd/quorum"

// shape is a reply by the outcome of one operation that was decided.
type shape func(*quorum.Outcome) Reply

// one is the reply of a command of one operation: its error if nobody can
// tell (P4), else the shape.
func (s shape) one() func([]*quorum.Outcome) Reply {
	return func(outs []*quorum.Outcome) Reply {
		if r, failed := failure(outs); failed {
			return r
		}
		return s(outs[0])
	}
}

// each is the reply of a command that answers an array, an item an operation.
func (s shape) each() func([]*quorum.Outcome) Reply {
	return func(outs []*quorum.Outcome) Reply {
		if r, failed := failure(outs); failed {
			return r
		}
		items := make([]Reply, len(outs))
		for i, o := range outs {
			items[i] = s(o)
		}
		return Array(items...)
	}
}

// sum is the reply of a command that counts: the integers of the operations,
// added up.
func (s shape) sum() func([]*quorum.Outcome) Reply {
	return func(outs []*quorum.Outcome) Reply {
		if r, failed := failure(outs); failed {
			return r
		}
		var n int64
		for _, o := range outs {
			n += s(o).Int
		}
		return Int(n)
	}
}

// failure is the reply that comes before every shape: one operation that was
// not decided makes the whole reply its error.
func failure(outs []*quorum.Outcome) (Reply, bool) {
	for _, o := range outs {
		if o.Err != nil {
			return Failed(o.Err), true
		}
	}
	return Reply{}, false
}

// wonOr is yes for an operation that was carried out, else no.
func wonOr(yes, no Reply) shape {
	return func(o *quorum.Outcome) Reply {
		if o.Verdict == quorum.Won {
			return yes
		}
		return no
	}
}

// foundOr is yes(token) where a read found a lock, else no.
func foundOr(yes func(token string) Reply, no Reply) shape {
	return func(o *quorum.Outcome) Reply {
		if o.Verdict == quorum.Held {
			return yes(o.State.Token)
		}
		return no
	}
}

// The shapes of most commands; made once, since a closure a command costs an
// allocation.
var (
	okOrNull  = wonOr(OK, Null).one()
	oneOrZero = wonOr(Int(1), Int(0)).one()
	countWon  = wonOr(Int(1), Int(0)).sum()
)
