package commands

import (
	"reflect"
	"slices"

	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// prolonging is a call of a script that does nothing to its keys but prolong them, each by what
// it holds itself. So each is an operation of its own: where one cannot be decided on, the reply is
// an error, but the others are prolonged.
type prolonging struct {
	l *authorizedPlan
	// expected are the states that were seen last, foreseen is what follows from all of them, in
	// one run.
	expected []quorum.State
	foreseen plan
	found    []quorum.State
}

// prolongEach returns the request of such a call.
func prolongEach(c call, l *authorizedPlan) Request {
	p := &prolonging{l: l, expected: make([]quorum.State, len(l.keys)), found: make([]quorum.State, len(l.keys))}
	p.foresee(c)
	all := Request{Reply: p.reply}
	parts := make([]Request, len(l.keys))
	for i, key := range l.keys {
		parts[i] = c.decide(key, func(s quorum.State) decision { return p.choose(i, s) })
		op := &parts[i].Ops[0]
		decides := op.Decide
		op.Decide = func(s quorum.State) quorum.Op {
			p.found[i] = s
			return decides(s)
		}
		op.Expect = func() (quorum.State, bool) { return p.expected[i], p.expected[i].Found }
		c.notes(&parts[i])
		all.Ops = append(all.Ops, *op)
	}
	all.Notices = func(outs []*quorum.Outcome) []Notice {
		for i := range parts {
			parts[i].Notices(outs[i : i+1])
		}
		return nil
	}
	return all
}

// foresee runs the script on the states that were seen last, if any was.
func (p *prolonging) foresee(c call) {
	later := make([]quorum.State, len(p.expected))
	some := false
	for i, key := range p.l.keys {
		if token := c.in.seen.of(place{c.db, key}); token != "" {
			p.expected[i], some = expected(token), true
			later[i] = p.expected[i]
			later[i].TTL = c.in.cfg.MaxTTL
		}
	}
	if !some {
		return
	}
	p.foreseen = p.l.plan(p.expected)
	if p.foreseen.readsLeft || !reflect.DeepEqual(p.foreseen, p.l.plan(later)) {
		clear(p.expected)
	}
}

// choose returns what the script does to key i alone, in the state s.
func (p *prolonging) choose(i int, s quorum.State) decision {
	whole := p.foreseen
	if e := p.expected[i]; !e.Found || s.Lapsed || !same(e, s) {
		states := make([]quorum.State, len(p.l.keys))
		states[i] = s
		whole = p.l.plan(states)
	}
	others := func(c quorum.Change) bool { return c.Key != p.l.keys[i] }
	return plan{
		changes: slices.DeleteFunc(slices.Clone(whole.changes), others),
		grants:  slices.DeleteFunc(slices.Clone(whole.grants), others),
		reply:   whole.reply,
	}.decision(s)
}

// reply runs the script on all that was found. Only here it shows if the keys depend on one
// another, or if one was changed meanwhile.
func (p *prolonging) reply(outs []*quorum.Outcome) resp.Reply {
	if r, failed := failure(outs); failed {
		return r
	}
	for i, o := range outs {
		if !carriedOut(o) {
			p.found[i] = quorum.State{} // the lock was lost meanwhile
		}
	}
	whole := p.l.plan(p.found)
	for i, o := range outs {
		if (whole.of(p.l.keys[i]) != nil) != (o.Done == quorum.Extend && carriedOut(o)) {
			return Failed(quorum.ErrLockChanged)
		}
	}
	return whole.reply
}
