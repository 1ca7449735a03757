package resp

import (
	"strings"
	"testing"
)

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"*", "abc", true}, {"a*c", "abbc", true}, {"a*c", "abb", false},
		{"a?c", "abc", true}, {"a?c", "ac", false}, {"[ab]c", "bc", true}, {"[^ab]c", "bc", false}, {"[a-c]", "b", true},
		{"[c-a]", "b", true}, {`\*`, "*", true}, {`\*`, "a", false}, {"*a*b", "xaxb", true}, {"[", "[", false}, {"[a", "a", true},
		{"a**", "a", true}, {`[\]]`, "]", true}, {`a\`, `a\`, true},
	} {
		if got := Glob(c.pattern, c.text); got != c.want {
			t.Errorf("glob(%q, %q) = %v, want %v", c.pattern, c.text, got, c.want)
		}
	}
	// A pattern that would take for ever if every star were tried with every other.
	if Glob(strings.Repeat("*a", 50)+"b", strings.Repeat("a", 5000)) {
		t.Error("matches what does not match")
	}
}
