package proxy

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

const subscribedToC = "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n"

// S7: SUBSCRIBE is answered when the masters have it, and what follows it waits; a name that
// they have already does not.
func TestS7SubscribeWaitsForTheMasters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, c := pipe(t)
		srv.q.bus.set(true)
		c.send("PING\r\nSUBSCRIBE c\r\nPING\r\n")
		synctest.Wait()
		if got := c.received(); got != "+PONG\r\n" {
			t.Errorf("got %q before the masters have it", got)
		}
		srv.q.bus.set(false)
		synctest.Wait()
		if got, want := c.received(), subscribedToC+"*2\r\n$4\r\npong\r\n$0\r\n\r\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		srv.q.bus.set(true)
		c.send("SUBSCRIBE c\r\n")
		synctest.Wait()
		if got := c.received(); got != subscribedToC {
			t.Errorf("got %q, want the reply at once", got)
		}
	})
}

// S7: what ends a subscription, or the session, ends it at the masters.
func TestS7SubscriptionsEnd(t *testing.T) {
	for name, end := range map[string]string{"one": "UNSUBSCRIBE c\r\nUNSUBSCRIBE c\r\nPUNSUBSCRIBE\r\nSUNSUBSCRIBE\r\n", "RESET": "RESET\r\n", "the client goes": "QUIT\r\n"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, c := pipe(t)
				c.send("SUBSCRIBE c c\r\nPSUBSCRIBE c*\r\nSSUBSCRIBE c\r\n")
				synctest.Wait()
				if n := srv.q.bus.names(); n != 3 {
					t.Errorf("%d names, want 3", n)
				}
				c.send(end)
				synctest.Wait()
				if n := srv.q.bus.names(); n != 0 {
					t.Errorf("%d names are left", n)
				}
			})
		})
	}
}

// S7: what another redlockd tells is delivered, what nobody may send is not.
func TestS7HearsOthers(t *testing.T) {
	srv := start(t, nil)
	c, shard := srv.dial(t), srv.dial(t)
	c.ask("SUBSCRIBE c", subscribedToC)
	c.ask("PSUBSCRIBE *", "*3\r\n$10\r\npsubscribe\r\n$1\r\n*\r\n:2\r\n")
	shard.ask("SSUBSCRIBE c", "*3\r\n$10\r\nssubscribe\r\n$1\r\nc\r\n:1\r\n")
	for _, m := range []quorum.Message{
		{Kind: 'p', Channel: "c"}, {Kind: 'x', Channel: "c", Parts: []string{"no"}}, {Kind: 'f', Channel: "c", Parts: []string{"no"}},
		{Kind: quorum.Plain, Channel: "__keyevent@0__:del", Pattern: "*", Parts: []string{"no"}},
		{Kind: 'p', Channel: "c", Parts: []string{"1"}}, {Kind: 's', Channel: "c", Parts: []string{"2"}},
		{Kind: quorum.Plain, Channel: "c", Parts: []string{"3"}}, {Kind: quorum.Plain, Channel: "c", Pattern: "*", Parts: []string{"4"}},
	} {
		srv.q.bus.deliver(m)
	}
	c.want("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\n1\r\n*4\r\n$8\r\npmessage\r\n$1\r\n*\r\n$1\r\nc\r\n$1\r\n1\r\n")
	c.want("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\n3\r\n*4\r\n$8\r\npmessage\r\n$1\r\n*\r\n$1\r\nc\r\n$1\r\n4\r\n")
	shard.want("*3\r\n$8\r\nsmessage\r\n$1\r\nc\r\n$1\r\n2\r\n")
}

// S7: the others are told after the verdict, and only of what was carried out.
func TestS7ToldAfterTheVerdict(t *testing.T) {
	srv := start(t, nil)
	c := srv.dial(t)
	c.ask("LOCK k a", "+OK\r\n")
	srv.q.hold("0/k")
	c.send("WAKE free l 1\r\nWAKE k l 1,2\r\nSPUBLISH c m\r\n")
	for key := ""; key != "0/k"; {
		key = wait(t, "the release", srv.q.asked)
	}
	if n := len(srv.q.bus.asked); n > 0 {
		t.Errorf("told before the verdict: %q", <-srv.q.bus.asked)
	}
	srv.q.release("0/k")
	c.want(":0\r\n:1\r\n:0\r\n")
	for _, want := range []string{"f 0:l k 1 2", "p freed k", "s c m"} {
		if got := wait(t, "a message", srv.q.bus.asked); got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	}
}

// S7: a list that was filled elsewhere wakes who waits, of each redlockd as many as there are
// items; nothing is kept for who comes later.
func TestS7ListsFilledElsewhere(t *testing.T) {
	srv := start(t, nil)
	srv.q.locks[id(0, "lock")] = "t"
	first, second, later := srv.dial(t), srv.dial(t), srv.dial(t)
	fill := func(items ...string) {
		srv.q.bus.deliver(quorum.Message{Kind: 'f', Channel: "0:l", Parts: append([]string{"lock"}, items...)})
	}
	fill("0")
	first.send("BLPOP l 0\r\n")
	srv.awaitWaiters(t, "l", 1)
	second.send("BRPOP l 0\r\n")
	srv.awaitWaiters(t, "l", 2)
	fill("1", "2")
	first.want("*2\r\n$1\r\nl\r\n$1\r\n1\r\n")
	second.want("*2\r\n$1\r\nl\r\n$1\r\n2\r\n")
	fill("3")
	later.ask("BLPOP l 0.001", "*-1\r\n")
	if n := srv.q.bus.names(); n != 0 {
		t.Errorf("%d names are left", n)
	}
}

// S7: who released the lock before the masters had the list's name was not heard. So a client
// that pops looks at the lock soon after they have it, and not at once: one that finds the lock
// free is answered as by Redis.
func TestS7PopLooksWhenItHears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, c := pipe(t)
		srv.q.locks[id(0, "lock:k")] = "t"
		srv.q.bus.set(true)
		c.send("BLPOP lock-signal:k 0\r\n")
		synctest.Wait()
		srv.q.mu.Lock()
		delete(srv.q.locks, id(0, "lock:k"))
		srv.q.mu.Unlock()
		srv.q.bus.set(false)
		for _, want := range []string{"", "*2\r\n$13\r\nlock-signal:k\r\n$1\r\n1\r\n"} {
			synctest.Wait()
			if got := c.received(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			time.Sleep(lookEvery / 10)
		}
	})
}
