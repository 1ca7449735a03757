package main

import "testing"

func TestEffect(t *testing.T) {
	tests := []struct {
		name, before string
		ttl          int
		after, left  string
		want         string
	}{
		{"nothing there, nothing set", "", 0, "$-1", ":-2", ""},
		{"set", "", 0, `$"t"`, ":60000", ", set"},
		{"set without TTL", "", 0, `$"t"`, ":-1", ", set without TTL"},
		{"deleted", "t", 100_000, "$-1", ":-2", ", deleted"},
		{"untouched", "t", 100_000, `$"t"`, ":99990", ""},
		{"prolonged", "t", 100_000, `$"t"`, ":60000", ", other TTL"},
		{"persisted", "t", 100_000, `$"t"`, ":-1", ", no TTL"},
		{"untouched without TTL", "t", 0, `$"t"`, ":-1", ""},
		{"taken from another", "t", 100_000, `$"u"`, ":60000", ", value replaced, other TTL"},
	}
	for _, tt := range tests {
		if got := effect(tt.before, tt.ttl, tt.after, tt.left); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestScriptsAdd(t *testing.T) {
	s := newScripts()
	text := "return 1"
	s.add("a", []said{
		{words: []string{"SCRIPT", "LOAD", text}},
		{reply: "+OK"},
		{words: []string{"evalsha", sha(text), "1", "key", "token"}},
		{words: []string{"EVAL", text, "2", "key", "other", "token"}},
		{words: []string{"EVAL", "no number of keys", "x", "key"}},
		{words: []string{"EVAL", "too many keys", "3", "key"}},
	})
	if got := s.call[sha(text)]; len(got.keys) != 1 || len(got.args) != 1 {
		t.Errorf("the call that is kept is %v, want that with one key", got)
	}
	if len(s.call) != 1 || !s.who[sha(text)]["a"] {
		t.Errorf("calls %v by %v, want one by a", s.call, s.who)
	}
}
