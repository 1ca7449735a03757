package quorum

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/vote"
)

// startBundled begins operations of which the releases go out in one bundle, since a slow one
// before them is under way, and other releases are with them.
func (c *testCluster) startBundled(ops ...Op) []<-chan *Outcome {
	c.slow(time.Millisecond, 0, 1, 2)
	c.bundles++
	outs := []<-chan *Outcome{start(c.q, acquire(fmt.Sprint("before", c.bundles), "t", time.Minute))}
	synctest.Wait()
	releases := 0
	for _, op := range ops {
		outs = append(outs, start(c.q, op))
		if op.Kind == vote.Release {
			releases++
		}
	}
	c.fillBundle(releases)
	return outs[1:]
}

// fillBundle begins as many releases as a bundle of n lacks.
func (c *testCluster) fillBundle(n int) {
	for ; n < outbox.MinBundle; n++ {
		start(c.q, release(fmt.Sprint("with", c.bundles, "-", n), "t"))
	}
}

// releases returns this number of releases of free keys, which differ in each turn.
func releases(turn, n int) (ops []Op) {
	for i := range n {
		ops = append(ops, release(fmt.Sprint("free", turn, "-", i), "t"))
	}
	return ops
}

// TestM2Bundle checks that releases that go out as one script have the same outcomes as when
// sent one by one, and so have acquires between them (M2).
func TestM2Bundle(t *testing.T) {
	inBubbleOf(t, 3, "7.2.4", func(*cluster.Config) {}, func(c *testCluster) {
		c.want(do(c.q, acquire("mine", "t", time.Minute)), Won)
		c.want(do(c.q, acquire("other", "x", time.Minute)), Won)
		c.want(do(c.q, acquire("another", "x", time.Minute)), Won)
		for _, m := range c.masters {
			for _, key := range []string{"foreign", "strange"} {
				m.SetForeign(key)
			}
		}
		synctest.Wait()
		before := len(c.masters[0].commands(0))
		outs := c.startBundled(
			acquire("free", "t", time.Minute), acquire("other", "t", time.Minute), acquire("foreign", "t", time.Minute),
			release("mine", "t"), release("another", "t"), release("none", "t"), release("strange", "t"))
		for i, want := range []Verdict{Won, Held, Held, Won, Held, Absent, Held} {
			if o := <-outs[i]; o.Verdict != want {
				t.Errorf("operation %d: %v (%v), want %v", i, o.Verdict, o.Err, want)
			} else if i == 1 && o.State.Token != "x" {
				t.Errorf("held by %q, want x", o.State.Token)
			}
		}
		time.Sleep(20 * time.Millisecond) // the third master may be some slow commands behind
		for key, copies := range map[string]int{"free": 3, "mine": 0} {
			if n := c.copies(key, "t"); n != copies {
				t.Errorf("%d copies of %s, want %d", n, key, copies)
			}
		}
		if calls := c.masters[0].scriptCalls(before); calls != 1 {
			t.Errorf("%d calls, want a bundle", calls)
		}
	})
}

// scriptCalls counts the script calls that a master got, after the first skip commands.
func (f *fakeMaster) scriptCalls(skip int) (calls int) {
	for _, line := range f.commands(skip) {
		if strings.HasPrefix(line, "EVAL") {
			calls++
		}
	}
	return calls
}

// TestM2BundleKeepsTheOrderOfAKey checks that two operations on one key that a slow
// master gets in one batch keep their order (V7).
func TestM2BundleKeepsTheOrderOfAKey(t *testing.T) {
	inBubbleOf(t, 3, "7.2.4", func(*cluster.Config) {}, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "first", time.Minute)), Won)
		synctest.Wait()
		c.slow(2*time.Millisecond, 2)
		c.want(do(c.q, acquire("before", "t", time.Minute)), Won)
		others := []<-chan *Outcome{start(c.q, acquire("x", "t", time.Minute)), start(c.q, acquire("y", "t", time.Minute))}
		c.fillBundle(1)
		c.want(do(c.q, release("k", "first")), Won)
		c.want(do(c.q, acquire("k", "second", time.Minute)), Won)
		c.want(do(c.q, release("k", "second")), Won)
		c.want(do(c.q, acquire("k", "third", time.Minute)), Won)
		for _, out := range others {
			c.want(<-out, Won)
		}
		time.Sleep(time.Second)
		if holder := c.masters[2].holds("k"); holder != "third" {
			t.Errorf("the slow master has it for %q, want third", holder)
		}
	})
}

