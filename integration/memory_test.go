package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redlockd/redlockd/integration/rig"
)

// bareMajority is a lock that three of five masters have, the two others
// having been cut off when it was taken. All five vote again.
type bareMajority struct {
	*Redlockd
	masters []*Master
	links   []*Link
	key     string
}

func takeBareMajority(t *testing.T) *bareMajority {
	t.Helper()
	masters := StartMasters(t, 5)
	cfg := overFive(masters)
	b := &bareMajority{masters: masters, key: "bare"}
	for i, m := range masters {
		l := NewLink(t, m.Addr)
		b.links = append(b.links, l)
		cfg.Masters[i] = l.Addr
	}
	b.Redlockd = StartRedlockd(t, cfg, masters)
	b.links[3].Cut()
	b.links[4].Cut()
	b.wantTake(b.key)
	b.links[3].Mend()
	b.links[4].Mend()
	b.WaitVoting(masters...)
	if without := rig.WaitHeld(masters[:3], b.key, "me", patience); len(without) > 0 {
		t.Fatalf("the lock is not on %v", without)
	}
	if n := holding(masters[3:], b.key, ""); n > 0 {
		t.Fatalf("the lock is on %d masters that were away when it was taken", n)
	}
	return b
}

// TestP1BareMajorityNotGivenTwice is M3 and M4: one of the three masters that
// have a lock forgets it, and then two that never knew it and the one that
// forgot would be a majority for somebody else.
func TestP1BareMajorityNotGivenTwice(t *testing.T) {
	t.Parallel()
	for _, loss := range []struct {
		name string
		do   func(*testing.T, *bareMajority)
	}{
		{"restarted empty", func(t *testing.T, b *bareMajority) { b.masters[0].RestartEmpty() }},
		{"flushed", func(t *testing.T, b *bareMajority) { flush(t, b.masters[0]) }},
		{"promoted replica", func(t *testing.T, b *bareMajority) { b.masters[0].FailOver(StartMaster(t)) }},
	} {
		for _, second := range []bool{false, true} {
			name := loss.name
			if second {
				name += ", and a second redlockd"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b := takeBareMajority(t)
				clients := []*redis.Client{b.Client()}
				loss.do(t, b)
				if second {
					clients = append(clients, JoinRedlockd(t, b.Config).Client())
				}
				b.wantNeverGiven(t, clients)
				b.wantHonestReads(t, clients)
				b.release(t)
				eventually(t, "the lock is free after its release", func() (bool, string) {
					ok, err := clients[len(clients)-1].SetNX(context.Background(), b.key, "you", 60*time.Second).Result()
					return ok, fmt.Sprintf("%v; %s", err, where(b.masters, b.key))
				})
			})
		}
	}
}

// wantNeverGiven lets others try to take the lock, over and over, with all of
// the masters up.
func (b *bareMajority) wantNeverGiven(t *testing.T, clients []*redis.Client) {
	t.Helper()
	ctx := context.Background()
	for tries := range 20 {
		for i, c := range clients {
			ok, err := c.SetNX(ctx, b.key, "you", 60*time.Second).Result()
			if ok {
				t.Fatalf("try %d: redlockd %d gave the lock to a second client", tries, i)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "NOQUORUM ") {
				t.Fatalf("try %d: redlockd %d: %v", tries, i, err)
			}
			ok, err = c.SetNX(ctx, fmt.Sprintf("another:%d:%d", i, tries), "you", time.Second).Result()
			if !ok && i == 0 {
				t.Fatalf("try %d: another lock, which four masters could give: %v, %v", tries, ok, err)
			}
		}
	}
}

// wantHonestReads requires that nobody says the lock is free (V10).
func (b *bareMajority) wantHonestReads(t *testing.T, clients []*redis.Client) {
	t.Helper()
	for i, c := range clients {
		token, err := c.Get(context.Background(), b.key).Result()
		if err == redis.Nil || err == nil && token != "me" {
			t.Errorf("redlockd %d: GET tells %q, %v; want the token or NOQUORUM", i, token, err)
		}
	}
}

