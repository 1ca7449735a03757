package cluster

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/vote"
)

func TestMajority(t *testing.T) {
	for n, want := range []int{1: 1, 2: 2, 3: 2, 4: 3, 5: 3, 6: 4, 7: 4} {
		if n > 0 && vote.Majority(n) != want {
			t.Errorf("vote.Majority(%d) = %d, want %d", n, vote.Majority(n), want)
		}
	}
}

// V3: the hold covers the TTL, one timeout until the reply has left, one for a clock
// step, and drift over all of it.
func TestHold(t *testing.T) {
	cfg := DefaultConfig()
	for ttl, want := range map[time.Duration]time.Duration{
		10 * time.Second: 10*time.Second + 100*time.Millisecond + 103*time.Millisecond,
		time.Millisecond: time.Millisecond + 100*time.Millisecond + 4*time.Millisecond,
	} {
		if got := cfg.Hold(ttl, cfg.Padding()); got != want {
			t.Errorf("hold(%v) = %v, want %v", ttl, got, want)
		}
	}
}

// V3: a read never returns more than the TTL asked for, whatever the expiry has beyond
// the hold, and at most the drift and the roundings less than what is left.
func TestRemainingNeverMoreThanAsked(t *testing.T) {
	for range 20000 {
		cfg := DefaultConfig()
		cfg.ClockDrift = rand.Float64() * 0.1
		ttl := time.Duration(1+rand.Int64N(300000)) * time.Millisecond
		beyond := time.Duration(rand.Int64N(int64(cfg.LookSlack() + 3*time.Millisecond)))
		if got := cfg.Remaining(cfg.Hold(ttl, cfg.Padding())+beyond, cfg.Padding()); got > ttl {
			t.Fatalf("remaining is %v of a TTL of %v, %v beyond the hold", got, ttl, beyond)
		}
		slack := cfg.Drift(ttl+cfg.Padding()) + cfg.LookSlack() + 7*time.Millisecond
		if got := cfg.Remaining(cfg.Hold(ttl, cfg.Padding()), cfg.Padding()); got < ttl-slack {
			t.Fatalf("remaining is %v of a TTL of %v, more than %v less", got, ttl, slack)
		}
	}
}

func TestRoundHold(t *testing.T) {
	for h, want := range map[time.Duration]time.Duration{
		1: time.Millisecond, 405 * time.Millisecond: 500 * time.Millisecond, 500 * time.Millisecond: 500 * time.Millisecond,
		501 * time.Millisecond: time.Second, 10405 * time.Millisecond: 20 * time.Second, 303005 * time.Millisecond: FloorHold,
		200 * time.Second: 200 * time.Second, FloorHold: FloorHold, FloorHold + 1: 500 * time.Second,
	} {
		if got := RoundHold(h); got != want {
			t.Errorf("roundHold(%v) = %v, want %v", h, got, want)
		}
	}
}

// V3: an expiry is never before the end of the hold.
func TestV3ExpiryIsNotBeforeTheHold(t *testing.T) {
	for hold, want := range map[time.Duration]int64{
		time.Second: 2000, time.Second + 1: 2001, 1999 * time.Millisecond: 2999, 2*time.Second - 1: 3000,
	} {
		if got := ExpiryOf(1000, hold); got != want {
			t.Errorf("the expiry of %v is %d, want %d", hold, got, want)
		}
	}
}

// M5: the padding of holds covers a step that hides in the drift since the master's last
// look, and in half a timeout's round trip.
func TestM5PaddingCoversWhatHides(t *testing.T) {
	for _, timeout := range []time.Duration{40 * time.Millisecond, 50 * time.Millisecond, time.Second} {
		cfg := DefaultConfig()
		cfg.Timeout = timeout
		ago := 2 * clock.LookEvery
		for clock.Watched(ago+time.Millisecond, cfg.ClockDrift, cfg.Timeout) {
			ago += time.Millisecond
		}
		hides := time.Duration(float64(ago)*cfg.ClockDrift+clock.Step*float64(time.Millisecond)) + timeout/2
		// The reply may leave a timeout after the attempt began.
		if spare := cfg.Hold(time.Millisecond, cfg.Padding()) - time.Millisecond - cfg.Timeout; hides > spare {
			t.Errorf("timeout %v: %v hide after %v, and the hold has %v to spare", timeout, hides, ago, spare)
		}
		if !clock.Watched(clock.LookEvery+timeout, cfg.ClockDrift, cfg.Timeout) {
			t.Errorf("timeout %v: who looks once a second has been away", timeout)
		}
	}
}
