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
