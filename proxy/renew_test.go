package proxy

import (
	"testing"
	"testing/synctest"
)

// V2: what waits for too long behind a slow reply is renewed, side by side, before
// it is told, and all keep their order.
func TestV2LateOKsAreRenewed(t *testing.T) {
	srv := start(t, nil)
	srv.q.hold("0/slow")
	c := srv.dial(t)
	c.send("LOCK slow x\r\nLOCK a x\r\nPING\r\nLOCK b x\r\n")
	for range 3 {
		wait(t, "a lock", srv.q.asked)
	}
	srv.q.makeStale("0/a", "0/b")
	srv.q.release("0/slow")
	c.want("+OK\r\n")
	for _, key := range []string{"renew 0/a", "renew 0/b"} {
		if got := wait(t, "a renewal", srv.q.asked); got != key {
			t.Errorf("asked %s, want %s", got, key)
		}
	}
	srv.q.renewed("0/b")
	srv.q.renewed("0/a")
	c.want("+OK\r\n+PONG\r\n+OK\r\n")
	c.ask("PING", "+PONG\r\n")
}

// V2: likewise over a connection that is no plain socket, where the first reply is
// late, and late again.
func TestV2LateIsRenewedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, c := pipe(t)
		srv.q.makeStale("0/a")
		c.send("LOCK a x\r\nLOCK b x\r\n")
		synctest.Wait()
		if got := c.received(); got != "" {
			t.Errorf("told %q before it was renewed", got)
		}
		srv.q.makeStale("0/b")
		srv.q.renewed("0/a")
		synctest.Wait()
		if got := c.received(); got != "+OK\r\n" {
			t.Errorf("told %q, want the first", got)
		}
		srv.q.renewed("0/b")
		synctest.Wait()
		if got := c.received(); got != "+OK\r\n" {
			t.Errorf("told %q, want the second", got)
		}
	})
}

// P5: a client that goes while its lock is renewed: it is undone.
func TestP5GoneWhileRenewed(t *testing.T) {
	srv := start(t, nil)
	srv.q.makeStale("0/a")
	c := srv.dial(t)
	c.send("LOCK a x\r\n")
	wait(t, "the lock", srv.q.asked)
	wait(t, "the renewal", srv.q.asked)
	_ = c.Close()
	srv.q.renewed("0/a")
	if got := wait(t, "the undoing", srv.q.undone); got != "0/a" {
		t.Errorf("undone %s", got)
	}
}
