package commands

import "github.com/redlockd/redlockd/quorum"

// decision is what follows from the state of a lock: one operation that is
// carried out only while the state is still so, and what is answered then.
// With an op of Kind Read nothing is to do and the reply is the answer.
type decision struct {
	op    quorum.Op
	reply Reply
}

// leave is the decision to do nothing.
func leave(r Reply) decision { return decision{reply: r} }

// replace is the operation that gives a lock found or absent this token and
// TTL, and does nothing if the state is no longer s.
func replace(s quorum.State, op quorum.Op) quorum.Op {
	if !s.Found {
		return quorum.Op{Kind: quorum.Acquire, Token: op.Token, TTL: op.TTL}
	}
	return quorum.Op{
		Kind: quorum.Extend, Token: s.Token, TTL: op.TTL,
		NewToken: op.Token, Replace: op.Token != s.Token,
	}
}

// decide is a request that looks at the lock first. choose may be called more
// than once, by whatever goroutine, but only before the outcome is told; its
// last decision counts.
func decide(db int, key string, choose func(quorum.State) decision) Request {
	var last decision
	op := quorum.Op{Kind: quorum.Decide, DB: db, Key: key}
	op.Decide = func(s quorum.State) quorum.Op {
		last = choose(s)
		last.op.DB, last.op.Key = db, key
		return last.op
	}
	reply := shape(func(o *quorum.Outcome) Reply {
		// An operation of the decision that ended held or absent met another
		// state than the one the reply was made for.
		if o.Done != quorum.Read && o.Verdict != quorum.Won {
			return Error(errMoved)
		}
		return last.reply
	})
	return Request{Ops: []quorum.Op{op}, Reply: reply.one()}
}
