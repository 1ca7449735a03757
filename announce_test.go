package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

// starting is a quorum with these masters, of five, which is ready after some time.
type starting struct {
	voting, warmingUp int
	ready             <-chan time.Time
}

func (s *starting) Status() quorum.Status {
	return quorum.Status{Quorum: 3, Voting: s.voting, WarmingUp: s.warmingUp}
}

func (s *starting) WaitReady(ctx context.Context) error {
	select {
	case <-s.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestStartWaitsWhereItHelps: a start waits for its majority to watch its clocks, which a
// greater timeout makes longer, and not for masters that are missing.
func TestStartWaitsWhereItHelps(t *testing.T) {
	for _, c := range []struct {
		name              string
		voting, warmingUp int
		ready, want       time.Duration
		served            bool
	}{
		{"alone", 5, 0, 0, 0, true},
		{"beside another, a timeout of 50ms", 0, 5, 1450 * time.Millisecond, 1450 * time.Millisecond, true},
		{"beside another, a timeout of 250ms", 0, 5, 2650 * time.Millisecond, 2650 * time.Millisecond, true},
		{"beside another, a timeout of 2s", 0, 3, 13150 * time.Millisecond, 13150 * time.Millisecond, true},
		{"beside another, a timeout of 10s", 0, 5, 61150 * time.Millisecond, 15 * time.Second, false},
		{"one votes, two will", 1, 2, 7 * time.Second, 7 * time.Second, true},
		{"three are down", 0, 2, time.Hour, 2 * time.Second, false},
		{"the required one is down", 4, 0, time.Hour, 2 * time.Second, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				err := waitReady(t.Context(), &starting{c.voting, c.warmingUp, time.After(c.ready)})
				if took := time.Since(began); took != c.want || (err == nil) != c.served {
					t.Errorf("waits %v, then %v; want %v, and a majority: %v", took, err, c.want, c.served)
				}
			})
		})
	}
}