// TestM2BundlePartlyRefused checks that an error of one command, within a bundle too, affects
// only the operations that need the command.
func TestM2BundlePartlyRefused(t *testing.T) {
	for _, tt := range []struct {
		command          string
		acquire, release Verdict
		copies           int // of the released key
	}{
		{"MGET", Won, Won, 0},
		{"DEL", Won, Undecided, 3}, // all at once, and then by itself
		{"SET", Undecided, Won, 0},
	} {
		inBubbleOf(t, 3, "7.2.4", func(*cluster.Config) {}, func(c *testCluster) {
			c.want(do(c.q, acquire("mine", "t", time.Minute)), Won)
			synctest.Wait()
			for _, m := range c.masters {
				m.set(func() { m.Refused[tt.command] = "NOPERM this user has no permissions to run it" })
			}
			ops := []Op{release("mine", "t"), release("none", "t")}
			for i := range 3 {
				ops = append(ops, acquire(fmt.Sprint("free", i), "t", time.Minute))
			}
			for i, out := range c.startBundled(ops...) {
				want := []Verdict{tt.release, Absent, tt.acquire, tt.acquire, tt.acquire}[i]
				if o := <-out; o.Verdict != want {
					t.Errorf("without %s, operation %d: %v (%v), want %v", tt.command, i, o.Verdict, o.Err, want)
				}
			}
			time.Sleep(20 * time.Millisecond) // the third master may be some slow commands behind
			if n := c.copies("mine", "t"); n != tt.copies {
				t.Errorf("without %s: %d copies of what was released, want %d", tt.command, n, tt.copies)
			}
		})
	}
}

// TestM2BundleWithASecret checks that a key that redlockd has no right to fails no
// neighbour in a bundle.
func TestM2BundleWithASecret(t *testing.T) {
	inBubbleOf(t, 3, "7.2.4", func(*cluster.Config) {}, func(c *testCluster) {
		c.want(do(c.q, acquire("mine", "t", time.Minute)), Won)
		for _, m := range c.masters {
			m.set(func() { m.Secret = "secret" })
		}
		ops := append(releases(0, 8), release("mine", "t"), release("secret", "t"))
		for i, out := range c.startBundled(ops...) {
			want := Absent
			switch ops[i].Key {
			case "mine":
				want = Won
			case "secret":
				want = Undecided
			}
			if o := <-out; o.Verdict != want {
				t.Errorf("%s: %v (%v), want %v", ops[i].Key, o.Verdict, o.Err, want)
			}
		}
		if n := c.copies("mine", "t"); n != 0 {
			t.Errorf("%d copies of what was released", n)
		}
	})
}

// TestM2BundleWhileBusy checks that an error that a busy master gives to every command is that of
// each release, and that bundles are sent after it as before.
func TestM2BundleWhileBusy(t *testing.T) {
	inBubbleOf(t, 3, "7.2.4", func(*cluster.Config) {}, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", time.Minute)), Won)
		busy := func(text string) {
			for _, m := range c.masters {
				m.refuse(text)
			}
		}
		busy("BUSY Redis is busy running a script.")
		for turn, want := range []Verdict{Undecided, Absent} {
			before, ops := len(c.masters[0].commands(0)), releases(turn, 8)
			for i, out := range c.startBundled(ops...) {
				if o := <-out; o.Verdict != want {
					t.Errorf("turn %d, operation %d: %v (%v), want %v", turn, i, o.Verdict, o.Err, want)
				}
			}
			// The pace decides when a batch goes out, so the number of calls varies.
			if calls := c.masters[0].scriptCalls(before); turn == 1 && calls > len(ops)/2 {
				t.Errorf("%d calls for %d operations, want bundles", calls, len(ops))
			}
			busy("")
			time.Sleep(3 * time.Second)
		}
	})
}

