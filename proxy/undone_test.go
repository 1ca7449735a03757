package proxy

import (
	"testing"
	"time"
)

// TestHeldForgetsWhatIsUndone: a client that has gone holds nothing.
func TestHeldForgetsWhatIsUndone(t *testing.T) {
	r := start(t, nil)
	stays, goes := r.dial(t), r.dial(t)
	stays.ask("LOCK a t", "+OK\r\n")
	key := id(0, "b")
	r.q.hold(key)
	goes.send("LOCK b t\r\n")
	wait(t, "the first to be asked", r.q.asked)
	wait(t, "the second to be asked", r.q.asked)
	goes.Close()
	r.q.mu.Lock()
	client := r.q.clients[len(r.q.clients)-1]
	r.q.mu.Unlock()
	for deadline := time.Now().Add(patience); !client.Gone() && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	r.q.release(key)
	wait(t, "b to be undone", r.q.undone)
	total, held := r.Held(5)
	if total != 1 || len(held) != 1 || held[0].Key != "a" || held[0].Address != stays.LocalAddr().String() {
		t.Errorf("%d held: %+v", total, held)
	}
}
