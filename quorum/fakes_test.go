package quorum

import (
	"context"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/outbox"
)

// fakeMaster is a redisServer whose methods take the lock themselves, with a wire to it.
type fakeMaster struct {
	*redisServer
	t    *testing.T
	near *wire
	at   int // the database that Select has chosen
}

func newFakeMaster(t *testing.T, name string) *fakeMaster {
	// A 6.2 acquires by script.
	s := newServer(&world{began: time.Now()}, name, "6.2.14", nil)
	s.runID, s.told = "run-"+name, true
	f := &fakeMaster{redisServer: s, t: t}
	f.near = f.newWire()
	return f
}

// newWire returns another way to the master.
func (f *fakeMaster) newWire() *wire {
	return &wire{world: f.world, server: f.redisServer, pipes: map[*pipe]bool{}}
}

// dial returns a connection from a redlockd.
func (f *fakeMaster) dial() (net.Conn, error) { return f.near.dial() }

// away has every batch take this long to the master.
func (f *fakeMaster) away(d time.Duration) { f.near.away(d) }

func (w *wire) away(d time.Duration) { w.change(func() { w.there.delay = d }) }

// set changes the master.
func (f *fakeMaster) set(change func()) {
	f.Lock()
	defer f.Unlock()
	change()
}

// kill ends the process; startEmpty or startWithMemory starts it again.
func (f *fakeMaster) kill() { f.set(f.crash) }

// mend ends what kill began, as if only the network had been cut.
func (f *fakeMaster) mend() { f.set(func() { f.down = false }) }

func (f *fakeMaster) startEmpty() {
	f.set(func() {
		f.flush()
		f.scripts = map[string]string{}
		f.runID, f.down = f.runID+"'", false
	})
}

// startWithMemory starts the process again with the keys it had.
func (f *fakeMaster) startWithMemory() {
	f.set(func() { f.runID, f.down = f.runID+"'", false })
}

// cut ends all connections, as the network would: what is on its way still arrives.
func (f *fakeMaster) cut() {
	f.set(func() {
		for _, p := range slices.Clone(f.pipes) {
			p.close()
		}
	})
}

// refuse answers all scripts with an error, until it is called with an empty text.
func (f *fakeMaster) refuse(text string) {
	f.set(func() { f.refused["EVAL"], f.refused["EVALSHA"] = text, text })
}

func (f *fakeMaster) freeze() { f.set(func() { f.frozen = true }) }

func (f *fakeMaster) thaw() {
	f.set(func() {
		f.frozen = false
		f.work()
	})
}

// Select chooses the database of the methods below.
func (f *fakeMaster) Select(db int) { f.set(func() { f.at = db }) }

// holds returns the value of a key, or "".
func (f *fakeMaster) holds(key string) string { return f.valueIn(f.at, key) }

func (f *fakeMaster) valueIn(db int, key string) string {
	f.Lock()
	defer f.Unlock()
	e, _ := f.get(db, key)
	return e.value
}

func (f *fakeMaster) Exists(key string) bool {
	f.Lock()
	defer f.Unlock()
	_, ok := f.get(f.at, key)
	return ok
}

// Set sets a key without an expiry.
func (f *fakeMaster) Set(key, value string) { f.set(func() { f.put(f.at, key, entry{value: value}) }) }

// SetForeign sets a key that is no string.
func (f *fakeMaster) SetForeign(key string) { f.set(func() { f.put(f.at, key, entry{foreign: true}) }) }

func (f *fakeMaster) Del(key string) { f.set(func() { f.del(f.at, key) }) }

func (f *fakeMaster) SetTTL(key string, ttl time.Duration) {
	f.set(func() {
		e, _ := f.get(f.at, key)
		e.expiry = f.millis() + ttl.Milliseconds()
		f.put(f.at, key, e)
	})
}

// TTL returns what is left of a key, or 0.
func (f *fakeMaster) TTL(key string) time.Duration {
	f.Lock()
	defer f.Unlock()
	e, _ := f.get(f.at, key)
	if e.expiry == 0 {
		return 0
	}
	return time.Duration(e.expiry-f.millis()) * time.Millisecond
}

// Keys returns the keys of the chosen database, with the mark.
func (f *fakeMaster) Keys() []string {
	f.Lock()
	defer f.Unlock()
	return f.keys(f.at)
}

func (f *fakeMaster) FlushAll() { f.set(f.flush) }

func (f *fakeMaster) FlushDB() {
	for _, key := range f.Keys() {
		f.Del(key)
	}
}

// FlushScripts forgets the scripts, as SCRIPT FLUSH does.
func (f *fakeMaster) FlushScripts() { f.set(func() { f.scripts = map[string]string{} }) }

// commands returns the commands that the master got, after the first skip.
func (f *fakeMaster) commands(skip int) []string {
	f.Lock()
	defer f.Unlock()
	return slices.Clone(f.log[skip:])
}

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
	synctest.Test(t, func(t *testing.T) {
		c := &testCluster{t: t, cfg: cluster.DefaultConfig()}
		for i := range n {
			f := newFakeMaster(t, string(rune('a'+i)))
			c.masters = append(c.masters, f)
			c.cfg.Masters = append(c.cfg.Masters, cluster.Master{Name: f.name, Address: f.name + ":1", Dial: f.dial})
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
		f.kill()
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
	q, err := newQuorum(c.cfg, log, now)
	if err != nil {
		c.t.Fatal(err)
	}
	c.all = append(c.all, q)
	return q
}

func (c *testCluster) stop(q *Quorum) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_ = q.Close(ctx)
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
