package integration

import "testing"

// TestC7KeptLonger checks that the comparison with Redis excuses nothing but a later expiry that
// copies had before.
func TestC7KeptLonger(t *testing.T) {
	shorter, longer := keyState{true, "t", 160_000}, keyState{true, "t", 250_000}
	for what, c := range map[string]struct {
		reply  string
		copies []keyState
		want   bool
	}{
		"on some masters":      {":1\r\n", []keyState{shorter, longer, longer}, true},
		"with another reply":   {":0\r\n", []keyState{shorter, longer, longer}, false},
		"longer than before":   {":1\r\n", []keyState{shorter, longer, {true, "t", 290_000}}, false},
		"by another token":     {":1\r\n", []keyState{shorter, longer, {true, "u", 250_000}}, false},
		"and one is gone":      {":1\r\n", []keyState{shorter, longer, {}}, false},
		"and one ends earlier": {":1\r\n", []keyState{shorter, longer, {true, "t", 40_000}}, false},
	} {
		o := callOutcome{call: &scriptCall{before: []keyState{longer}}, want: ":1\r\n", got: c.reply, wanted: []keyState{shorter}}
		for _, has := range c.copies {
			o.copies = append(o.copies, []keyState{has})
		}
		if got := o.keptLonger(); got != c.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}
