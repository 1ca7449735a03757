package commands

import (
	"github.com/redlockd/redlockd/commands/values"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// shape makes the reply to one operation that was decided.
type shape func(*quorum.Outcome) resp.Reply

// one returns the reply of a command of one operation: the error if it was not decided
// (P4), else the shape.
func (s shape) one() func([]*quorum.Outcome) resp.Reply {
	return func(outs []*quorum.Outcome) resp.Reply {
		if r, failed := failure(outs); failed {
			return r
		}
		return s(outs[0])
	}
}

// each returns the reply of a command that answers an array, one item for each operation.
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

// sum returns the reply of a command that counts: the sum of the operations' integers.
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

// failure returns the error if an operation was not decided: it is the whole reply then.
func failure(outs []*quorum.Outcome) (resp.Reply, bool) {
	for _, o := range outs {
		if o.Err != nil {
			return Failed(o.Err), true
		}
	}
	return resp.Reply{}, false
}

// wonOr returns the shape that is yes for an operation that was carried out, else no.
func wonOr(yes, no resp.Reply) shape {
	return func(o *quorum.Outcome) resp.Reply {
		if o.Verdict == quorum.Won {
			return yes
		}
		return no
	}
}

// foundOr returns the shape that is yes(token) if a read found a lock, else no.
func foundOr(yes func(token string) resp.Reply, no resp.Reply) shape {
	return func(o *quorum.Outcome) resp.Reply {
		if o.Verdict == quorum.Held {
			return yes(o.State.Token)
		}
		return no
	}
}

// stringOr is foundOr for commands on strings.
func stringOr(yes func(token string) resp.Reply, no resp.Reply) shape {
	return foundOr(func(token string) resp.Reply {
		if values.Hidden(token) {
			return resp.Error(errWrongType)
		}
		return yes(token)
	}, no)
}

// comparedOr is wonOr for operations that compare the token, and so are for strings only.
func comparedOr(yes, no resp.Reply) shape {
	return func(o *quorum.Outcome) resp.Reply {
		if o.Verdict == quorum.Held && values.Hidden(o.State.Token) {
			return resp.Error(errWrongType)
		}
		return wonOr(yes, no)(o)
	}
}

// notString returns the refusal of a command on strings where a hash was found, and whether it
// was.
func notString(s quorum.State) (decision, bool) {
	return doNothing(resp.Error(errWrongType)), s.Found && values.Hidden(s.Token)
}

// The shapes of most commands, made once to save an allocation for each command.
var (
	okOrNull  = wonOr(resp.OK, resp.Null).one()
	oneOrZero = wonOr(resp.Int(1), resp.Int(0)).one()
	okIfEqual = comparedOr(resp.OK, resp.Null).one()
	oneIfSame = comparedOr(resp.Int(1), resp.Int(0)).one()
	countWon  = wonOr(resp.Int(1), resp.Int(0)).sum()
)
