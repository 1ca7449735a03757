package quorum

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
)

// inbox is what a redlockd has heard.
type inbox struct {
	bus Bus
	mu  sync.Mutex
	got []string
}

func listen(q *Quorum) *inbox {
	b := &inbox{}
	b.bus = q.Bus(func(m Message) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.got = append(b.got, fmt.Sprintf("%d %s%s %s", m.Kind, m.Pattern, m.Channel, strings.Join(m.Parts, " ")))
	})
	return b
}

// follow subscribes, and returns how long that took.
func (b *inbox) follow(s Subscription) time.Duration {
	began, ready := time.Now(), make(chan struct{}, 1)
	b.bus.Subscribe(s, func() { ready <- struct{}{} })
	<-ready
	return time.Since(began)
}

// take returns what was heard since the last call, once nothing more comes.
func (b *inbox) take() string {
	time.Sleep(20 * time.Millisecond)
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	got := b.got
	b.got = nil
	slices.Sort(got)
	return strings.Join(got, "; ")
}

func (b *inbox) want(t *testing.T, want string) {
	t.Helper()
	if got := b.take(); got != want {
		t.Errorf("heard %q, want %q", got, want)
	}
}

const kind = 1

// S7: a message is heard once at every other instance that subscribes to its name, by itself
// or by a pattern, while a quorum of the masters is there; and not at the one it came from.
func TestS7HeardOnceElsewhere(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		here, there, byPattern := listen(c.q), listen(c.redlockd()), listen(c.redlockd())
		time.Sleep(3 * time.Second)
		here.follow(Subscription{Name: "ch"})
		there.follow(Subscription{Name: "ch"})
		byPattern.follow(Subscription{Name: "ch"})
		byPattern.follow(Subscription{Name: "c*", Pattern: true})
		all := []struct {
			name   string
			change func()
		}{
			{"all masters", func() {}},
			{"one dead", c.masters[0].kill},
			{"two dead", c.masters[1].kill},
			{"one is back", c.masters[0].startWithMemory},
			{"it alone with two others", c.masters[2].kill},
		}
		for _, step := range all {
			step.change()
			time.Sleep(5 * time.Second)
			here.bus.Publish(kind, "ch", step.name, "\x00")
			here.bus.Publish(kind, "other", step.name)
			there.want(t, "1 ch "+step.name+" \x00")
			byPattern.want(t, "1 ch "+step.name+" \x00; 1 other "+step.name)
			here.want(t, "")
		}
	})
}

// S7: a subscription is there when q masters have confirmed it, however slow the others are,
// or after timeout.
func TestS7ConfirmedByAQuorum(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		b := listen(c.q)
		b.follow(Subscription{Name: "first"}) // connects
		time.Sleep(time.Second)
		for i, f := range c.masters {
			f.away(time.Duration(i+1) * time.Millisecond)
		}
		if took := b.follow(Subscription{Name: "a"}); took != 3*time.Millisecond {
			t.Errorf("confirmed after %v, want the 3ms of the third master", took)
		}
		if took := b.follow(Subscription{Name: "a"}); took != 0 {
			t.Errorf("confirmed again after %v, want at once", took)
		}
		for _, f := range c.masters[2:] {
			f.freeze()
		}
		if took := b.follow(Subscription{Name: "b"}); took != c.cfg.Timeout {
			t.Errorf("given up after %v, want %v", took, c.cfg.Timeout)
		}
		for _, f := range c.masters[2:] {
			f.thaw()
		}
	})
}

// S7: names are subscribed to anew over each new connection, and left when nobody has wanted
// them for a while.
func TestS7SubscribedAnew(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		here, there := listen(c.q), listen(c.redlockd())
		time.Sleep(3 * time.Second)
		s := Subscription{Name: "ch"}
		there.follow(s)
		for _, f := range c.masters {
			f.cut()
		}
		time.Sleep(3 * time.Second)
		here.bus.Publish(kind, "ch", "after the cut")
		there.want(t, "1 ch after the cut")
		there.bus.Unsubscribe(s)
		time.Sleep(15 * time.Second)
		here.bus.Publish(kind, "ch", "nobody is there")
		there.want(t, "")
	})
}

