package cluster

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/tail"
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
		if got := cfg.Hold(ttl, cfg.Settings().Padding()); got != want {
			t.Errorf("hold(%v) = %v, want %v", ttl, got, want)
		}
	}
}

// V15: whatever the master's clock shows within its bounds, what is read of the TTL is never more
// than was asked for, the copy is over no earlier than the TTL of a client whose reply leaves at the
// last moment, and no later than the bounds make necessary; its expiry comes after that (V3).
func TestV15CopyOf(t *testing.T) {
	for range 20000 {
		cfg := DefaultConfig()
		cfg.Timeout = time.Duration(1 + rand.Int64N(int64(time.Second)))
		cfg.ClockDrift = rand.Float64() * 0.1
		ttl := time.Duration(1+rand.Int64N(300000)) * time.Millisecond
		earliest := 1764306330123 + rand.Int64N(1e9)
		now := earliest + rand.Int64N(60)
		latest := now + rand.Int64N(60)
		its := tail.Tail{Lock: 1, Attempt: 2}
		c := cfg.CopyOf(its, ttl, cfg.Hold(ttl, cfg.Settings().Padding()), earliest, latest)
		if left := c.Tail.End - now; left > ttl.Milliseconds() {
			t.Fatalf("%dms are read of a TTL of %v", left, ttl)
		}
		if tells := now + (ttl + cfg.Timeout).Milliseconds(); c.Tail.Over(tells) {
			t.Fatalf("%+v is over at %d, though its client may count on it for a timeout of %v more", c.Tail, tells, cfg.Timeout)
		}
		if end := latest + (ttl + ceilMillis(cfg.Timeout)).Milliseconds(); !c.Tail.Over(end + 1) {
			t.Fatalf("%+v is not over after %d", c.Tail, end)
		}
		if !c.Tail.Over(c.Expiry) {
			t.Fatalf("%+v is not over when its copy ends, at %d", c.Tail, c.Expiry)
		}
		if c.Tail.IDs() != its.IDs() || c.Expiry != latest+ceilMillis(cfg.Hold(ttl, cfg.Settings().Padding())).Milliseconds() {
			t.Fatalf("it is stored as %+v", c)
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
		cfg := DefaultConfig()
		if got := cfg.CopyOf(tail.Tail{}, time.Second, hold, 1000, 1000).Expiry; got != want {
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
		if spare := cfg.Hold(time.Millisecond, cfg.Settings().Padding()) - time.Millisecond - cfg.Timeout; hides > spare {
			t.Errorf("timeout %v: %v hide after %v, and the hold has %v to spare", timeout, hides, ago, spare)
		}
		if !clock.Watched(clock.LookEvery+timeout, cfg.ClockDrift, cfg.Timeout) {
			t.Errorf("timeout %v: who looks once a second has been away", timeout)
		}
	}
}
