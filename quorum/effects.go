package quorum

import "github.com/redlockd/redlockd/quorum/outbox"

// What operations do to the keys, as the masters are asked for it.

// effect returns what an operation of the call does to its key, decided on by the state was, or
// by nothing that was read.
func (c *call) effect(op *Op, was State) outbox.Effect {
	e := outbox.Effect{Key: op.Key, Token: op.Token, New: op.TokenAfter()}
	if op.TTL > 0 {
		e.TTL, e.Hold = op.TTL, c.q.hold(op.TTL)
	}
	switch op.Kind {
	case Acquire:
		e.Meets, e.Does = outbox.Nothing, outbox.Stores
	case AcquireOrExtend:
		e.Meets, e.Does = outbox.Free, outbox.Raises
	case Extend:
		e.Meets, e.Does, e.Whose = outbox.Living, outbox.Raises, c.op.seenLocks(op.Key)
		switch {
		case op.renews != nil:
			e.Meets, e.Whose = outbox.Own, op.renews.id.String()
		case was.Lapsed: // its own client takes it
			e.Meets = outbox.Token
		}
		switch {
		case op.Keeps && was.Found:
			e.Does = outbox.Keeps
		case op.Replace && !op.raises:
			e.Does = outbox.Sets
		}
	case Expire:
		e.Meets, e.Does = outbox.Present, outbox.Sets
	case Store:
		e.Meets, e.Does = outbox.Anything, outbox.Stores
		if op.IfPresent {
			e.Meets = outbox.Present
		}
	case Release:
		e.Meets, e.Does, e.Whose = outbox.Token, outbox.Deletes, c.op.seenLocks(op.Key)
	case Remove:
		e.Meets, e.Does = outbox.Anything, outbox.Deletes
	}
	return e
}

// effectsOf combines the states read and the changes into the effects of a transact.
func (c *call) effectsOf(states []State, changes []Change) []outbox.Effect {
	out := make([]outbox.Effect, len(c.op.Keys))
	for i, key := range c.op.Keys {
		was := &states[i]
		e := outbox.Effect{Key: key, Meets: outbox.Nothing, Does: outbox.Leaves}
		if was.Found || was.Lapsed {
			e.Meets, e.Token, e.Whose = outbox.Token, was.Token, c.op.seenLocks(key)
		}
		for _, change := range changes {
			switch {
			case change.Key != key:
				continue
			case change.Delete:
				e.Does = outbox.Deletes
				continue
			case was.Found && change.Keeps:
				e.Does = outbox.Keeps
			case was.Found && change.TTL > was.TTL:
				e.Does = outbox.Raises
			default:
				e.Does = outbox.Stores
			}
			e.New, e.TTL, e.Hold = change.Token, change.TTL, c.q.hold(change.TTL)
		}
		out[i] = e
	}
	return out
}
