package commands

import (
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/redlockd/redlockd/commands/script"
	"github.com/redlockd/redlockd/commands/values"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// perCall returns the request of a script whose meaning was not proved for all calls: it
// runs on the states that a quorum agrees on, and its effects become one compare-and-set
// (C7), of all its keys or of none.
func perCall(c call, m *script.Meaning) Request {
	r := runner{in: c.in, db: c.db, name: "eval", meaning: m, readOnly: c.spec.readOnly}
	l := authorizedPlan{in: c.in, name: c.spec.Name, keys: m.Keys, words: clones(c.args[3:]), choose: r.plan}
	switch refused := l.noPlanRight(); {
	case refused != "":
		return forbid(refused)
	case m.Prolongs:
		return prolongEach(c, &l).with(MayRead)
	case len(m.Keys) > 1:
		return c.in.decideAll(c.db, m.Keys, nil, l.plan).with(MayRead)
	}
	choose := func(s quorum.State) decision { return l.plan([]quorum.State{s}).decision(s) }
	req := c.decide(m.Key, choose)
	if m.Hashes {
		c.foresees(&req, choose)
	}
	return req.with(MayRead)
}

// runner runs a meaning on the states found.
type runner struct {
	in *Interpreter
	db int
	// name is the command that error texts name.
	name     string
	meaning  *script.Meaning
	readOnly bool
}

// plan returns the plan that results from a run on these states, in the order of the
// meaning's keys.
func (r runner) plan(states []quorum.State) plan {
	p := r.once(states)
	p.grants = r.grants(p, states)
	return p
}

// grants returns the changes that keep the locks which the reply tells the client to be its
// own, although the run does nothing to them: it would give them their token where they are
// absent, or prolong them where little time is left, and replies otherwise where they hold
// another one. The token may also be a new one, as of a script that stores the owner and the
// time, if the reply is the same as if it had just been stored. Such a reply promises the
// locks, and the copies may be those of an attempt whose rollback is under way (V6). They
// keep the token and the TTL that they have; what is over gets the TTL that was asked for
// (V15).
func (r runner) grants(p plan, states []quorum.State) (out []quorum.Change) {
	none, ending, others := make([]quorum.State, len(states)), slices.Clone(states), slices.Clone(states)
	kept := make(map[string]int)
	for i, s := range states {
		key := r.meaning.Keys[i]
		if s.Found && !slices.ContainsFunc(p.changes, func(c quorum.Change) bool { return c.Key == key }) {
			kept[key], ending[i].TTL = i, time.Millisecond
		}
	}
	if len(kept) == 0 || p.reply.Kind == resp.KindError {
		return nil
	}
	would := []plan{r.once(none), r.once(ending)}
	for _, i := range kept {
		alone := slices.Clone(states)
		alone[i] = quorum.State{}
		would = append(would, r.once(alone))
	}
	for _, w := range would {
		alike := reflect.DeepEqual(w.reply, p.reply)
		for _, c := range w.changes {
			i, ok := kept[c.Key]
			s := states[i]
			if !ok || c.Delete || !values.SameHolders(c.Token, s.Token) && !alike {
				continue
			}
			if delete(kept, c.Key); !s.Lapsed {
				c.TTL, c.Keeps = wholeMillis(s.TTL), true
			}
			c.Token = s.Token
			out = append(out, c)
		}
	}
	for _, stranger := range []string{strangeToken, "{}", strangeHash} { // no object, one without an owner, a hash
		for _, c := range out {
			others[slices.Index(r.meaning.Keys, c.Key)].Token = stranger
		}
		if len(out) > 0 && reflect.DeepEqual(r.once(others).reply, p.reply) {
			return nil
		}
	}
	return out
}

// once returns the plan of one run, without grants.
func (r runner) once(states []quorum.State) plan {
	found := make([]script.State, len(states))
	for i, s := range states {
		found[i] = script.State{Found: s.Found, Value: s.Token, TTL: s.TTL}
	}
	res, err := r.meaning.Run(found)
	if err != nil {
		return plan{reply: resp.Error(r.failed(err))}
	}
	p := plan{reply: fill(res.Reply, quorum.State{}), readsLeft: res.ReadsLeft}
	for i, e := range res.Effects {
		change, does, refused := r.change(e, states[i])
		if refused != "" {
			return plan{reply: resp.Error(refused)}
		}
		if does {
			change.Key = r.meaning.Keys[i]
			p.changes = append(p.changes, change)
		}
	}
	if r.readOnly && len(p.changes) > 0 {
		return plan{reply: resp.Error(errReadOnly)}
	}
	lock := r.meaning.Key
	if len(r.meaning.Keys) > 1 && len(res.Notices) > 1 {
		lock = "" // which notice is about which key is unknown
	}
	p.notices, p.latches = noticesOf(r.db, lock, res.Notices), res.Latches
	return p
}

// failed returns the error text of a run that was refused.
func (r runner) failed(err error) string {
	var refused *script.RefusedError
	switch {
	case r.name == "eval" || !errors.As(err, &refused):
		return scriptError(err)
	case r.name == "exec":
		return notATransaction(refused.Did)
	}
	return severalError(r.name, err)
}

// change returns what a run's effect on the model means for the lock; false if nothing.
func (r runner) change(e script.Effect, s quorum.State) (quorum.Change, bool, string) {
	switch {
	case e.Kind == script.Delete && s.Found:
		return quorum.Change{Delete: true}, true, ""
	case e.Kind == script.Set && r.in.limits.token.over(len(e.Value)):
		return quorum.Change{}, false, errLongToken
	case e.Kind == script.Set:
		ttl, refused := r.in.scriptTTL(r.name, e.TTL)
		return quorum.Change{Token: e.Value, TTL: ttl, Keeps: e.Keeps}, true, refused
	case e.Kind == script.SetTTL && s.Found:
		ttl, refused := r.in.scriptTTL(r.name, e.TTL)
		return quorum.Change{Token: s.Token, TTL: ttl, Keeps: e.Keeps}, true, refused
	}
	return quorum.Change{}, false, ""
}

// fill makes a reply from a script's value, and its Stored parts from the state.
func fill(v script.Value, s quorum.State) resp.Reply {
	switch v.Kind {
	case script.Int:
		return resp.Int(v.Int)
	case script.Bulk:
		return resp.Bulk(v.Text)
	case script.Status:
		return resp.Status(oneLine(v.Text))
	case script.Error:
		return resp.Error(oneLine(v.Text))
	case script.Array, script.Map:
		items := make([]resp.Reply, len(v.Items))
		for i, item := range v.Items {
			items[i] = fill(item, s)
		}
		if v.Kind == script.Map {
			return resp.Reply{Kind: resp.KindMap, Items: items}
		}
		return resp.Array(items...)
	case script.StoredValue, script.StoredPTTL, script.StoredTTL:
		return fillStored(v.Kind, s)
	}
	return resp.Null
}

func fillStored(kind script.ValueKind, s quorum.State) resp.Reply {
	switch {
	case kind == script.StoredValue && !s.Found:
		return resp.Null
	case kind == script.StoredValue:
		return resp.Bulk(s.Token)
	case !s.Found:
		return resp.Int(-2)
	case kind == script.StoredTTL:
		return resp.Int(seconds(s.TTL.Milliseconds()))
	}
	return resp.Int(s.TTL.Milliseconds())
}
