package proxy

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/proxy/notify"
	"github.com/redlockd/redlockd/proxy/replies"
)

func (r *running) awaitWaiters(t *testing.T, key string, n int) {
	t.Helper()
	for end := time.Now().Add(patience); r.signals.Waiting(notify.Signal{Key: key}) != n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d wait for %s, want %d", r.signals.Waiting(notify.Signal{Key: key}), key, n)
		}
	}
}

// A release that was won wakes one who waits for its list, in order of
// arrival, and tells subscribers; a lost one tells nobody.
func TestReleaseWakes(t *testing.T) {
	r := start(t, nil)
	releaser, first, second, listener := r.dial(t), r.dial(t), r.dial(t), r.dial(t)
	listener.ask("SUBSCRIBE freed", "*3\r\n$9\r\nsubscribe\r\n$5\r\nfreed\r\n:1\r\n")
	releaser.ask("LOCK k a", "+OK\r\n")
	first.send("BLPOP l 0\r\nPING\r\n")
	r.awaitWaiters(t, "l", 1)
	second.send("BRPOP other l 5\r\n")
	r.awaitWaiters(t, "l", 2)
	releaser.ask("WAKE free l 1", ":0\r\n")
	releaser.ask("WAKE k l 1", ":1\r\n")
	first.want("*2\r\n$1\r\nl\r\n$1\r\n1\r\n+PONG\r\n")
	listener.want("*3\r\n$7\r\nmessage\r\n$5\r\nfreed\r\n$1\r\nk\r\n")
	r.awaitWaiters(t, "l", 1)
	releaser.ask("LOCK k a", "+OK\r\n")
	releaser.ask("WAKE k l 1,2,3", ":1\r\n")
	second.want("*2\r\n$1\r\nl\r\n$1\r\n3\r\n")
	r.awaitWaiters(t, "other", 0)
	// What nobody waited for is kept for a time.
	second.ask("BLPOP l 0", "*2\r\n$1\r\nl\r\n$1\r\n1\r\n")
	second.ask("BLPOP l 0", "*2\r\n$1\r\nl\r\n$1\r\n2\r\n")
	second.ask("HELLO 3", "%7\r\n")
}

func TestBLPOPRefusals(t *testing.T) {
	for command, want := range map[string]string{
		"BLPOP l":      "-ERR wrong number of arguments for 'blpop' command\r\n",
		"BLPOP l x":    "-ERR timeout is not a float or out of range\r\n",
		"BRPOP l -1":   "-ERR timeout is negative\r\n",
		"BLPOP l 1e99": "-ERR timeout is out of range\r\n",
		"BLPOP a b c d e f g h i j k l m n o p q 0": "-ERR redlockd waits for 16 lists at most\r\n",
		"BLPOP l 0.0001": "*-1\r\n",
	} {
		t.Run(command, func(t *testing.T) { start(t, nil).dial(t).ask(command, want) })
	}
}

// A client that goes while it waits takes nobody's signal along.
func TestBLPOPOfAClientThatGoes(t *testing.T) {
	r := start(t, nil)
	goes, stays, releaser := r.dial(t), r.dial(t), r.dial(t)
	goes.send("BLPOP l 0\r\n")
	r.awaitWaiters(t, "l", 1)
	stays.send("BLPOP l 0\r\n")
	r.awaitWaiters(t, "l", 2)
	goes.Close()
	r.awaitWaiters(t, "l", 1)
	releaser.ask("LOCK k a", "+OK\r\n")
	releaser.ask("WAKE k l 1", ":1\r\n")
	stays.want("*2\r\n$1\r\nl\r\n$1\r\n1\r\n")
}

// S6: a session that waits ends at once, with the answer of a wait in vain.
func TestBLPOPEndsWithTheServer(t *testing.T) {
	r := start(t, nil)
	c := r.dial(t)
	c.send("BLPOP l 0\r\n")
	r.awaitWaiters(t, "l", 1)
	if err := r.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	c.want("*-1\r\n")
	c.wantEOF()
}

// What comes behind a BLPOP waits for its end, also what does not fit into the
// buffers.
func TestBLPOPHoldsBackWhatIsBehind(t *testing.T) {
	r := start(t, nil)
	c, releaser := r.dial(t), r.dial(t)
	c.send("BLPOP l 0\r\n")
	r.awaitWaiters(t, "l", 1)
	const many = 3 * replies.MaxQueuedBytes / 1000
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for i := range many {
			fmt.Fprintf(c, "ECHO %0994d\r\n", i)
		}
	}()
	releaser.ask("LOCK k a", "+OK\r\n")
	releaser.ask("WAKE k l 1", ":1\r\n")
	c.want("*2\r\n$1\r\nl\r\n$1\r\n1\r\n")
	for i := range many {
		c.want(fmt.Sprintf("$994\r\n%0994d\r\n", i))
	}
	wait(t, "the sender", sent)
}

// A lock that is released through another redlockd sends no signal here: the
// lock itself is looked at.
func TestBLPOPLooksAtTheLock(t *testing.T) {
	for name, list := range map[string]string{"by its name": "lock-signal:k", "by its name at walrus": "lock.event:k", "as seen before": "s"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, c := pipe(t)
				r.signals.Fill(commands.Notice{Signal: "s", Lock: "lock:k"}, time.Now())
				r.q.locks[id(0, "lock:k")] = "another"
				c.send("BLPOP " + list + " 60\r\n")
				time.Sleep(10 * time.Second)
				if got := c.received(); got != "" {
					t.Fatalf("woken by %q while the lock is held", got)
				}
				r.q.mu.Lock()
				delete(r.q.locks, id(0, "lock:k"))
				r.q.mu.Unlock()
				time.Sleep(lookEvery)
				synctest.Wait()
				if got, want := c.received(), fmt.Sprintf("*2\r\n$%d\r\n%s\r\n$1\r\n1\r\n", len(list), list); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			})
		})
	}
}

func TestBLPOPTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := pipe(t)
		c.send("BLPOP l 2.5\r\n")
		time.Sleep(2400 * time.Millisecond)
		if got := c.received(); got != "" {
			t.Fatalf("got %q too early", got)
		}
		time.Sleep(200 * time.Millisecond)
		if got := c.received(); got != "*-1\r\n" {
			t.Errorf("got %q, want the null array", got)
		}
		if n := r.signals.Waiting(notify.Signal{Key: "l"}); n != 0 {
			t.Errorf("%d still wait", n)
		}
		c.send("PING\r\n")
		synctest.Wait()
		if got := c.received(); got != "+PONG\r\n" {
			t.Errorf("got %q afterwards", got)
		}
	})
}
