package commands

import (
	"github.com/redlockd/redlockd/commands/script"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// transaction is a queue of commands as one meaning, with the watches that guard it.
type transaction struct {
	in      *Interpreter
	db      int
	watched []Watched
	meaning *script.Meaning
	// name is the command that error texts name.
	name string
	// keys are the meaning's keys, then the other watched keys; at holds the index in
	// keys of each watched key.
	keys       []string
	at         []int
	authorized authorizedPlan
}

func (t *transaction) request() Request {
	t.findKeys()
	switch {
	case len(t.keys) == 0:
		return answer(fill(t.meaning.Reply[script.Absent], quorum.State{}))
	case len(t.keys) > maxKeys:
		return refuse(errExecKeys)
	}
	for _, key := range t.keys {
		if refused := t.in.badKey(key); refused != "" {
			return refuse(refused)
		}
	}
	if refused := t.authorize(); refused != "" {
		return forbid(refused)
	}
	if len(t.keys) > 1 {
		return t.in.decideAll(t.db, t.keys, watchesOf(t.watched), t.authorized.plan)
	}
	return t.onOneKey()
}

func (t *transaction) findKeys() {
	if t.meaning.Kind == script.PerCall {
		t.keys = append(t.keys, t.meaning.Keys...)
	}
	index := make(map[string]int)
	for i, key := range t.keys {
		index[key] = i
	}
	for _, w := range t.watched {
		i, ok := index[w.Key]
		if !ok {
			i = len(t.keys)
			index[w.Key] = i
			t.keys = append(t.keys, w.Key)
		}
		t.at = append(t.at, i)
	}
}

// authorize prepares the plan under the client's rights, and returns the error text if
// these forbid it, or "". The token of a watched lock counts as named by the client:
// WATCH needs MayRead, and the plan does nothing if another lock is there now.
func (t *transaction) authorize() string {
	t.authorized.in, t.authorized.name, t.authorized.keys, t.authorized.choose = t.in, t.name, t.keys, t.plan
	t.authorized.watched = make(map[int]quorum.State, len(t.at))
	for i, at := range t.at {
		t.authorized.watched[at] = t.watched[i].state()
	}
	return t.authorized.noPlanRight()
}

// plan returns what the commands do in these states, which are those of keys; it does
// nothing if a watched key is not as it was.
func (t *transaction) plan(states []quorum.State) plan {
	for i, w := range t.watched {
		if !w.unchanged(states[t.at[i]]) {
			return plan{reply: resp.NullArray}
		}
	}
	if t.meaning.Kind != script.PerCall {
		return plan{reply: fill(t.meaning.Reply[script.Absent], quorum.State{})}
	}
	r := runner{in: t.in, db: t.db, name: t.name, meaning: t.meaning}
	return r.plan(states[:len(t.meaning.Keys)])
}

// onOneKey returns the request of a transaction on one key, which may be watched.
func (t *transaction) onOneKey() Request {
	c := call{in: t.in, db: t.db}
	req := c.decide(t.keys[0], func(s quorum.State) decision { return t.authorized.plan([]quorum.State{s}).decision(s) })
	if len(t.watched) == 0 {
		return req
	}
	reply := req.Reply
	req.Ops[0].Unless = watchesOf(t.watched)
	req.Reply = func(outs []*quorum.Outcome) resp.Reply {
		// The operation found another state than the one that was watched.
		if outs[0].Err == nil && !carriedOut(outs[0]) {
			return resp.NullArray
		}
		return reply(outs)
	}
	return req
}
