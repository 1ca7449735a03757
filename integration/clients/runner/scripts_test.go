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
		{"set", "", 0, `$"t"`, ":60000", ", set, TTL in ms"},
		{"set without TTL", "", 0, `$"t"`, ":-1", ", set, no TTL"},
		{"deleted", "t", learnTTL, "$-1", ":-2", ", deleted"},
		{"untouched", "t", learnTTL, `$"t"`, ":24990", ""},
		{"prolonged", "t", learnTTL, `$"t"`, ":60000", ", TTL in ms"},
		{"persisted", "t", learnTTL, `$"t"`, ":-1", ", no TTL"},
		{"untouched without TTL", "t", 0, `$"t"`, ":-1", ""},
		{"taken from another", "t", learnTTL, `$"u"`, ":60000", ", value replaced, TTL in ms"},
	}
	for _, tt := range tests {
		if got := effect(tt.before, tt.ttl, tt.after, tt.left, []string{"t", "60000"}); got != tt.want {
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
	one := scriptCall{sha(text), []string{"key"}, []string{"token"}}
	two := scriptCall{sha(text), []string{"key", "other"}, []string{"token"}}
	if len(s.call) != 2 || !s.who[one.form()]["a"] || !s.who[two.form()]["a"] {
		t.Errorf("calls %v by %v, want one with a key and one with two, by a", s.call, s.who)
	}
}
