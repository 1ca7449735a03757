package script

import (
	"slices"

	"github.com/redlockd/redlockd/commands/script/lua"
)

// result is one finished run of a proof.
type result struct {
	reply   template
	key     *keyModel
	notices []sealedNotice
}

// summary is what the proof found out about all calls of one form.
type summary struct {
	refused *RefusedError // if not nil, the other fields are not set
	kind    Kind
	key     value // sealed, string, or nil
	token   int   // class, or -1
	ttl     linear
	reply   [states]template
	fixed   *[states]Value // the replies, if they are the same for all calls
	notices [states][]sealedNotice
}

// size returns about how many bytes the replies and notices take.
func (l *summary) size() (n int) {
	for state := range l.reply {
		n += l.reply[state].size() + 500*len(l.notices[state])
	}
	return n
}

// hasNotices reports whether there is a notice in any state.
func (l *summary) hasNotices() bool {
	for state := range l.notices {
		if len(l.notices[state]) > 0 {
			return true
		}
	}
	return false
}

// prove runs the script with sealed inputs, in every state, until no run ends early. Each
// revealInput reveals one more input, so the loop ends. It changes f.revealed.
func prove(c *chunk, f *form) *summary {
	b, token := lua.NewBudget(), -1
	for {
		results, end := proveStates(c, f, b, token)
		switch end := end.(type) {
		case nil:
			return classify(results, token)
		case *RefusedError:
			return &summary{refused: end}
		case tokenFound:
			token = end.class
		case revealInput:
			if end.class == token {
				return &summary{kind: PerCall}
			}
			f.revealed |= 1 << end.class
			token = -1
		default:
			return &summary{kind: PerCall}
		}
	}
}

// proveStates runs the script where the key is absent, holds the token, another string, and
// something else; what would be refused only there is answered as Redis answers the command. A script without a token cannot tell the last two apart. A key with the
// token and no TTL is not tried, because redlockd keeps no such locks.
func proveStates(c *chunk, f *form, b *lua.Budget, token int) (results [states]result, end ending) {
	found := [states]content{
		Ours:  {exists: true, value: sealed{token}, expiry: expiry{kind: asFound}},
		Other: {exists: true, value: stored{}, expiry: expiry{kind: asFound}},
		Typed: {exists: true, value: otherKind{}, expiry: expiry{kind: asFound}},
	}
	if token < 0 {
		found[Ours] = found[Other]
	}
	var name value
	for state := range found {
		s := onlyKey(found[state])
		s.db = f.db
		r := &run{Budget: b, chunk: c, form: f, proving: true, token: token, space: s}
		reply, end := r.execute(r.script)
		if _, refused := end.(*RefusedError); refused && state == Typed {
			reply, end = template{value: Value{Kind: Error, Text: wrongType}}, nil
			s.keys, s.notices = nil, nil
		}
		if end != nil {
			return results, end
		}
		k := s.key(found[state])
		if name != nil && k.name != nil && k.name != name {
			return results, unproved{} // one key in all states
		}
		if k.name == nil {
			k.name = name
		}
		name = k.name
		results[state] = result{reply, k, s.notices}
	}
	return results, nil
}

// classify derives the kind from the runs. What fits no kind is PerCall.
func classify(results [states]result, token int) *summary {
	l := &summary{kind: PerCall, token: token, key: results[Other].key.name, ttl: fixedNumber(0)}
	for state := range results {
		l.reply[state], l.notices[state] = results[state].reply, results[state].notices
	}
	absent, ours := results[Absent].key, results[Ours].key
	creates, after, plain := acquired(absent, token)
	prolongs, longer := prolonged(ours)
	switch {
	case results[Other].key.wrote() || results[Typed].key.wrote() || !plain: // it overwrites a lock, or stores something that is not the token
	case l.key == nil && l.hasNotices():
	case l.key == nil:
		l.kind = Nothing
	case !creates && !ours.wrote():
		l.kind = Reads
	case creates && !ours.wrote():
		l.kind, l.ttl = Acquires, after
	case creates && prolongs && longer == after:
		l.kind, l.ttl = AcquiresOrExtends, after
	case !creates && !ours.now.exists:
		l.kind = Releases
	case !creates && prolongs:
		l.kind, l.ttl = Extends, longer
	}
	if l.kind == PerCall {
		return &summary{kind: PerCall}
	}
	if !slices.ContainsFunc(l.reply[:], func(t template) bool { return t.open != closed }) {
		l.fixed = l.replies(nil)
	}
	return l
}

// acquired reports whether a run stored the token under the absent key, and for how long
// (0: without expiry); plain is false if it stored something else.
func acquired(k *keyModel, token int) (creates bool, after linear, plain bool) {
	if !k.wrote() {
		return false, linear{}, true
	}
	if k.now.value != (sealed{token}) {
		return false, linear{}, false
	}
	if k.now.expiry.kind == never {
		return true, fixedNumber(0), true
	}
	return true, k.now.expiry.after, true
}

// prolonged reports whether a run gave the found value a new expiry, and which.
func prolonged(k *keyModel) (bool, linear) {
	same := k.now.exists && k.now.value == k.found.value
	return same && k.now.expiry.kind == given, k.now.expiry.after
}
