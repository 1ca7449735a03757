package replies

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/history"
	"github.com/redlockd/redlockd/proxy/memory"
	"github.com/redlockd/redlockd/quorum"
)

// promised are promises of which those of granted hold until late.
type promised struct {
	mu      sync.Mutex
	granted map[*quorum.Outcome]bool
	late    bool
	undone  int
	// stops is for how long this process is stopped after the first Confirm, which
	// makes what was confirmed late.
	stops time.Duration
}

func (p *promised) Clock(*quorum.Outcome) time.Duration { return 1 }

func (p *promised) Confirm(o *quorum.Outcome, _ time.Duration) (left time.Duration, err error) {
	p.mu.Lock()
	granted, late, stops := p.granted[o], p.late && p.granted[o], p.stops
	p.late, p.stops = p.late || stops > 0, 0
	p.mu.Unlock()
	if late {
		return 0, errors.New("NOQUORUM too late")
	}
	time.Sleep(stops)
	if granted {
		left = time.Second
	}
	return left, nil
}

func (p *promised) Undo(*quorum.Outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.undone++
}

func (p *promised) MustRenew(*quorum.Outcome, time.Duration) bool { return false }
func (p *promised) Renew(*quorum.Outcome, quorum.Client, func())  {}
func (p *promised) undos() int                                    { p.mu.Lock(); defer p.mu.Unlock(); return p.undone }

// owner ends a pipeline as a session does.
type owner struct{ end func() }

func (o *owner) Kill()             { o.end() }
func (o *owner) Log() hclog.Logger { return hclog.NewNullLogger() }

// piped is a pipeline over a pipe, and what its client has read.
type piped struct {
	*Pipeline
	promises *promised
	client   net.Conn
	mu       sync.Mutex
	read     string
}

func newPiped(t *testing.T) *piped {
	p := &piped{promises: &promised{granted: map[*quorum.Outcome]bool{}}}
	limits := func() Limits { return Limits{Waiting: 9, WriteTimeout: time.Minute, SlowerThan: time.Hour} }
	ws := NewWriters(p.promises, limits, &history.SlowLog{}, &history.Counters{})
	account := &memory.Account{}
	account.Open(memory.NewPool(func() int64 { return 1 << 20 }, func() {}))
	ours, theirs := net.Pipe()
	p.client = theirs
	end := sync.OnceFunc(func() {
		ours.Close()
		p.SetGone()
		p.Abort()
	})
	p.Pipeline = NewPipeline(ws, ours, account, &owner{end})
	t.Cleanup(func() { end(); ws.Close(); theirs.Close() })
	go func() {
		b := make([]byte, 64)
		for {
			n, err := theirs.Read(b)
			p.mu.Lock()
			p.read += string(b[:n])
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return p
}

// received is all that the client has read, once nothing more happens.
func (p *piped) received() string {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.read
}

// slot is that of a command that takes a lock.
func slot() *Slot {
	sl := &Slot{Proto: 2, Holder: &history.Holder{}, Held: history.NewLocks(nil, func(history.Lost) {})}
	sl.Shape = func(outs []*quorum.Outcome) resp.Reply {
		if outs[0].Verdict == quorum.Won {
			return resp.OK
		}
		return resp.Null
	}
	sl.Expect([]quorum.Op{{Kind: quorum.Acquire, Key: "k", Token: "t", TTL: time.Second}})
	return sl
}

// acquire queues it.
func (p *piped) acquire() *Slot {
	sl := slot()
	p.Add(sl)
	return sl
}

// grant fills it.
func (p *piped) grant(sl *Slot) {
	o := &quorum.Outcome{Verdict: quorum.Won}
	p.promises.mu.Lock()
	p.promises.granted[o] = true
	p.promises.mu.Unlock()
	p.Outcome(sl, 0, o)
}

// S1: replies leave in the order of their commands, however their outcomes come.
func TestS1PipelineKeepsTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPiped(t)
		first, second, third := p.acquire(), p.acquire(), p.acquire()
		p.Add(&Slot{Reply: resp.Pong, Proto: 2})
		p.grant(third)
		p.Flush()
		if got := p.received(); got != "" {
			t.Errorf("%q overtook the first reply", got)
		}
		p.Outcome(first, 0, &quorum.Outcome{Verdict: quorum.Held})
		if got := p.received(); got != "$-1\r\n" {
			t.Errorf("got %q, want the first reply alone", got)
		}
		p.grant(second)
		const want = "$-1\r\n+OK\r\n+OK\r\n+PONG\r\n"
		if got := p.received(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if !p.Idle() || p.Sent() != uint64(len(want)) {
			t.Errorf("%d bytes are counted, idle: %v", p.Sent(), p.Idle())
		}
	})
}