// TestV14BundleForgotten checks that bundles are called by their SHA1, and that a master whose
// scripts were flushed is silent for one of them and then gets the text again (V14).
func TestV14BundleForgotten(t *testing.T) {
	inBubbleOf(t, 3, "7.2.4", func(*cluster.Config) {}, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", time.Minute)), Won)
		for turn, verb := range []string{"EVAL", "EVALSHA", "EVALSHA", "EVAL"} {
			if turn == 2 {
				c.masters[0].FlushScripts()
			}
			before := len(c.masters[0].commands(0))
			for _, out := range c.startBundled(releases(turn, 1)...) {
				c.want(<-out, Absent)
			}
			time.Sleep(20 * time.Millisecond)
			first := slices.IndexFunc(c.masters[0].commands(before), func(line string) bool { return strings.HasPrefix(line, "EVAL") })
			if call := c.masters[0].commands(before)[first]; !strings.HasPrefix(call, verb+" ") || !strings.Contains(call, fmt.Sprint(" 0 free", turn)) {
				t.Errorf("turn %d: %.50s, want %s", turn, call, verb)
			}
		}
	})
}

// TestV6FrozenMasterCarriesOutABatchLate checks that acquires and a bundle that a frozen master
// carries out late leave no lock behind (V6, why 27).
func TestV6FrozenMasterCarriesOutABatchLate(t *testing.T) {
	for _, frozen := range []time.Duration{500 * time.Millisecond, 5 * time.Second} {
		inBubbleOf(t, 3, "7.2.4", func(*cluster.Config) {}, func(c *testCluster) {
			c.want(do(c.q, acquire("warm", "t", 2*time.Second)), Won)
			c.want(do(c.q, acquire("mine", "t", time.Minute)), Won)
			synctest.Wait()
			ops := []Op{release("mine", "t")}
			for i := range 8 {
				ops = append(ops, acquire(fmt.Sprint("lost", i), "t", 2*time.Second))
			}
			outs := c.startBundled(ops...)
			time.Sleep(3500 * time.Microsecond) // what is before them has three commands
			c.masters[0].freeze()
			c.masters[1].freeze()
			before := len(c.masters[0].commands(0))
			for _, out := range outs {
				c.want(<-out, Undecided)
			}
			time.Sleep(frozen)
			c.masters[0].thaw()
			c.masters[1].thaw()
			time.Sleep(1500 * time.Millisecond)
			for _, words := range [][2]string{{"EVAL", "mine"}, {"SET", "lost0"}} {
				if !slices.ContainsFunc(c.masters[0].commands(before), func(line string) bool {
					return strings.HasPrefix(line, words[0]) && strings.Contains(line, words[1])
				}) {
					t.Errorf("frozen for %v: no %s of %s was carried out late", frozen, words[0], words[1])
				}
			}
			for i, op := range ops {
				if n := c.copies(op.Key, "t"); n != 0 {
					t.Errorf("frozen for %v: operation %d: %d copies are left", frozen, i, n)
				}
			}
		})
	}
}

// TestV8ReleaseOfARefusedBundle checks that a release that one master refused in a bundle is
// repeated, also if an acquire of the key by the same token follows it (V8).
func TestV8ReleaseOfARefusedBundle(t *testing.T) {
	inBubbleOf(t, 3, "7.2.4", func(*cluster.Config) {}, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", time.Minute)), Won)
		c.want(do(c.q, acquire("warm", "t", time.Minute)), Won)
		slow := c.masters[2]
		slow.set(func() { slow.Refused["DEL"] = "NOPERM this user has no permissions to run it" })
		c.slow(8*time.Millisecond, 2)
		under := start(c.q, acquire("before", "t", time.Minute))
		c.want(<-under, Won)
		var rest []<-chan *Outcome
		for _, key := range []string{"w", "x", "y"} {
			rest = append(rest, start(c.q, release(key, "t")))
		}
		c.fillBundle(4)
		c.want(do(c.q, release("k", "t")), Won)
		c.masters[0].freeze()
		c.masters[1].freeze()
		c.want(do(c.q, acquire("k", "t", time.Minute)), Undecided)
		c.masters[0].thaw()
		c.masters[1].thaw()
		slow.set(func() { delete(slow.Refused, "DEL") })
		time.Sleep(5 * time.Second)
		for _, out := range rest {
			<-out
		}
		if n := c.copies("k", "t"); n != 0 {
			t.Errorf("%d copies are left", n)
		}
	})
}
