package replies

import (
	"net"
	"testing"
	"time"

	"github.com/redlockd/redlockd/proxy/history"
	"github.com/redlockd/redlockd/proxy/memory"
	"github.com/redlockd/redlockd/quorum"
)

// Who has much to be written has many turns, so that the others are not kept
// waiting for theirs; what is more than a turn goes out alone.
func TestTurnsAreShort(t *testing.T) {
	p := &Pipeline{}
	for range 40 {
		p.pushLocked(&Slot{Size: 9000})
	}
	p.pushLocked(&Slot{Size: 2 * maxBatchBytes})
	p.pushLocked(&Slot{Size: 1})
	w := &batch{}
	turns, taken := 0, 0
	for p.head != nil {
		p.take(w)
		size := 0
		for _, sl := range w.slots[:len(w.slots)-1] {
			size += sl.Size
		}
		if size >= maxBatchBytes {
			t.Errorf("turn %d: %d bytes and one more", turns, size)
		}
		turns, taken = turns+1, taken+len(w.slots)
	}
	if taken != 42 || turns != 7 {
		t.Errorf("%d replies in %d turns, want 42 in 7", taken, turns)
	}
}

// Where an operation was the only one under way, its reply is written by the goroutine that brings
// the outcome; else by a writer, so that this goroutine can bring others.
func TestReplyToTheOnlyOperation(t *testing.T) {
	for name, alone := range map[string]bool{"the only one": true, "others are under way": false} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			client, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			conn, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			limits := func() Limits { return Limits{Waiting: 9, WriteTimeout: time.Minute, SlowerThan: time.Hour} }
			ws := NewWriters(&promised{}, limits, &history.SlowLog{}, &history.Counters{})
			defer ws.Close()
			account := &memory.Account{}
			account.Open(memory.NewPool(func() int64 { return 1 << 20 }, func() {}))
			p := NewPipeline(ws, conn, account, &owner{func() {}})
			sl := slot()
			p.Add(sl)
			p.Outcome(sl, 0, &quorum.Outcome{Verdict: quorum.Held, Alone: alone})
			ws.mu.Lock()
			writers := ws.running
			ws.mu.Unlock()
			if alone && (p.Sent() == 0 || writers > 0) || !alone && writers == 0 {
				t.Errorf("%d bytes were sent by then, %d writers", p.Sent(), writers)
			}
			p.Finish()
			if p.Sent() != uint64(len("$-1\r\n")) {
				t.Errorf("%d bytes were sent", p.Sent())
			}
		})
	}
}
