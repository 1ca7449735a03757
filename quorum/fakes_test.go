package quorum

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/outbox"
)

// testCluster is a Quorum over fake masters.
type testCluster struct {
	t       *testing.T
	masters []*fakeMaster
	cfg     cluster.Config
	q       *Quorum
	all     []*Quorum
	bundles int
}

// inBubble runs a test in virtual time over n fake masters that may vote.
func inBubble(t *testing.T, n int, test func(c *testCluster)) {
	t.Helper()
	inBubbleWith(t, n, func(*cluster.Config) {}, test)
}

// inBubbleWith is inBubble with another configuration.
func inBubbleWith(t *testing.T, n int, change func(*cluster.Config), test func(c *testCluster)) {
	t.Helper()
	inBubbleOf(t, n, "6.2.14", change, test)
}

// inBubbleOf is inBubbleWith with masters of this version.
func inBubbleOf(t *testing.T, n int, version string, change func(*cluster.Config), test func(c *testCluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &testCluster{t: t, cfg: cluster.DefaultConfig()}
		for i := range n {
			f := newFakeMaster(t, string(rune('a'+i)))
			f.Version = version
			c.masters = append(c.masters, f)
			c.cfg.Masters = append(c.cfg.Masters, cluster.Master{Name: f.Name, Address: f.Name + ":1", Dial: f.dial})
		}
		change(&c.cfg)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := cluster.Bootstrap(ctx, c.cfg, hclog.NewNullLogger()); err != nil {
			t.Fatalf("bootstrap: %v", err)
		}
		c.q = c.redlockd()
		c.ready()
		defer c.end()
		test(c)
	})
}

// end stops everything, so that the bubble can end.
func (c *testCluster) end() {
	for _, f := range c.masters {
		f.thaw()
	}
	for _, q := range c.all {
		c.stop(q)
	}
	for _, f := range c.masters {
		f.set(f.Dispose)
	}
	time.Sleep(15 * time.Second) // the background goroutines of rueidis end
	synctest.Wait()
}

// redlockd starts one more redlockd over the same masters.
func (c *testCluster) redlockd() *Quorum {
	c.t.Helper()
	return c.redlockdWith(hclog.NewNullLogger(), clock.Monotonic())
}

// redlockdTelling is redlockd with a log.
func (c *testCluster) redlockdTelling(log hclog.Logger) *Quorum {
	c.t.Helper()
	return c.redlockdWith(log, clock.Monotonic())
}

// redlockdBy is redlockd with a clock of its own.
func (c *testCluster) redlockdBy(now clock.Clock) *Quorum {
	c.t.Helper()
	return c.redlockdWith(hclog.NewNullLogger(), now)
}

func (c *testCluster) redlockdWith(log hclog.Logger, now clock.Clock) *Quorum {
	c.t.Helper()
	q, err := NewWithClock(c.cfg, log, now)
	if err != nil {
		c.t.Fatal(err)
	}
	c.all = append(c.all, q)
	return q
}

// stop returns what Close does.
func (c *testCluster) stop(q *Quorum) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return q.Close(ctx)
}

// ready waits until all reachable masters vote.
func (c *testCluster) ready() {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	if err := c.q.WaitReady(ctx); err != nil {
		c.t.Fatalf("no majority votes: %v", c.q.Status().Masters)
	}
	time.Sleep(3137 * time.Millisecond) // a test's whole seconds are not those of the looks
}

// alive is a client that waits for its answer.
type alive struct{ _ byte }

func (*alive) Gone() bool { return false }

// start begins an operation and returns the channel of its outcome.
func start(q *Quorum, op Op) <-chan *Outcome {
	out := make(chan *Outcome, 1)
	q.Do(&op, &alive{}, func(o *Outcome) { out <- o })
	return out
}

func do(q *Quorum, op Op) *Outcome { return <-start(q, op) }

// confirmed reports whether an outcome is confirmed at once.
func confirmed(o *Outcome) bool {
	_, err := o.Confirm(o.Clock())
	return err == nil
}

func acquire(key, token string, ttl time.Duration) Op {
	return Op{Kind: Acquire, Key: key, Token: token, TTL: ttl}
}

func release(key, token string) Op { return Op{Kind: Release, Key: key, Token: token} }

// want fails the test if the verdict is another one.
func (c *testCluster) want(o *Outcome, v Verdict) *Outcome {
	c.t.Helper()
	if o.Verdict != v {
		c.t.Fatalf("verdict is %v (%v), want %v", o.Verdict, o.Err, v)
	}
	if (o.Err != nil) != (v == Undecided || v == Split) {
		c.t.Fatalf("verdict %v with error %v", v, o.Err)
	}
	return o
}

// copies counts the masters that hold the token.
func (c *testCluster) copies(key, token string) int {
	n := 0
	for _, f := range c.masters {
		if f.holds(key) == token {
			n++
		}
	}
	return n
}

// withLocked calls do with a link locked.
func withLocked(l *cluster.Link, do func(cluster.Locked)) { l.Ask(whileLocked(do), 0, 0) }

// whileLocked is a Preparer that makes no task.
type whileLocked func(cluster.Locked)

func (do whileLocked) Prepare(_ int, l cluster.Locked, _ time.Duration) (*outbox.Task, bool) {
	do(l)
	return nil, false
}
