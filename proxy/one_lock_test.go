package proxy

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestOneLock: the holder of a lock, and who wants it: blocked clients, and those that asked in
// vain and are still there.
func TestOneLock(t *testing.T) {
	r := start(t, nil)
	names := map[string]*raw{}
	join := func(name string) *raw {
		c := r.dial(t)
		c.ask("CLIENT SETNAME "+name, "+OK\r\n")
		names[name] = c
		return c
	}
	look := func() OneLock {
		t.Helper()
		l, err := r.OneLock(t.Context(), 0, "lock:k")
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	if l := look(); l.State != "free" || l.Holder != nil || len(l.Waiting) != 0 {
		t.Errorf("before it is taken: %+v", l)
	}
	join("holds").ask("LOCK lock:k secret-token", "+OK\r\n")
	join("asks").ask("LOCK lock:k another", "$-1\r\n")
	join("leaves").ask("LOCK lock:k another", "$-1\r\n")
	join("other").ask("LOCK lock:j another", "+OK\r\n")
	join("waits").send("BLPOP lock-signal:k 0\r\n")
	r.awaitWaiters(t, "lock-signal:k", 1)
	names["leaves"].ask("QUIT", "+OK\r\n")
	for end := time.Now().Add(patience); r.Clients() > 4; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("who has left is still there")
		}
	}
	l := look()
	if l.State != "held" || l.TTL != time.Second || l.Holder == nil || l.Holder.Name != "holds" || !l.Holder.Taken {
		t.Errorf("while it is held: %+v", l)
	}
	if w := l.Waiting; l.More || len(w) != 2 || w[0].Name != "waits" || !w[0].Blocked || w[1].Name != "asks" || w[1].Blocked ||
		time.Since(w[1].Asked) > patience || w[1].Address != names["asks"].LocalAddr().String() {
		t.Errorf("those that want it are %+v", l.Waiting)
	}
	// Somebody else has it by now, through another redlockd.
	r.q.mu.Lock()
	r.q.locks[id(0, "lock:k")] = "another"
	r.q.mu.Unlock()
	if l := look(); l.State != "held" || l.Holder != nil {
		t.Errorf("the holder of before is told: %+v", l.Holder)
	}
}

// TestOneLockRefusals: it opens no database, shows nothing of redlockd's own, and waits for no turn.
func TestOneLockRefusals(t *testing.T) {
	r := start(t, nil)
	expect := func(db int, key string, want error) {
		t.Helper()
		if _, err := r.OneLock(t.Context(), db, key); !errors.Is(err, want) {
			t.Errorf("database %d, %s: %v, want %v", db, key, err, want)
		}
	}
	expect(3, "k", ErrUnopened)
	expect(-1, "k", ErrUnopened)
	expect(1<<30, "k", ErrUnopened)
	if len(r.q.opened) > 0 {
		t.Errorf("databases %v were opened", r.q.opened)
	}
	expect(0, "redlockd:mark", ErrNoSuchLock)
	for range maxLooking {
		r.looking <- struct{}{}
	}
	expect(0, "k", ErrBusy)
	for range maxLooking {
		<-r.looking
	}
	expect(0, "k", nil)
	r.dial(t).ask("SELECT 3", "+OK\r\n")
	expect(3, "k", nil)

	r.q.hold(id(0, "k"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.OneLock(ctx, 0, "k"); !errors.Is(err, context.Canceled) {
		t.Errorf("no answer, and the client has gone: %v", err)
	}
	r.q.release(id(0, "k"))
}
