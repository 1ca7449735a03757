package quorum

import (
	"testing"
	"time"
)

// V3: nobody takes the padding of two of five marks for that of all: locks that the
// three others took still have less.
func TestV3PaddingOfAMinority(t *testing.T) {
	c := &agreement{now: func() time.Duration { return time.Hour }, bearing: map[string]time.Duration{}, smallest: time.Hour}
	c.use(settings{})
	masters := []string{"a", "b", "c", "d", "e"}
	saw := func(name string, padding time.Duration) {
		m := &mark{name: name}
		m.padding = padding
		c.sawPadding(m)
		c.use(c.greatest().greatest(m.settings))
	}
	now := time.Hour
	c.now = func() time.Duration { return now }
	for _, step := range []struct {
		name    string
		padding time.Duration
		least   time.Duration
	}{
		{"a", 300, 0}, {"b", 300, 0}, {"x", 300, 0}, {"c", 100, 0}, {"c", 300, 300}, // an hour later each
		{"a", 400, 300}, {"b", 400, 300}, {"c", 400, 400},
	} {
		saw(step.name, step.padding)
		now += time.Hour
		c.raiseLeast(masters, 3, time.Second)
		if c.greatest().least != step.least {
			t.Errorf("%s bears %d: the least is %d, want %d", step.name, step.padding, c.greatest().least, step.least)
		}
	}
}