// S7: a frozen master keeps nobody from publishing or hearing, what waits for it is bounded,
// and it is used again when it has thawed.
func TestS7FrozenMaster(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		here, there := listen(c.q), listen(c.redlockd())
		time.Sleep(3 * time.Second)
		there.follow(Subscription{Name: "ch"})
		here.bus.Publish(kind, "ch", "first")
		there.want(t, "1 ch first")
		c.masters[0].freeze()
		heard := 0
		for range 200 { // for four seconds: its connection is closed after two
			for range 50 {
				here.bus.Publish(kind, "ch", strings.Repeat("x", 4096))
			}
			heard += strings.Count(there.take(), "1 ch x")
		}
		if heard != 10000 {
			t.Errorf("%d messages were heard, want 10000", heard)
		}
		if c.q.Status().Counters.MessagesDropped == 0 {
			t.Error("40 MB wait for a master that does not answer")
		}
		time.Sleep(10 * time.Second)
		c.masters[0].thaw()
		time.Sleep(10 * time.Second)
		there.take() // what it had received before comes late
		for i, f := range c.masters {
			if n := f.subscribers("redlockd:ch"); n != 1 {
				t.Errorf("%d subscriptions at master %d, want 1", n, i)
			}
		}
	})
}

// S7: what nobody publishes and nobody waits for opens no connection.
func TestS7CostsNothingUnused(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		connections := func() (n int) {
			for _, f := range c.masters {
				f.set(func() { n += f.near.Connections() })
			}
			return n
		}
		before := connections()
		b := listen(c.q)
		c.want(do(c.q, acquire("k", "t", time.Minute)), Won)
		if n := connections(); n != before {
			t.Errorf("%d connections, want %d", n, before)
		}
		b.bus.Publish(kind, "ch", "m")
		synctest.Wait()
		if n := connections(); n != before+3 {
			t.Errorf("%d connections, want one more for each master of %d", n, before)
		}
	})
}

// S7: many messages at a time arrive all, each once.
func TestS7ManyAtATime(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		here, there := listen(c.q), listen(c.redlockd())
		time.Sleep(3 * time.Second)
		there.follow(Subscription{Name: "ch"})
		var want []string
		for i := range 5000 {
			here.bus.Publish(kind, "ch", fmt.Sprintf("%04d", i))
			want = append(want, fmt.Sprintf("1 ch %04d", i))
		}
		there.want(t, strings.Join(want, "; "))
	})
}

// S7: messages in quick succession gather, for longer where nobody hears them.
func TestS7Gathered(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		here, there := listen(c.q), listen(c.redlockd())
		time.Sleep(3 * time.Second)
		// publish has a message go out each millisecond for a second, and returns how many
		// commands that took at a master.
		publish := func() (commands int) {
			for range 1000 {
				here.bus.Publish(kind, "ch", "m")
				time.Sleep(time.Millisecond)
			}
			time.Sleep(50 * time.Millisecond)
			c.masters[0].set(func() {
				for _, line := range c.masters[0].Log {
					if strings.HasPrefix(line, "PUBLISH ") {
						commands++
					}
				}
				c.masters[0].Log, c.masters[0].From = nil, nil
			})
			return commands
		}
		if n := publish(); n > 80 {
			t.Errorf("%d commands for what nobody hears, want 80 at most", n)
		}
		there.follow(Subscription{Name: "ch"})
		here.bus.Publish(kind, "ch", "heard")
		time.Sleep(20 * time.Millisecond)
		if n := publish(); n < 900 {
			t.Errorf("%d commands for what is heard, want one for each message", n)
		}
		if n := strings.Count(there.take(), "1 ch m"); n != 1000 {
			t.Errorf("%d messages were heard, want 1000", n)
		}
	})
}

