package commands

import "testing"

func TestSecondsAreRoundedAsTTLRoundsThem(t *testing.T) {
	for ms, want := range map[int64]int64{1: 0, 499: 0, 500: 1, 1499: 1, 1500: 2, 10000: 10} {
		if got := seconds(ms); got != want {
			t.Errorf("seconds(%d): got %d, want %d", ms, got, want)
		}
	}
}
