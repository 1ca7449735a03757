package commands

import (
	"slices"

	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// plan is what a command does given the states of one or more locks: changes, which are
// made all or none, and only if the locks are still in these states, and the reply then.
// Without changes the reply is the answer.
type plan struct {
	changes []quorum.Change
	// grants are changes too: they keep locks that the reply grants, and need no right of
	// their own (runner.grants).
	grants  []quorum.Change
	reply   resp.Reply
	notices []Notice
}

// all returns the changes and the grants.
func (p plan) all() []quorum.Change { return append(slices.Clone(p.changes), p.grants...) }

// decision converts the plan for one lock, found in state s.
func (p plan) decision(s quorum.State) decision {
	d := decision{reply: p.reply, notices: p.notices}
	for _, c := range p.all() {
		if c.Delete {
			d.op = quorum.Op{Kind: quorum.Release, Token: s.Token}
			continue
		}
		d.op = replace(s, quorum.Op{Token: c.Token, TTL: c.TTL, Keeps: c.Keeps})
	}
	return d
}

// decideAll returns a request that reads several locks first and then makes all changes
// of its plan, or none. choose is as in decide. If one of the watches unless has changed,
// nothing is done and the reply is the null array.
func decideAll(db int, keys []string, unless []*quorum.Watch, choose func([]quorum.State) plan) Request {
	var last plan
	op := quorum.Op{Kind: quorum.DecideAll, DB: db, Key: keys[0], Keys: keys, Unless: unless}
	op.DecideAll = func(states []quorum.State) []quorum.Change {
		last = choose(states)
		switch held, lapsed := whileHeld(keys, states); {
		case len(lapsed) == 0:
		case slices.ContainsFunc(states, func(s quorum.State) bool { return s.Spared }):
			last = sparing(keys, states, choose)
		case touches(last.changes, lapsed):
			last = choose(held)
		case len(last.all()) == 0:
			last.changes = clearing(choose(held).changes, lapsed)
		}
		return last.all()
	}
	reply := shape(func(o *quorum.Outcome) resp.Reply {
		switch {
		case o.Verdict == quorum.Won:
			return last.reply
		case anyChanged(unless):
			return resp.NullArray
		}
		return Failed(quorum.ErrLockChanged)
	})
	notices := func(outs []*quorum.Outcome) []Notice {
		if outs[0].Err != nil || outs[0].Verdict != quorum.Won {
			return nil
		}
		return last.notices
	}
	return Request{Ops: []quorum.Op{op}, Reply: reply.one(), Notices: notices}
}

// whileHeld returns the states with the lapsed locks (V3) as held, and the keys of those.
func whileHeld(keys []string, states []quorum.State) (held []quorum.State, lapsed map[string]bool) {
	for i, s := range states {
		if !s.Lapsed {
			continue
		}
		if lapsed == nil {
			held, lapsed = slices.Clone(states), map[string]bool{}
		}
		lapsed[keys[i]], held[i] = true, lapsing(s)
	}
	return held, lapsed
}

// sparing returns the plan where copies of locks that are over must be spared (V15): who would
// have such a lock also if it alone were held, and if all of them were, takes the copies as they
// are, and who would release it then deletes them. Locks that need not be spared are changed, and
// so cleared, where they would be.
func sparing(keys []string, states []quorum.State, choose func([]quorum.State) plan) plan {
	states = slices.Clone(states)
	p := choose(states)
	for i := 0; i < len(keys); i++ {
		s := states[i]
		if !s.Lapsed || s.Found {
			continue
		}
		states[i] = lapsing(s)
		does, would := p.of(keys[i]), choose(states).of(keys[i])
		switch {
		case does != nil && (would == nil || s.Spared && would.Token != does.Token):
			p, i = choose(states), -1 // nobody can take it yet
			continue
		case does == nil && would != nil && (would.Delete || !s.Spared):
			p.changes = append(p.changes, quorum.Change{Key: keys[i], Delete: true})
		}
		states[i] = s
	}
	all := slices.Clone(states)
	for i, s := range all {
		if s.Spared {
			all[i] = lapsing(s)
		}
	}
	held := choose(all)
	for i, key := range keys {
		if states[i].Spared && !sameChange(p.of(key), held.of(key)) {
			return held
		}
	}
	return p
}

// sameChange reports whether the one change, if there is one, is made by the other plan, too.
func sameChange(one, other *quorum.Change) bool {
	return one == nil || other != nil && one.Delete == other.Delete && one.Token == other.Token
}

// of returns the plan's change of a key, nil if there is none.
func (p plan) of(key string) *quorum.Change {
	all := p.all()
	if i := slices.IndexFunc(all, func(c quorum.Change) bool { return c.Key == key }); i >= 0 {
		return &all[i]
	}
	return nil
}

// touches reports whether a change would take a lapsed lock.
func touches(changes []quorum.Change, lapsed map[string]bool) bool {
	return slices.ContainsFunc(changes, func(c quorum.Change) bool { return lapsed[c.Key] })
}

// clearing returns the deletion of the lapsed locks that would be changed if they were
// held.
func clearing(changes []quorum.Change, lapsed map[string]bool) (out []quorum.Change) {
	for _, c := range changes {
		if lapsed[c.Key] {
			out = append(out, quorum.Change{Key: c.Key, Delete: true})
		}
	}
	return out
}

func anyChanged(watches []*quorum.Watch) bool {
	for _, w := range watches {
		if w.Changed() {
			return true
		}
	}
	return false
}
