package users

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// Guessing is slow, and only for who guesses.
func TestGuesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Limiter
		fail := func(from string) { g.Failed(from) }
		if d := g.Pause("10.0.0.1:1"); d != 0 {
			t.Errorf("the first login waits %v", d)
		}
		for i := range 20 {
			fail(fmt.Sprintf("10.0.0.1:%d", i+1))
		}
		for from, want := range map[string]time.Duration{
			"10.0.0.1:99": longestPause, "[::ffff:10.0.0.1]:99": longestPause, "10.0.0.2:99": 0, "[2001:db8::1]:7": 0} {
			if d := g.Pause(from); d != want {
				t.Errorf("%s waits %v, want %v", from, d, want)
			}
		}
		fail("[2001:db8:0:1::1]:7")
		if d := g.Pause("[2001:db8:0:1:ffff::2]:7"); d != firstPause {
			t.Errorf("one of the same /64 waits %v, want %v", d, firstPause)
		}
		for i := range 10 * maxGuessers {
			fail(fmt.Sprintf("11.%d.%d.%d:1", i>>16, i>>8&255, i&255))
		}
		if n := len(g.newer) + len(g.older); n > 2*maxGuessers {
			t.Errorf("%d addresses are remembered, want at most %d", n, 2*maxGuessers)
		}
		time.Sleep(guessMemory)
		g.Pause("10.0.0.1:1")
		time.Sleep(guessMemory)
		if d := g.Pause("11.0.0.1:1"); d != 0 {
			t.Errorf("it is remembered for ever: %v", d)
		}
	})
}
