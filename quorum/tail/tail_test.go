package tail

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestRoundTrip checks that a copy's value has the token and a tail of fixed length, all of it
// printable, from which both come back, whatever the token is.
func TestRoundTrip(t *testing.T) {
	its := Tail{Lock: NewID(), Attempt: NewID(), End: 1764306330123, Grace: 50 * time.Millisecond}
	for _, token := range []string{
		"", "t", strings.Repeat("t", 1<<20), "\x00\xff\r\n", "~rl", "a~rl", Magic + strings.Repeat("0", Size-len(Magic)),
		its.Of("another"), its.Of(its.Of("")), strings.Repeat("~", Size),
	} {
		value := its.Of(token)
		if len(value) != len(token)+Size || !strings.HasPrefix(value, Stem(token)) {
			t.Errorf("%.20q is stored as %.60q", token, value)
		}
		if got, back := Split(value); got != token || back != its || back.Bare() || Token(value) != token {
			t.Errorf("%.20q came back as %.20q, %+v, want %+v", token, got, back, its)
		}
		if value != Stem(token)+its.Lock.String()+its.Rest() {
			t.Errorf("%.20q is put together as %.60q otherwise", token, value)
		}
	}
	for i, c := range []byte(its.Of("")) {
		if c <= ' ' || c > '~' {
			t.Errorf("byte %d is %q", i, c)
		}
	}
}

// TestTail checks a tail's text, of which docs/design.md and the scripts tell every byte.
func TestTail(t *testing.T) {
	its := Tail{Lock: 1, Attempt: 1<<48 - 1, Since: 37, End: 36, Grace: 35*time.Millisecond + 999*time.Microsecond}
	if got, want := its.Of("token"), "token~rl00000001________00000001100000001000z"; got != want {
		t.Errorf("stored is %q, want %q", got, want)
	}
	if got, want := its.IDs(), "00000001________"; got != want {
		t.Errorf("the IDs are %q, want %q", got, want)
	}
}

// TestOver checks that a copy is over when its end and its grace have gone by, and a bare token never.
func TestOver(t *testing.T) {
	its := Tail{Lock: 1, Attempt: 2, End: 1000, Grace: 50 * time.Millisecond}
	for reading, want := range map[int64]bool{0: false, 999: false, 1001: false, 1050: false, 1051: true, 9000: true} {
		if got := its.Over(reading); got != want {
			t.Errorf("over at %d: %v, want %v", reading, got, want)
		}
	}
	if bare := (Tail{}); bare.Over(1 << 60) {
		t.Error("a bare token is over")
	}
}

// TestNumbersOutOfRange checks that a tail keeps its length, and numbers the nearest that it can
// tell.
func TestNumbersOutOfRange(t *testing.T) {
	for _, c := range []struct {
		end       int64
		grace     time.Duration
		wantEnd   int64
		wantGrace time.Duration
	}{
		{maxTime, maxGrace * time.Millisecond, maxTime, maxGrace * time.Millisecond},
		{maxTime + 1, (maxGrace + 1) * time.Millisecond, maxTime, maxGrace * time.Millisecond},
		{1<<63 - 1, 1<<63 - 1, maxTime, maxGrace * time.Millisecond},
		{-1, -1, 0, 0}, {-1 << 63, -1 << 63, 0, 0}, {0, 0, 0, 0},
	} {
		its := Tail{Lock: 1, Attempt: 2, End: c.end, Grace: c.grace}
		value := its.Of("t")
		if token, back := Split(value); token != "t" || back.End != c.wantEnd || back.Grace != c.wantGrace || len(value) != 1+Size {
			t.Errorf("%d and %v are stored as %q and come back as %d and %v", c.end, c.grace, value, back.End, back.Grace)
		}
	}
}

// TestBareTokens checks that a value without the magic in its place is a token, all of it.
func TestBareTokens(t *testing.T) {
	for _, value := range []string{
		"", "t", "~rl", strings.Repeat("x", Size-1), strings.Repeat("x", Size), strings.Repeat("x", 100),
		strings.Repeat("x", Size) + "~rl", "~rl" + strings.Repeat("0", Size), "~rl" + strings.Repeat("0", Size-5),
		"~r-" + strings.Repeat("0", Size-3),
	} {
		if token, its := Split(value); token != value || its != (Tail{}) || !its.Bare() || Token(value) != value {
			t.Errorf("%q is taken for %q and %+v", value, token, its)
		}
	}
}

// TestGarbageBehindTheMagic checks that what has the magic in its place is cut there, as the scripts
// do, and that no ID comes of what is none.
func TestGarbageBehindTheMagic(t *testing.T) {
	for _, garbage := range []string{strings.Repeat("\xff", 37), strings.Repeat(" ", 37), strings.Repeat("!", 37), "00000000" + strings.Repeat(".", 29)} {
		if token, its := Split("t" + Magic + garbage); token != "t" || its != (Tail{}) {
			t.Errorf("%q is taken for %q and %+v", garbage, token, its)
		}
	}
}

// TestIDs checks that IDs are never 0, differ, and are read as they are written.
func TestIDs(t *testing.T) {
	seen := map[ID]bool{}
	for range 10000 {
		id := NewID()
		if id == 0 || seen[id] || len(id.String()) != idSize || ID(parse(id.String(), 64)) != id {
			t.Fatalf("ID %d, %q", id, id)
		}
		seen[id] = true
	}
	// Each digit tells six bits.
	for range 1000 {
		a, b := ID(rand.Uint64N(1<<48)), ID(rand.Uint64N(1<<48))
		if (a == b) != (a.String() == b.String()) {
			t.Fatalf("%d is %q, %d is %q", a, a, b, b)
		}
	}
}
