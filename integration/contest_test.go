package integration

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redlockd/redlockd/integration/rig"
)

// contestants is how many clients take one lock with one token at one time,
// as the samples of StackExchange.Redis do.
const contestants = 10

// TestContest is V6 and V7 as clients see them: of ten that take one lock with
// the same token at the same time always exactly one wins, the others hear
// null, and the losers never free what the winner has.
func TestContest(t *testing.T) {
	t.Parallel()
	rounds := 150
	if testing.Short() {
		rounds = 30
	}
	t.Run("all well", func(t *testing.T) {
		r, masters := StartCluster(t, 5)
		contest(t, r, masters, rounds, nil)
	})

	t.Run("one master slower than the timeout", func(t *testing.T) {
		masters := StartMasters(t, 5)
		cfg := overFive(masters)
		link := NewLink(t, masters[2].Addr)
		cfg.Masters[2] = link.Addr
		r := StartRedlockd(t, cfg, masters)
		link.Slow(2 * cfg.Timeout)
		contest(t, r, masters, rounds, nil)
		// What arrived late is taken back: nothing is left anywhere.
		link.Slow(0)
		waitGone(t, masters, "contest")
	})

	t.Run("one master dies in the middle", func(t *testing.T) {
		r, masters := StartCluster(t, 5)
		var dying sync.WaitGroup
		defer dying.Wait()
		contest(t, r, masters, rounds, func(round int) {
			switch round {
			case rounds / 3:
				dying.Go(masters[0].Kill) // while the clients ask
			case rounds * 2 / 3:
				dying.Wait()
				masters[0].RestartEmpty()
			}
		})
	})
}

// contest plays rounds on one key. The masters are those that are looked at
// directly. before is called as a round begins.
func contest(t *testing.T, r *Redlockd, masters []*Master, rounds int, before func(round int)) {
	t.Helper()
	ctx := context.Background()
	clients := make([]*redis.Client, contestants)
	for i := range clients {
		clients[i] = r.Client()
	}
	const key, token = "contest", "the same"
	for round := range rounds {
		if before != nil {
			before(round)
		}
		won := together(clients, func(c *redis.Client) string {
			ok, err := c.SetNX(ctx, key, token, 60*time.Second).Result()
			return fmt.Sprint(ok, " ", err)
		})
		if won["true <nil>"] != 1 || won["false <nil>"] != contestants-1 {
			t.Fatalf("round %d: %v, want one true and %d false", round, won, contestants-1)
		}
		// All losers have been answered: what undoes them is on its way.
		// Every few rounds it gets time to arrive.
		looks := 1
		if round%10 == 0 {
			looks = 50
		}
		for range looks {
			// A copy may still be on its way when the winner hears OK, but one
			// that was taken back never comes again.
			eventually(t, "the winner's lock is on a majority", func() (bool, string) {
				n := holding(masters, key, token)
				return n >= 3, fmt.Sprintf("round %d: it is on %d masters", round, n)
			})
		}
		freed := together(clients, func(c *redis.Client) string {
			return fmt.Sprint(c.Eval(ctx, releaseScript, []string{key}, token).Result())
		})
		if freed["1 <nil>"] != 1 || freed["0 <nil>"] != contestants-1 {
			t.Fatalf("round %d: releases %v, want one 1 and %d 0", round, freed, contestants-1)
		}
	}
}

// together lets all clients do the same at the same time and counts what they
// saw.
func together(clients []*redis.Client, do func(*redis.Client) string) map[string]int {
	var mu sync.Mutex
	seen := map[string]int{}
	start := make(chan struct{})
	var wg sync.WaitGroup
	for _, c := range clients {
		wg.Go(func() {
			<-start
			s := do(c)
			mu.Lock()
			defer mu.Unlock()
			seen[s]++
		})
	}
	close(start)
	wg.Wait()
	return seen
}

// holding counts the masters that have the key with the token. One that does
// not answer has not.
func holding(masters []*Master, key, token string) int {
	n := 0
	for _, m := range masters {
		if got, err := m.Client.Get(context.Background(), key).Result(); err == nil && (token == "" || rig.Token(got) == token) {
			n++
		}
	}
	return n
}

// where tells what each master has under the key.
func where(masters []*Master, key string) string {
	var b strings.Builder
	for i, m := range masters {
		ctx := context.Background()
		token, err := m.Client.Get(ctx, key).Result()
		fmt.Fprintf(&b, "%c: %q %v, %v left; ", 'a'+i, token, err, m.Client.PTTL(ctx, key).Val())
	}
	return b.String()
}

// waitGone waits until none of the masters has any of the keys.
func waitGone(t *testing.T, masters []*Master, keys ...string) {
	t.Helper()
	eventually(t, "no key is left behind", func() (bool, string) {
		left, example := 0, ""
		for _, key := range keys {
			if n := holding(masters, key, ""); n > 0 {
				left, example = left+n, key
			}
		}
		if left == 0 {
			return true, ""
		}
		return false, fmt.Sprintf("%d copies left on the masters, of %s: %s", left, example, where(masters, example))
	})
}
