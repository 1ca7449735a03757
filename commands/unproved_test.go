package commands

import (
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/commands/script"
	"github.com/redlockd/redlockd/quorum"
)

// running is a script that does the same in every state.
func running(e script.Effect, err error) *script.Meaning {
	return &script.Meaning{Kind: script.PerCall, Key: "k", Extra: &script.Extra{Keys: []string{"k"}, Run: func([]script.State) (script.Result, error) {
		return script.Result{Effects: []script.Effect{e}, Reply: script.Value{Kind: script.Bulk, Text: "ran"}}, err
	}}}
}

func TestEffectBecomesOneConditionalOperation(t *testing.T) {
	none, there := quorum.State{}, found("old", 2*time.Second)
	set := func(value string, ttl time.Duration) script.Effect {
		return script.Effect{Kind: script.Set, Value: value, TTL: ttl}
	}
	setTTL := func(ttl time.Duration) script.Effect { return script.Effect{Kind: script.SetTTL, TTL: ttl} }
	del := script.Effect{Kind: script.Delete}
	const above = "-ERR invalid expire time in 'eval' command: above max_ttl of 300000 ms"
	for _, tt := range []struct {
		name      string
		cfg       Config
		effect    script.Effect
		state     quorum.State
		end       quorum.Verdict
		op, reply string
	}{
		{"nothing", rejecting(), script.Effect{}, there, quorum.Won, "read k", "$ran"},
		{"delete", rejecting(), del, there, quorum.Won, "release k old", "$ran"},
		{"delete of nothing", rejecting(), del, none, quorum.Won, "read k", "$ran"},
		{"delete, another came", rejecting(), del, there, quorum.Held, "release k old", "-" + errMoved},
		{"delete, gone meanwhile", rejecting(), del, there, quorum.Absent, "release k old", "$ran"},
		{"set on absent", rejecting(), set("t", time.Second), none, quorum.Won, "acquire k t 1s", "$ran"},
		{"set on absent, another came", rejecting(), set("t", time.Second), none, quorum.Held, "acquire k t 1s", "-" + errMoved},
		{"set of another value", rejecting(), set("t", time.Second), there, quorum.Won, "extend k old->t 1s", "$ran"},
		{"set of the same value", rejecting(), set("old", time.Second), there, quorum.Won, "extend k old 1s", "$ran"},
		{"expire", rejecting(), setTTL(3 * time.Second), there, quorum.Won, "extend k old 3s", "$ran"},
		{"expire of nothing", rejecting(), setTTL(3 * time.Second), none, quorum.Won, "read k", "$ran"},
		{"set without a TTL", rejecting(), set("t", 0), none, quorum.Won, "read k", noTTL},
		{"set without a TTL, max_ttl", lenient(), set("t", 0), none, quorum.Won, "acquire k t 5m0s", "$ran"},
		{"persist", rejecting(), setTTL(0), there, quorum.Won, "read k", noTTL},
		{"persist, max_ttl", lenient(), setTTL(0), there, quorum.Won, "extend k old 5m0s", "$ran"},
		{"additive extend above max_ttl", rejecting(), setTTL(6 * time.Minute), there, quorum.Won, "read k", above},
		{"additive extend above max_ttl, no_expiry is max_ttl", lenient(), setTTL(6 * time.Minute), there, quorum.Won, "read k", above},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, _ := fakeWith(tt.cfg, running(tt.effect, nil), nil)
			op, reply := decideOn(t, understandScript(t, in, "EVALSHA sha 1 k"), tt.state, tt.end)
			if op != tt.op || reply != tt.reply {
				t.Errorf("got %s, %s, want %s, %s", op, reply, tt.op, tt.reply)
			}
		})
	}
}

func TestRunIsShownTheState(t *testing.T) {
	var got script.State
	m := &script.Meaning{Kind: script.PerCall, Key: "k", Extra: &script.Extra{Keys: []string{"k"}, Run: func(s []script.State) (script.Result, error) {
		if !got.Found { // later runs only tell what the reply promises
			got = s[0]
		}
		return script.Result{Effects: make([]script.Effect, 1)}, nil
	}}}
	in, _ := fakeWith(rejecting(), m, nil)
	decideOn(t, understandScript(t, in, "EVALSHA sha 1 k"), found("old", 2*time.Second), quorum.Won)
	if want := (script.State{Found: true, Value: "old", TTL: 2 * time.Second}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestRunRefused(t *testing.T) {
	in, _ := fakeWith(rejecting(), running(script.Effect{Kind: script.Delete}, &script.RefusedError{Did: "deleted two keys"}), nil)
	op, reply := decideOn(t, understandScript(t, in, "EVALSHA sha 1 k"), found("old", time.Second), quorum.Won)
	if op != "read k" || reply != "-ERR This script is not a lock script: it deleted two keys" {
		t.Errorf("got %s, %s", op, reply)
	}
}

func TestReadOnlyScriptThatWrites(t *testing.T) {
	in, _ := fakeWith(rejecting(), running(script.Effect{Kind: script.Delete}, nil), nil)
	req := understandScript(t, in, "EVALSHA_RO sha 1 k")
	op, reply := decideOn(t, req, found("old", time.Second), quorum.Won)
	if op != "read k" || !strings.HasPrefix(reply, "-ERR Write commands are not allowed") {
		t.Errorf("got %s, %s, want nothing done", op, reply)
	}
}