// S1: what commands do besides their replies is done in their order, once each, and for a
// client that has gone, too.
func TestS1EffectsKeepTheOrder(t *testing.T) {
	for name, aborted := range map[string]bool{"a client that stays": false, "one that has gone": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, done := newPiped(t), ""
				add := func(what string) *Slot {
					sl := slot()
					sl.After = func([]*quorum.Outcome) { done += what }
					p.Add(sl)
					return sl
				}
				first, plain, second := add("a"), p.acquire(), add("b")
				p.Add(&Slot{Reply: resp.Pong, Proto: 2, After: func([]*quorum.Outcome) { done += "c" }})
				held := func(sl *Slot) { p.Outcome(sl, 0, &quorum.Outcome{Verdict: quorum.Held}) }
				held(second)
				if aborted {
					p.Abort()
				}
				if held(first); done != "a" {
					t.Errorf("done: %q, want a alone", done)
				}
				if held(plain); done != "abc" {
					t.Errorf("done: %q, want abc", done)
				}
				p.AwaitOutcomes()
				held(add("d")) // when nothing waits, or when it is too late to be answered
				if done != "abcd" {
					t.Errorf("done: %q, want abcd", done)
				}
				want := "$-1\r\n$-1\r\n$-1\r\n+PONG\r\n$-1\r\n"
				if aborted {
					want = ""
				}
				if got := p.received(); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			})
		})
	}
}

// V2: a grant that cannot be confirmed any more is answered as an error.
func TestV2LateGrantIsNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPiped(t)
		p.promises.late = true
		p.grant(p.acquire())
		if got, want := p.received(), "-NOQUORUM too late\r\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// V2: where this process is stopped between the confirming of a grant and its write,
// the grant becomes an error, and the connection and the other replies stay.
func TestV2StoppedBeforeTheWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPiped(t)
		p.promises.stops = 2 * time.Second
		late := p.acquire()
		p.Add(&Slot{Reply: resp.Pong, Proto: 2})
		p.grant(late)
		time.Sleep(3 * time.Second)
		if got, want := p.received(), "-NOQUORUM too late\r\n+PONG\r\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		p.promises.late = false
		p.grant(p.acquire())
		if got, want := p.received(), "-NOQUORUM too late\r\n+PONG\r\n+OK\r\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// P5: what is granted to a client that has gone, or whose session has ended, is
// undone, once each.
func TestP5GrantsOfAGoneClientAreUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPiped(t)
		p.SetGone()
		p.grant(p.acquire())
		if got := p.received(); got != "-"+ErrClientGone.Text+"\r\n" || p.promises.undos() != 1 {
			t.Errorf("told %q, %d undone", got, p.promises.undos())
		}
		before, after := p.acquire(), p.acquire()
		p.grant(after) // waits behind the other one
		p.Abort()
		p.grant(before)
		synctest.Wait()
		if n := p.promises.undos(); n != 3 {
			t.Errorf("%d are undone, want all 3", n)
		}
	})
}

// S5: messages that nobody reads are bounded, and replies wait for nobody's.
func TestS5MessagesAreBounded(t *testing.T) {
	p := NewPipeline(NewWriters(&promised{}, nil, nil, nil), nopConn{}, &memory.Account{}, nil)
	p.account.Open(memory.NewPool(func() int64 { return 1 << 40 }, func() {}))
	p.writing = true // nobody has a turn
	size := MaxMessageBytes / 4
	for i := range 4 {
		if !p.Message(resp.Push(resp.Bulk("m")), 2, size) {
			t.Errorf("message %d is refused", i)
		}
	}
	if p.Message(resp.Push(resp.Bulk("m")), 2, size) {
		t.Error("there is no bound")
	}
	if waiting, bytes := p.Size(); waiting != 0 || bytes != MaxMessageBytes {
		t.Errorf("%d commands wait, of %d bytes", waiting, bytes)
	}
}

// nopConn is no plain socket, and writes nowhere.
type nopConn struct{ net.Conn }

func (nopConn) Write(b []byte) (int, error) { return io.Discard.Write(b) }
