package script

import (
	"fmt"
	"time"
)

// maxPerCallInputs bounds the states that a dry run goes through.
const maxPerCallInputs = 64

// perCall is the meaning of a call that no proof covers. Its key is found by
// dry runs (f is a realForm): on the absent key, on every string that the call names, and on
// something else.
func perCall(c *chunk, f *form, clock func() int64) (*Meaning, error) {
	if len(f.inputs) > maxPerCallInputs {
		return nil, &RefusedError{Did: fmt.Sprintf("has more than %d keys and arguments", maxPerCallInputs)}
	}
	b := newBudget()
	var name value
	var last result
	for _, s := range dryStates(f.inputs) {
		res, err := runOn(c, f, clock, b, s, name)
		if err != nil {
			return nil, err
		}
		name, last = res.key.name, res
	}
	if name == nil {
		reply := last.reply.value
		return &Meaning{Kind: Nothing, Reply: [states]Value{reply, reply, reply}}, nil
	}
	m := &Meaning{Kind: PerCall, Key: name.(string)}
	m.Run = func(s State) (Effect, Value, error) {
		res, err := runOn(c, f, clock, newBudget(), s, name)
		if err != nil {
			return Effect{}, Value{}, err
		}
		return res.key.effect(), res.reply.value, nil
	}
	return m, nil
}

// dryStates are the states in which a script may act differently; each value
// once.
func dryStates(inputs []string) []State {
	dry, seen, other := []State{{}}, map[string]bool{}, "other"
	for _, s := range inputs {
		if !seen[s] {
			dry = append(dry, State{Found: true, Value: s, TTL: time.Minute})
		}
		seen[s] = true
	}
	for seen[other] {
		other += "-"
	}
	return append(dry, State{Found: true, Value: other, TTL: time.Minute})
}

// runOn runs the script on real values. name is the key's name as far as it is
// known: a run that uses another one is refused.
func runOn(c *chunk, f *form, clock func() int64, b *budget, s State, name value) (result, error) {
	found := content{}
	if s.Found {
		found = content{exists: true, value: s.Value, expiry: expiry{kind: asFound}}
	}
	r := &run{budget: b, chunk: c, form: f, token: -1}
	r.key = &keyModel{
		name: name, found: found, now: found, clock: clock,
		foundMillis: max(1, s.TTL.Milliseconds()),
	}
	res, end := r.execute()
	if end != nil {
		return res, end.(*RefusedError) // nothing is sealed, so there is no other ending
	}
	return res, nil
}

// effect is what a real run did to the key.
func (k *keyModel) effect() Effect {
	ttl := time.Duration(0)
	switch k.now.expiry.kind {
	case asFound:
		ttl = millis(k.foundMillis)
	case given:
		ttl = millis(k.now.expiry.after.add)
	}
	switch {
	case !k.wrote():
		return Effect{}
	case !k.now.exists:
		return Effect{Kind: Delete}
	case k.found.exists && k.now.value == k.found.value:
		return Effect{Kind: SetTTL, TTL: ttl}
	}
	return Effect{Kind: Set, Value: k.now.value.(string), TTL: ttl}
}
