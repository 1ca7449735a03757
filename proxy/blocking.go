package proxy

import (
	"errors"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/notify"
	"github.com/redlockd/redlockd/proxy/replies"
	"github.com/redlockd/redlockd/quorum"
)

// popCommand is BLPOP and BRPOP: it waits for a signal. As on one Redis the session
// carries out nothing behind it before it ends. Another goroutine waits for the signal,
// and this one goes on reading, so that a client that disconnects is noticed at once.
func popCommand(s *session, args [][]byte) {
	w, timeout, refusal := popArguments(s, args)
	if refusal != nil {
		s.refuse(*refusal)
		return
	}
	if s.tooLong(args[1 : len(args)-1]) {
		return
	}
	s.pipe.Flush()
	b := &blocked{ended: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(b.done)
		s.pipe.AwaitOutcomes() // what came before may fill a list, or look at it
		s.srv.signals.Wait(w, time.Now())
		b.popped, b.ok = awaitPop(s, w, timeout, b.ended)
		wakeBlocked(s, b)
	}()
	setBlocked(s, true)
	stays := readOn(s, b)
	setBlocked(s, false)
	close(b.ended)
	<-b.done
	s.timedCommand = -1
	if p, ok := s.srv.signals.Cancel(w); ok {
		b.popped, b.ok = p, true
	}
	switch {
	case !stays && b.ok:
		s.srv.signals.GiveBack(b.popped, time.Now())
	case !stays:
	case b.ok:
		s.answer(popReply(b.popped))
	default:
		s.answer(resp.NullArray)
	}
}

// blocked is one BLPOP or BRPOP that waits.
type blocked struct {
	// ended is closed when readOn has returned, done when awaitPop has.
	ended, done chan struct{}
	// over is guarded by stopMu.
	over bool
	// popped and ok are set before done is closed.
	popped notify.Popped
	ok     bool
}

// wakeBlocked makes readOn return.
func wakeBlocked(s *session, b *blocked) {
	s.stopMu.Lock()
	defer s.stopMu.Unlock()
	b.over = true
	s.armLocked(longAgo) // wakes the read
}

// readOn reads what comes behind a command that blocks, until the command is over or the
// session is to stop. It returns false when the client has gone.
func readOn(s *session, b *blocked) bool {
	for {
		s.stopMu.Lock()
		if b.over || s.stopping {
			s.stopMu.Unlock()
			return true
		}
		deadline := time.Time{}
		full := s.frames.Buffered() >= replies.MaxQueuedBytes
		if full {
			deadline = longAgo
		}
		s.armLocked(deadline)
		s.stopMu.Unlock()
		if full {
			// Enough is buffered: only check now and then whether the command is over.
			select {
			case <-s.connClosed():
				return false
			case <-time.After(lookEvery / 10):
			}
			continue
		}
		if err := s.frames.Fill(); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			s.pipe.SetGone()
			return false
		}
	}
}

// awaitPop waits for a signal, for the end of the timeout, or until a look at the lock
// shows that it is free though no signal came. It looks for the first time soon after signals
// of other redlockd can come, since the lock may have been released before (S7).
func awaitPop(s *session, w *notify.Waiter, timeout time.Duration, ended <-chan struct{}) (notify.Popped, bool) {
	var late <-chan time.Time
	if timeout > 0 {
		t := time.NewTimer(timeout)
		defer t.Stop()
		late = t.C
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	if len(w.Popped) > 0 {
		return <-w.Popped, true
	}
	heard, stop := s.srv.relay.Await(w)
	defer stop()
	free := make(chan notify.Signal, len(w.Wants))
	for {
		select {
		case p := <-w.Popped:
			return p, true
		case at := <-free:
			if p, ok := s.srv.signals.Cancel(w); ok {
				return p, true
			}
			return notify.Popped{From: at, Item: "1"}, true
		case <-late:
			return notify.Popped{}, false
		case <-ended:
			return notify.Popped{}, false
		case <-heard:
			look.Reset(lookEvery / 10)
		case <-look.C:
			look.Reset(lookEvery)
			lookAtLocks(s, w, free)
		}
	}
}

// lookAtLocks reads the locks whose lists w waits for, and sends to free the list of each
// that is free.
func lookAtLocks(s *session, w *notify.Waiter, free chan<- notify.Signal) {
	for _, at := range w.Wants {
		lock, ok := s.srv.signals.Lock(at)
		if !ok {
			continue
		}
		s.srv.q.Do(&quorum.Op{Kind: quorum.Read, DB: at.DB, Key: lock}, s.pipe, func(o *quorum.Outcome) {
			if o.Err != nil || o.Verdict != quorum.Absent || o.State.Lapsed {
				return
			}
			select {
			case free <- at:
			default: // others are known to be free already
			}
		})
	}
}

// popArguments parses the arguments of BLPOP and BRPOP.
func popArguments(s *session, args [][]byte) (w *notify.Waiter, timeout time.Duration, refusal *resp.Reply) {
	last := len(args) - 1
	seconds, err := strconv.ParseFloat(string(args[last]), 64)
	switch {
	case err != nil || math.IsNaN(seconds) || math.IsInf(seconds, 0):
		return nil, 0, new(resp.Error("ERR timeout is not a float or out of range"))
	case seconds < 0:
		return nil, 0, new(resp.Error("ERR timeout is negative"))
	case len(args)-2 > maxWaitedLists:
		return nil, 0, new(resp.Error("ERR redlockd waits for " + strconv.Itoa(maxWaitedLists) + " lists at most"))
	case seconds > maxBlock.Seconds():
		return nil, 0, new(resp.Error("ERR timeout is out of range"))
	}
	timeout = time.Duration(seconds * float64(time.Second))
	if seconds > 0 {
		timeout = max(timeout, time.Millisecond)
	}
	return notify.NewWaiter(s.id, s.db, args[1:last], grammar.Is(args[0], "brpop")), timeout, nil
}

// popNow is BLPOP and BRPOP inside MULTI, where they do not wait.
func popNow(s *session, args [][]byte) resp.Reply {
	w, _, refusal := popArguments(s, args)
	if refusal != nil {
		return *refusal
	}
	if p, ok := s.srv.signals.PopNow(w, time.Now()); ok {
		return popReply(p)
	}
	return resp.NullArray
}

func popReply(p notify.Popped) resp.Reply { return resp.Array(resp.Bulks(p.From.Key, p.Item)...) }

// setBlocked sets whether CLIENT LIST shows the session as blocked.
func setBlocked(s *session, waits bool) {
	s.clientInfo.change(func(c *clientState) { c.blocked = waits })
}

// llenCommand is LLEN of a signal list. For a lock it answers Redis's WRONGTYPE.
func llenCommand(s *session, args [][]byte) {
	key, db := string(args[1]), s.db
	if quorum.Reserved(key) {
		s.refuse(errReserved)
		return
	}
	if s.tooLong(args[1:]) {
		return
	}
	items := 0
	reply := func(outs []*quorum.Outcome) resp.Reply {
		switch o := outs[0]; {
		case o.Err != nil:
			return commands.Failed(o.Err)
		case o.Verdict == quorum.Held:
			return resp.Error("WRONGTYPE Operation against a key holding the wrong kind of value")
		}
		return resp.Int(int64(items))
	}
	req := commands.Request{Ops: []quorum.Op{{Kind: quorum.Read, DB: db, Key: key}}, Reply: reply}
	s.begin(req, 256+len(key), func([]*quorum.Outcome) {
		items, _ = s.srv.signals.Peek(notify.Signal{DB: db, Key: key}, time.Now())
	})
}
