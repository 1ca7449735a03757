package quorum

import (
	"testing"
	"testing/synctest"
	"time"
)

// comesLate has the redlockd carry out op while the part for one master is on its way
// for 8 s and its connection is then cut. After 10 s the write would fail.
func (c *testCluster) comesLate(f *fakeMaster, op Op) {
	c.t.Helper()
	time.Sleep(500 * time.Millisecond) // no look comes in between
	f.away(8 * time.Second)
	c.want(do(c.q, op), Won)
	synctest.Wait()
	f.away(0)
	f.cut()
}

// keepsNextLock takes the lock again, on all masters, before the late command arrives,
// and checks that this deletes no copy of it.
func (c *testCluster) keepsNextLock(f *fakeMaster) {
	c.t.Helper()
	f.Del("k") // as if the late command had come in time
	c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
	synctest.Wait()
	if n := c.copies("k", "t"); n != 3 {
		c.t.Fatalf("%d copies before what is late, want 3", n)
	}
	time.Sleep(10 * time.Second)
	if n := c.copies("k", "t"); n != 3 {
		c.t.Errorf("%d copies of the living lock, want 3: what was asked for before it has freed it", n)
	}
}

// TestM3FenceRemembersOverAnotherServer checks that a connection whose fence was
// interrupted because another server answered at the address is ended when the first
// server is back (M3).
func TestM3FenceRemembersOverAnotherServer(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		f := c.masters[0]
		c.want(do(c.q, acquire("k", "t", second)), Won)
		synctest.Wait()
		c.comesLate(f, release("k", "t"))
		for i, runID := range []string{"run-another", "run-a"} {
			f.set(func() { f.RunID = runID })
			f.cut()
			time.Sleep(time.Duration(1+5*i) * time.Second) // the quarantine after a lock of a second is shorter
		}
		c.keepsNextLock(f)
	})
}

// TestM3DeadlineWithoutFence checks that operations that delete have a deadline if
// earlier connections cannot be ended (M3).
func TestM3DeadlineWithoutFence(t *testing.T) {
	for name, op := range map[string]Op{
		"release": release("k", "t"),
		"remove":  {Kind: Remove, Key: "k"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 3, func(c *testCluster) {
				c.stop(c.q)
				for _, f := range c.masters {
					f.set(func() {
						f.Refused["CLIENT KILL"] = "NOPERM this user has no permissions to run the 'client|kill' command"
					})
				}
				c.q = c.redlockd()
				c.ready()
				c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
				synctest.Wait()
				c.comesLate(c.masters[0], op)
				time.Sleep(4 * time.Second)
				c.keepsNextLock(c.masters[0])
			})
		})
	}
}
