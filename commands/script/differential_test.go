package script

import (
	"flag"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

var (
	seed   = flag.Uint64("seed", 0, "seed of the random scripts, 0: a new one")
	rounds = flag.Int("rounds", 250, "number of random scripts")
)

// twin says what a proved meaning promises for one state: the plain reading of
// Kind's doc comments.
func twin(m *Meaning, s State) (Effect, Value) {
	at := Other
	switch {
	case !s.Found:
		at = Absent
	case s.Value == m.Token:
		at = Ours
	}
	var e Effect
	switch {
	case at == Absent && (m.Kind == Acquires || m.Kind == AcquiresOrExtends):
		e = Effect{Kind: Set, Value: m.Token, TTL: m.TTL}
	case at == Ours && (m.Kind == Extends || m.Kind == AcquiresOrExtends):
		e = Effect{Kind: SetTTL, TTL: m.TTL}
	case at == Ours && m.Kind == Releases:
		e = Effect{Kind: Delete}
	}
	return e, fillStored(m.Reply[at], s)
}

func fillStored(v Value, s State) Value {
	switch v.Kind {
	case StoredValue:
		return Value{Kind: Bulk, Text: s.Value}
	case StoredPTTL:
		return Value{Kind: Int, Int: s.TTL.Milliseconds()}
	case StoredTTL:
		return Value{Kind: Int, Int: (s.TTL.Milliseconds() + 500) / 1000}
	case Array:
		items := make([]Value, len(v.Items))
		for i := range items {
			items[i] = fillStored(v.Items[i], s)
		}
		v.Items = items
	}
	return v
}

// testStates are the states of a differential test.
func testStates() []State {
	states := []State{{}}
	for _, w := range append(words, "zzz", "to") {
		for _, ttl := range []time.Duration{1, 3000} {
			states = append(states, State{Found: true, Value: w, TTL: ttl * time.Millisecond})
		}
	}
	return states
}

// TestC7ProvedIsWhatRunsDo: whatever a remembered meaning promises, a run on
// real values does, in every state, for every call. One library serves all
// calls of a script, so a memory key that is too small shows.
func TestC7ProvedIsWhatRunsDo(t *testing.T) {
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("seed %d", *seed)
	g := generator{rand.New(rand.NewPCG(*seed, 1))}
	kinds := map[Kind]int{}
	for range *rounds {
		body, l := g.script(), NewLibrary()
		for range 10 {
			c := call{body, lock, g.args()}
			m, err := c.understand(l)
			if err != nil {
				continue
			}
			kinds[m.Kind]++
			if m.Kind != PerCall {
				compare(t, c, m)
			}
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%v", kinds)
	for k := Nothing; k <= PerCall; k++ {
		if kinds[k] == 0 && k != Nothing {
			t.Errorf("no random script %v: the grammar is too narrow", k)
		}
	}
}

func compare(t *testing.T, c call, m *Meaning) {
	t.Helper()
	sha, _ := NewLibrary().Load(c.body)
	tree, err := compile(sha, c.body)
	if err != nil {
		t.Fatal(err)
	}
	inputs := inputsOf(c)
	all := testStates()
	for _, input := range inputs {
		all = append(all, State{Found: true, Value: input, TTL: time.Second})
	}
	for _, s := range all {
		res, err := runAt(tree, c, m.Key, s)
		if err != nil {
			t.Errorf("%s\nargs %q, state %+v: proved %s, but a run is refused: %v", c.body, c.args, s, told(m), err)
			return
		}
		wantEffect, wantReply := twin(m, s)
		gotEffect, gotReply := res.Effects[0], res.Reply
		if gotEffect != wantEffect || !reflect.DeepEqual(gotReply, wantReply) {
			t.Errorf("%s\nargs %q, state %+v\nproved %s\nthat is %+v %s\na run  %+v %s", c.body, c.args, s, told(m),
				wantEffect, show(wantReply), gotEffect, show(gotReply))
			return
		}
	}
}

func inputsOf(c call) []string { return append(append([]string{}, c.keys...), c.args...) }

// runAt runs a script on one state of its key.
func runAt(tree *chunk, c call, key string, s State) (Result, error) {
	p := scriptProgram(tree, realForm(inputsOf(c), len(c.keys)), 0, nil)
	return p.runOn(newBudget(), names{locks: []string{key}}, []State{s})
}
