package mark

import (
	"testing"
	"time"
)

// V3: the padding of two of five marks is not taken for that of all: locks granted
// through the other three still have less.
func TestV3PaddingOfAMinority(t *testing.T) {
	c := &Agreement{now: func() time.Duration { return time.Hour }, paddingSince: map[string]time.Duration{}, smallest: time.Hour}
	c.use(Settings{})
	masters := []string{"a", "b", "c", "d", "e"}
	saw := func(name string, padding time.Duration) {
		m := &Mark{Name: name}
		m.Padding = padding
		c.sawPadding(m)
		c.use(c.Greatest().greatest(m.Settings))
	}
	now := time.Hour
	c.now = func() time.Duration { return now }
	for _, step := range []struct {
		name    string
		padding time.Duration
		least   time.Duration
	}{
		{"a", 300, 0}, {"b", 300, 0}, {"x", 300, 0}, {"c", 100, 0}, {"c", 300, 300}, // each an hour later
		{"a", 400, 300}, {"b", 400, 300}, {"c", 400, 400},
	} {
		saw(step.name, step.padding)
		now += time.Hour
		c.RaiseLeast(masters, 3, time.Second)
		if c.Greatest().Least != step.least {
			t.Errorf("%s bears %d: the least is %d, want %d", step.name, step.padding, c.Greatest().Least, step.least)
		}
	}
}
