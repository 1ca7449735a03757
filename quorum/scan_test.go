package quorum

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/cluster"
)

func anyKey(string) bool { return true }

// listAll lists from 0 to the end, and calls between after each step.
func (c *testCluster) listAll(db int, count int, between func(step int)) []string {
	c.t.Helper()
	var keys []string
	for cursor, step := uint64(0), 1; ; step++ {
		page, err := c.q.Scan(c.t.Context(), db, cursor, anyKey, count)
		if err != nil {
			c.t.Fatalf("step %d: %v", step, err)
		}
		for _, l := range page.Locks {
			if ttl := l.State.TTL; l.Err != nil || ttl <= 0 || ttl > time.Minute {
				c.t.Errorf("%s: %v left, %v", l.Key, ttl, l.Err)
			}
			keys = append(keys, l.Key)
		}
		if cursor = page.Next; cursor == 0 {
			slices.Sort(keys)
			return slices.Compact(keys)
		}
		between(step)
	}
}

// TestScanListsWhatAQuorumHas checks that a listing has all locks of a quorum, also
// those that one of the listed masters lacks, but none of a minority, and never the
// mark.
func TestScanListsWhatAQuorumHas(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		var want []string
		for i := range 9 {
			key := fmt.Sprintf("k%d", i)
			c.want(do(c.q, acquire(key, "t", time.Minute)), Won)
			want = append(want, key)
		}
		time.Sleep(time.Second)
		// k0 is on three, k1 on two of five.
		for _, f := range c.masters[:2] {
			f.Del("k0")
		}
		for _, f := range c.masters[:3] {
			f.Del("k1")
			f.set(func() { f.Paged = true })
		}
		want = slices.Delete(want, 1, 2)
		if got := c.listAll(0, 2, func(int) {}); !slices.Equal(got, want) {
			t.Errorf("listed %q, want %q", got, want)
		}
		opened := make(chan struct{})
		c.q.Open(1, func() { close(opened) })
		<-opened
		if got := c.listAll(1, 2, func(int) {}); len(got) > 0 {
			t.Errorf("database 1 lists %q", got)
		}
		for _, cursor := range []uint64{5, 1 << 18, 15} {
			if _, err := c.q.Scan(c.t.Context(), 0, cursor, anyKey, 2); err == nil || err.Error() != "ERR invalid cursor" {
				t.Errorf("cursor %d: %v", cursor, err)
			}
		}
	})
}

// TestScanGoesOnWithAnotherMaster checks that a listing continues with another master
// when one dies in the middle of its keys.
func TestScanGoesOnWithAnotherMaster(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		var want []string
		for i := range 9 {
			want = append(want, fmt.Sprintf("k%d", i))
			c.want(do(c.q, acquire(want[i], "t", time.Minute)), Won)
		}
		time.Sleep(time.Second)
		for _, f := range c.masters {
			f.set(func() { f.Paged = true })
		}
		got := c.listAll(0, 2, func(step int) {
			if step == 2 {
				c.masters[0].kill()
				time.Sleep(2 * clock.LookEvery)
			}
		})
		if !slices.Equal(got, want) {
			t.Errorf("listed %q, want %q", got, want)
		}
		c.masters[1].kill()
		time.Sleep(2 * clock.LookEvery)
		_, err := c.q.Scan(c.t.Context(), 0, 0, anyKey, 2)
		if err == nil || !strings.HasPrefix(err.Error(), "NOQUORUM 1 of 3 masters can be reached") {
			t.Errorf("without a quorum: %v", err)
		}
	})
}

// TestScanAsksTheRequiredMaster checks that a listing includes the keys of the required
// master, whose word counts by itself (V11).
func TestScanAsksTheRequiredMaster(t *testing.T) {
	inBubbleWith(t, 3, func(cfg *cluster.Config) { cfg.Masters[2].Required = true }, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", time.Minute)), Won)
		time.Sleep(time.Second)
		c.masters[0].Del("k")
		c.masters[1].Del("k")
		c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held)
		if got := c.listAll(0, 10, func(int) {}); !slices.Equal(got, []string{"k"}) {
			t.Errorf("listed %q", got)
		}
	})
}

// TestScanIsBounded checks that a frozen master delays a listing by an operation's stay
// at most, and that only as many keys are read as were asked for and match.
func TestScanIsBounded(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		for i := range 20 {
			c.want(do(c.q, acquire(fmt.Sprintf("k%d", i), "t", time.Minute)), Won)
		}
		time.Sleep(time.Second)
		for _, f := range c.masters {
			f.set(func() { f.Paged = true })
		}
		reads := c.q.Status().Counters.Reads
		page, err := c.q.Scan(c.t.Context(), 0, 0, func(key string) bool { return key == "k0" }, 10)
		if err != nil || len(page.Locks) != 1 || c.q.Status().Counters.Reads != reads+1 {
			t.Errorf("%v, %v, %d reads", page, err, c.q.Status().Counters.Reads-reads)
		}
		c.masters[0].freeze()
		began := time.Now()
		if page, err = c.q.Scan(c.t.Context(), 0, 0, anyKey, 10); err != nil || len(page.Locks) != 10 {
			t.Errorf("%d locks, %v; want 10", len(page.Locks), err)
		}
		if took := time.Since(began); took > 2*c.cfg.Stay() {
			t.Errorf("took %v", took)
		}
	})
}

func TestCopiesAndSize(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "secret", time.Minute)), Won)
		time.Sleep(time.Second)
		if n, err := c.q.Size(c.t.Context(), 0); n != 1 || err != nil {
			t.Errorf("size is %d, %v", n, err)
		}
		c.masters[0].Del("k")
		c.masters[1].Set("k", "other")
		c.masters[2].kill()
		c.masters[3].SetTTL("k", 10*time.Second)
		time.Sleep(time.Second)
		got := c.q.Copies(c.t.Context(), 0, "k")
		want := []Copy{
			{Master: "a", State: Voting, Answered: true},
			{Master: "b", State: Voting, Answered: true, Token: 1, Hold: -1},
			{Master: "c", State: Down},
			{Master: "d", State: Voting, Answered: true, Token: 2, Hold: 9 * time.Second},
			{Master: "e", State: Voting, Answered: true, Token: 2, Hold: got[4].Hold},
		}
		if !slices.Equal(got, want) || got[4].Hold < 55*time.Second {
			t.Errorf("copies are %+v, want %+v", got, want)
		}
		if strings.Contains(fmt.Sprintf("%+v", got), "secret") {
			t.Error("the copies contain the token")
		}
		c.masters[0].kill()
		c.masters[1].kill()
		time.Sleep(time.Second)
		if n, err := c.q.Size(c.t.Context(), 0); err == nil {
			t.Errorf("without a quorum the size is %d", n)
		}
	})
}
