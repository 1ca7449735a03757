package mark

import (
	"testing"
	"time"
)

// V3: the padding of two of five marks is not taken for that of all: locks granted
// through the other three still have less.
func TestV3PaddingOfAMinority(t *testing.T) {
	c := &Agreement{now: func() time.Duration { return time.Hour }, paddings: map[string]seenPadding{}, smallest: time.Hour}
	c.use(Settings{})
	masters := []string{"a", "b", "c", "d", "e"}
	saw := func(name string, padding time.Duration) {
		m := &Mark{Name: name}
		m.Timeout = padding / 2
		c.sawPadding(m)
		c.use(c.Greatest().greatest(m.Settings))
	}
	now, paddings := time.Hour, map[string]time.Duration{}
	c.now = func() time.Duration { return now }
	for _, step := range []struct {
		name    string
		padding time.Duration
		rises   bool
	}{
		{"a", 300, false}, {"b", 300, false}, {"x", 300, false}, {"c", 100, false}, {"c", 300, true}, // five seconds later each
		{"a", 400, false}, {"b", 400, false}, {"c", 400, true},
	} {
		paddings[step.name] = step.padding
		for range 5 {
			for name, padding := range paddings {
				saw(name, padding)
			}
			now += time.Second
		}
		if got := c.LeastMayRise(masters, 3, time.Second); got != step.rises {
			t.Errorf("%s bears %d: the least may rise: %v, want %v", step.name, step.padding, got, step.rises)
		}
	}
}

// M9: the seat of a master that left the list is forgotten, by the latest list only: if the
// master joins again, its seat begins later than any that was not seen.
func TestM9SeatOfAMasterThatLeft(t *testing.T) {
	first, second := NameHash("a")+","+NameHash("c"), NameHash("a")
	c := NewAgreement(Settings{}, func() time.Duration { return time.Hour })
	saw := func(number int, list string) {
		c.Saw(&Mark{Name: "a", Generation: Generation{Number: number, Phase: Final, Masters: list}})
	}
	saw(1, first)
	if !c.Take(NameHash("c"), Seat{}, "old", time.Hour.Milliseconds()) {
		t.Fatal("it is not taken")
	}
	unseen, _ := c.Of(NameHash("c"))
	unseen.Epoch += renewal
	if saw(1, first); c.Seat(NameHash("c")).Server != "old" {
		t.Error("the seat of a master on the list is forgotten")
	}
	saw(2, second)
	if own, _ := c.Of(NameHash("c")); own.Epoch != 0 || c.Seat(NameHash("c")).Server != "" {
		t.Errorf("its seat is %+v", own)
	}
	if saw(3, first); !c.Take(NameHash("c"), Seat{}, "new", 0) {
		t.Fatal("it is not taken again")
	}
	if saw(2, second); c.Seat(NameHash("c")).Server != "new" {
		t.Error("it is forgotten by an earlier list")
	}
	if own, _ := c.Of(NameHash("c")); !unseen.Less(own) {
		t.Errorf("%+v is not later than %+v", own, unseen)
	}
}
