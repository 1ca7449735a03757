package commands

import (
	"slices"

	"github.com/redlockd/redlockd/commands/script"
	"github.com/redlockd/redlockd/commands/values"
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
	latches []script.Latch
	// readsLeft reports whether the plan depends on what is left of a TTL.
	readsLeft bool
}

// all returns the changes and the grants.
func (p plan) all() []quorum.Change { return append(slices.Clone(p.changes), p.grants...) }

// decision converts the plan for one lock, found in state s.
func (p plan) decision(s quorum.State) decision {
	d := decision{reply: p.reply, notices: p.notices, latches: p.latches, readsLeft: p.readsLeft}
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
func (in *Interpreter) decideAll(db int, keys []string, unless []*quorum.Watch, choose func([]quorum.State) plan) Request {
	var last plan
	op := quorum.Op{Kind: quorum.DecideAll, DB: db, Key: keys[0], Keys: keys, Unless: unless}
	op.DecideAll = func(states []quorum.State) []quorum.Change {
		if last = choose(states); slices.ContainsFunc(states, isOver) {
			last = whileOver(keys, states, choose)
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
		in.scripts.Keep(db, last.latches)
		return last.notices
	}
	return Request{Ops: []quorum.Op{op}, Reply: reply.one(), Notices: notices}
}

// isOver reports whether a state is that of a lock whose TTL is over, and not taken as held.
func isOver(s quorum.State) bool { return s.Lapsed && !s.Found }

// whileOver returns the plan where locks are over, but not their copies (V15): who would have such
// a lock also if it alone were held, and if all of them were, takes the copies as they are, and
// who would release it then deletes them.
func whileOver(keys []string, states []quorum.State, choose func([]quorum.State) plan) plan {
	states = slices.Clone(states)
	p := choose(states)
	for i := 0; i < len(keys); i++ {
		s := states[i]
		if !isOver(s) {
			continue
		}
		states[i] = lapsing(s)
		does, would := p.of(keys[i]), choose(states).of(keys[i])
		switch {
		case does != nil && (would == nil || !values.SameHolders(would.Token, does.Token)):
			p, i = choose(states), -1 // nobody can take it yet
			continue
		case does == nil && would != nil && would.Delete:
			p.changes = append(p.changes, quorum.Change{Key: keys[i], Delete: true})
		}
		states[i] = s
	}
	all := slices.Clone(states)
	for i, s := range all {
		if isOver(s) {
			all[i] = lapsing(s)
		}
	}
	held := choose(all)
	for i, key := range keys {
		if isOver(states[i]) && !sameChange(p.of(key), held.of(key)) {
			return held
		}
	}
	return p
}

// sameChange reports whether the one change, if there is one, is made by the other plan, too.
func sameChange(one, other *quorum.Change) bool {
	return one == nil || other != nil && one.Delete == other.Delete && values.SameHolders(one.Token, other.Token)
}

// of returns the plan's change of a key, nil if there is none.
func (p plan) of(key string) *quorum.Change {
	all := p.all()
	if i := slices.IndexFunc(all, func(c quorum.Change) bool { return c.Key == key }); i >= 0 {
		return &all[i]
	}
	return nil
}

func anyChanged(watches []*quorum.Watch) bool {
	for _, w := range watches {
		if w.Changed() {
			return true
		}
	}
	return false
}
