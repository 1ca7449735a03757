package mark

import (
	"testing"
	"time"
)

// TestV3LeastPaddingInView checks that the least padding rises only by marks that are in view,
// and have not begun anew meanwhile (V3, why 19).
func TestV3LeastPaddingInView(t *testing.T) {
	masters := []string{"a", "b", "c"}
	for _, c := range []struct {
		name  string
		again []string // the marks that are seen to the end
		ids   string   // begins their ids then
		want  bool
	}{
		{"all are in view", masters, "", true},
		{"a majority is", masters[:2], "", true},
		{"only one is", masters[:1], "", false},
		{"all began anew", masters, "anew", false},
		{"all are again", nil, "", false},
	} {
		now := time.Hour
		agreed := NewAgreement(Settings{Timeout: 150}, func() time.Duration { return now })
		saw := func(names []string, ids string) {
			for _, name := range names {
				m := &Mark{Name: name, ID: ids + name}
				m.Timeout = 150
				agreed.Saw(m)
			}
			now += time.Second
		}
		for range 5 {
			saw(masters, "")
		}
		for range 3 {
			saw(c.again, c.ids)
		}
		if c.again == nil {
			saw(masters, "")
		}
		if got := agreed.LeastMayRise(masters, 2, 2*time.Second); got != c.want {
			t.Errorf("%s: the least may rise: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestV3LeastOfTheMarks checks that the least padding is that of any mark in view, and that of one
// that records none the smallest that was seen, which hides no other's (V3).
func TestV3LeastOfTheMarks(t *testing.T) {
	for _, leasts := range [][]time.Duration{{100, 300, 300}, {300, 100, 300}, {0, 100, 300}, {100, 0, 0}} {
		agreed := NewAgreement(Settings{Timeout: 150}, func() time.Duration { return time.Hour })
		for range 2 {
			for i, least := range leasts {
				m := &Mark{Name: string(rune('a' + i)), ID: "id"}
				m.Timeout, m.Least = 150, least
				agreed.Saw(m)
			}
		}
		if got := agreed.LeastPadding(); got != 100 {
			t.Errorf("marks with %v: the least is %v, want 100", leasts, got)
		}
	}
}

// TestV3PaddingSoFar checks that a mark that is raised to a greater padding records the one so
// far, if it records no least one yet: who starts later cannot know of it (V3).
func TestV3PaddingSoFar(t *testing.T) {
	for _, c := range []struct{ of, to, want Settings }{
		{Settings{Timeout: 50}, Settings{Timeout: 150}, Settings{Timeout: 150, Least: 100}},
		{Settings{Timeout: 50, Least: 50}, Settings{Timeout: 150}, Settings{Timeout: 150, Least: 50}},
		{Settings{Timeout: 150}, Settings{Timeout: 50}, Settings{Timeout: 150}},
	} {
		if got := c.of.raised(c.to); got != c.want {
			t.Errorf("%+v raised to %+v is %+v, want %+v", c.of, c.to, got, c.want)
		}
	}
}
