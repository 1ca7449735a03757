package script

import (
	"flag"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/commands/values"
)

var (
	seed   = flag.Uint64("seed", 0, "seed of the random scripts, 0: a new one")
	rounds = flag.Int("rounds", 250, "number of random scripts")
)

// twin says what a proved meaning promises for one state: the plain reading of
// Kind's doc comments.
func twin(m *Meaning, s State) Result {
	at := Other
	switch {
	case !s.Found:
		at = Absent
	case s.Value == m.Token:
		at = Ours
	case values.Hidden(s.Value):
		at = Typed
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
	res := Result{Effects: []Effect{e}, Reply: fillStored(m.Reply[at], s)}
	if m.Extra != nil {
		res.Notices = m.Notices[at]
	}
	return res
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
	hash := string(values.HashOf(values.Member{Field: "to", Value: "1"}))
	return append(states, State{Found: true, Value: hash, TTL: time.Second})
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
	kinds, notices := map[Kind]int{}, 0
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
			if m.Kind != PerCall && m.Extra != nil {
				notices++
			}
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%v, %d with notices", kinds, notices)
	if notices == 0 {
		t.Error("no random script with a notice: the grammar is too narrow")
	}
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
	real, err := perCall(NewLibrary().program(tree, realForm(inputs, len(c.keys)), 0))
	if err != nil && (strings.HasPrefix(err.Error(), "does not end") || strings.HasPrefix(err.Error(), "uses more than")) {
		return // a proof needs fewer runs than this
	}
	if err != nil || (m.Kind != Nothing && (real.Kind != PerCall || len(real.Keys) != 1 || real.Key != m.Key)) {
		t.Errorf("%s\nargs %q: proved %s, but for each call it is %+v, %v", c.body, c.args, describeMeaning(m), real, err)
		return
	}
	for _, s := range all {
		want := twin(m, s)
		var got Result
		if real.Kind == PerCall {
			got, err = real.Run([]State{s})
			got.ReadsLeft = false // what is proved holds whatever is left
		} else {
			got = Result{Effects: []Effect{{}}, Reply: real.Reply[Absent]}
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s\nargs %q, state %+v\nproved %s\nthat is %+v\na run  %+v, %v", c.body, c.args, s, describeMeaning(m), want, got, err)
			return
		}
	}
}

func inputsOf(c call) []string { return append(append([]string{}, c.keys...), c.args...) }