// S7: without the right to channels a master is left out, with one warning; without a
// quorum of them, nobody waits for the others.
func TestS7WithoutTheRight(t *testing.T) {
	for name, refused := range map[string]int{"one": 1, "a quorum": 2} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 3, func(c *testCluster) {
				for _, f := range c.masters[:refused] {
					f.set(func() {
						f.Refused["SUBSCRIBE"] = "NOPERM this user has no permissions to run the 'subscribe' command"
					})
				}
				log := &logged{}
				here, there := listen(c.q), listen(c.redlockdTelling(log.logger()))
				time.Sleep(3 * time.Second)
				there.follow(Subscription{Name: "ch"})
				time.Sleep(30 * time.Second)
				for _, f := range c.masters[:refused] {
					f.away(10 * time.Millisecond) // and so refuses a while later
				}
				if took := there.follow(Subscription{Name: "again"}); took != 0 {
					t.Errorf("waited %v for masters that refuse", took)
				}
				if n := log.countOf("refuses messages"); n != refused {
					t.Errorf("%d warnings, want %d", n, refused)
				}
				here.bus.Publish(kind, "ch", "m")
				there.want(t, "1 ch m")
			})
		})
	}
}

// S7: what is published on the required master without redlockd is delivered too, to those
// that subscribe to just that; on another master it is not.
func TestS7PlainOnTheRequired(t *testing.T) {
	inBubbleWith(t, 3, func(cfg *cluster.Config) { cfg.Masters[1].Required = true }, func(c *testCluster) {
		b := listen(c.q)
		b.follow(Subscription{Name: "ch", Plain: true})
		b.follow(Subscription{Name: "c*", Pattern: true, Plain: true})
		time.Sleep(3 * time.Second)
		for i, f := range c.masters {
			f.set(func() { f.Publish("ch", fmt.Sprint("on ", i)) })
		}
		b.want(t, "0 c*ch on 1; 0 ch on 1")
	})
}

// S7: without the right to what is plain the required master still carries what is not, with
// one warning.
func TestS7WithoutTheRightToPlain(t *testing.T) {
	inBubbleWith(t, 3, func(cfg *cluster.Config) { cfg.Masters[1].Required = true }, func(c *testCluster) {
		required := c.masters[1]
		required.set(func() { required.Secret = "ch" })
		log := &logged{}
		b := listen(c.redlockdTelling(log.logger()))
		time.Sleep(3 * time.Second)
		b.follow(Subscription{Name: "ch", Plain: true})
		b.follow(Subscription{Name: "other", Plain: true})
		time.Sleep(30 * time.Second)
		if n := required.subscribers("redlockd:ch"); n != 1 {
			t.Errorf("%d subscriptions, want 1", n)
		}
		if n := log.countOf("refuses messages"); n != 1 {
			t.Errorf("%d warnings, want 1", n)
		}
	})
}

// subscribers returns how many are subscribed to a channel.
func (f *fakeMaster) subscribers(channel string) (n int) {
	f.set(func() { n = f.Publish(channel, "") })
	return n
}

// S7: the list of masters may change: the new one is used, the old one is left.
func TestS7MastersChange(t *testing.T) {
	inBubble(t, 4, func(c *testCluster) {
		four := c.cfg.Masters
		if err := c.q.ChangeMasters(four[:3]); err != nil {
			t.Fatal(err)
		}
		b := listen(c.q)
		b.follow(Subscription{Name: "ch"})
		time.Sleep(10 * time.Minute)
		if n := len(c.q.Status().Masters); n != 3 {
			t.Fatalf("%d masters", n)
		}
		for i, f := range c.masters {
			if n, want := f.subscribers("redlockd:ch"), min(1, 3-i); n != want {
				t.Errorf("%d subscriptions at master %d, want %d", n, i, want)
			}
		}
	})
}