func (b *bareMajority) release(t *testing.T) {
	t.Helper()
	n, err := b.Client().Eval(context.Background(), releaseScript, []string{b.key}, "me").Int()
	if n != 1 && (err == nil || !strings.HasPrefix(err.Error(), "NOQUORUM ")) {
		t.Fatalf("release: %d, %v", n, err)
	}
}

// flush empties a master, its process and connections living on.
func flush(t *testing.T, m *Master) {
	t.Helper()
	if err := m.Client.FlushAll(context.Background()).Err(); err != nil {
		t.Fatal(err)
	}
}

// TestQuarantineEnds is M4: a master that may have forgotten locks is asked
// for none, and votes again when all that it may have forgotten are over.
func TestQuarantineEnds(t *testing.T) {
	t.Parallel()
	masters := StartMasters(t, 5)
	cfg := overFive(masters)
	cfg.MaxTTL = time.Second
	Bootstrap(t, cfg)
	r := JoinRedlockd(t, cfg)
	c := r.Client()
	ctx := context.Background()
	take := func(key string) (bool, error) { return c.SetNX(ctx, key, "me", time.Second).Result() }
	eventually(t, "a lock on all masters", func() (bool, string) {
		_, err := take("before")
		return len(rig.WaitHeld(masters, "before", "me", 50*time.Millisecond)) == 0, fmt.Sprint(err)
	})
	restarted := time.Now()
	masters[0].RestartEmpty()
	back := 0
	eventually(t, "the restarted master votes again", func() (bool, string) {
		back++
		key := fmt.Sprintf("after:%d", back)
		if ok, err := take(key); !ok {
			t.Fatalf("taking %s with four masters: %v", key, err)
		}
		return len(rig.WaitHeld(masters[:1], key, "me", 50*time.Millisecond)) == 0, fmt.Sprintf("it was asked for none of %d locks", back)
	})
	// A lock of one second may have been forgotten, and must have ended.
	if waited := time.Since(restarted); waited < time.Second {
		t.Errorf("the restarted master votes after %v, a lock it may have forgotten lives longer", waited)
	}
}

// TestP4WhoCannotTellDoesNotSayNo is P4 and V10: two of the three masters that
// have a lock are gone, so nobody knows whether it is held.
func TestP4WhoCannotTellDoesNotSayNo(t *testing.T) {
	t.Parallel()
	b := takeBareMajority(t)
	b.masters[0].Kill()
	c := DialWire(t, b.Addr)
	noQuorum := func(args ...string) {
		t.Helper()
		if got := c.Ask(args...); !strings.HasPrefix(got, "-NOQUORUM ") {
			t.Errorf("%.60q: %q, want NOQUORUM", args, got)
		}
	}
	noQuorum("GET", b.key)
	noQuorum("EXISTS", b.key)
	noQuorum("PTTL", b.key)
	noQuorum("EVAL", extendScript, "1", b.key, "me", "60000")
	// Two masters refuse, twice running, and one is silent: that may be told
	// as held (V4), but not be given.
	if got := c.Ask("SET", b.key, "you", "NX", "PX", "60000"); got != "$-1\r\n" && !strings.HasPrefix(got, "-NOQUORUM ") {
		t.Errorf("SET NX: %q, want null or NOQUORUM", got)
	}
	if got := c.Ask("WATCH", b.key); got != "+OK\r\n" {
		t.Errorf("WATCH: %q", got)
	}
	noQuorum("GET", b.key)
	c.Ask("MULTI")
	c.Ask("DEL", b.key)
	if got := c.Ask("EXEC"); !strings.HasPrefix(got, "-NOQUORUM ") {
		t.Errorf("EXEC, what was watched could not be read: %q, want NOQUORUM", got)
	}
	if n := holding(b.masters[1:3], b.key, "me"); n != 2 {
		t.Errorf("the lock is on %d of the two masters left that had it", n)
	}
}
