package quorum

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/outbox"
)

// TestM1WaitingForAMasterIsBounded checks that what waits for one master is bounded in
// number and bytes; that at the bound acquires and reads are refused at once, while
// releases and rollbacks have as much again for themselves; and that all works again
// afterwards (M1).
func TestM1WaitingForAMasterIsBounded(t *testing.T) {
	for name, long := range map[string]int{"in number": 0, "in bytes": 16 << 10} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 1, func(c *testCluster) {
				f := flood{testCluster: c, long: strings.Repeat("k", long)}
				c.want(do(c.q, acquire("mine", "t", 10*time.Minute)), Won)
				c.masters[0].freeze()
				under := start(c.q, Op{Kind: Read, Key: "a batch is under way"})
				synctest.Wait()
				began := time.Now()
				locks, fit := f.until(func(key string) Op { return acquire(key, "t", 10*time.Minute) }, 1)
				c.want(do(c.q, Op{Kind: Read, Key: "read"}), Undecided)
				c.want(do(c.q, Op{Kind: Extend, Key: "mine", Token: "t", TTL: time.Minute}), Undecided)
				releases, more := f.until(func(key string) Op { return release(key, "t") }, 2)
				if more < fit-1 || more > fit+1 {
					t.Errorf("%d releases get in behind %d others, want as many again", more, fit)
				}
				c.want(do(c.q, release("mine", "t")), Undecided)
				if took := time.Since(began); took > 0 {
					t.Errorf("what was refused took %v", took)
				}

				time.Sleep(2 * c.cfg.Timeout)
				c.masters[0].thaw()
				time.Sleep(3 * time.Second)
				for _, out := range append(append(locks, releases...), under) {
					c.want(<-out, Undecided)
				}
				c.want(do(c.q, release("mine", "t")), Won) // what was refused is not repeated
				f.wantNothingLeft()
				c.want(do(c.q, acquire("mine", "t", time.Minute)), Won)
				c.want(do(c.q, release("mine", "t")), Won)
			})
		})
	}
}

// flood is many operations on long keys of their own.
type flood struct {
	*testCluster
	long string
	n    int
}

func (f *flood) link() *cluster.Link { return f.q.cluster.Opened(0).List().Links[0] }

// until starts operations until 100 were refused at once, which must happen exactly at
// times the bounds, and returns the others.
func (f *flood) until(op func(key string) Op, times int) (outs []<-chan *Outcome, fit int) {
	f.t.Helper()
	for refused := 0; refused < 100; f.n++ {
		out := start(f.q, op(fmt.Sprint(f.long, f.n)))
		select {
		case o := <-out:
			if f.want(o, Undecided); !strings.Contains(o.Err.Error(), "1 silent (a overloaded)") {
				f.t.Fatal(o.Err)
			}
			refused++
		default:
			outs = append(outs, out)
			fit++
		}
		var n, bytes int
		withLocked(f.link(), func(l cluster.Locked) { n, bytes = l.Outbox().Queued() })
		if n > times*outbox.MaxQueued || bytes > times*outbox.MaxQueuedBytes+len(f.long)+300 {
			f.t.Fatalf("%d of %d bytes wait", n, bytes)
		}
		if reached := n == times*outbox.MaxQueued || bytes >= times*outbox.MaxQueuedBytes; refused > 0 && !reached {
			f.t.Fatalf("refused where %d of %d bytes wait", n, bytes)
		}
	}
	return outs, fit
}

// wantNothingLeft checks that all memory was given back and all tasks were carried out.
func (f *flood) wantNothingLeft() {
	f.t.Helper()
	withLocked(f.link(), func(l cluster.Locked) {
		if tasks, bytes := l.Outbox().Queued(); tasks != 0 || bytes != 0 {
			f.t.Errorf("%d tasks of %d bytes wait", tasks, bytes)
		}
		if tasks, bytes := l.Outbox().Kept(); tasks != 0 || bytes != 0 {
			f.t.Errorf("%d releases of %d bytes are kept", tasks, bytes)
		}
	})
	// Also the rollbacks of the acquires.
	if keys := f.masters[0].Keys(); len(keys) != 1 {
		f.t.Errorf("%d locks are left", len(keys)-1)
	}
}

// TestV7WaitingForAKeyIsBounded checks that no more than maxWaiting calls wait for one
// key, including calls on several keys (V7).
func TestV7WaitingForAKeyIsBounded(t *testing.T) {
	inBubble(t, 1, func(c *testCluster) {
		c.masters[0].freeze()
		first := start(c.q, acquire("k", "t", time.Minute))
		outs := make([]<-chan *Outcome, maxWaiting)
		for i := range outs {
			outs[i] = start(c.q, acquire("k", "t", time.Minute))
		}
		both := Op{Kind: DecideAll, Key: "free", Keys: []string{"free", "k"}, DecideAll: func([]State) []Change { return nil }}
		for _, op := range []Op{acquire("k", "t", time.Minute), release("k", "t"), both} {
			select {
			case o := <-start(c.q, op):
				if c.want(o, Undecided); o.Err.Error() != "NOQUORUM too many operations wait for this key" {
					t.Errorf("%v: %v", op.Kind, o.Err)
				}
			default:
				t.Errorf("%v waits beyond the bound", op.Kind)
			}
		}
		c.masters[0].thaw()
		c.want(<-first, Won)
		for _, out := range outs {
			c.want(<-out, Held)
		}
		c.want(do(c.q, both), Won)
		synctest.Wait() // the last one leaves after it is answered
		if s := c.q.Status(); s.Waiting != 0 || s.UnderWay != 0 {
			t.Errorf("%d wait, %d are under way", s.Waiting, s.UnderWay)
		}
	})
}
