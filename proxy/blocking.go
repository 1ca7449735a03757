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

// popCommand is BLPOP and BRPOP: it waits for a signal. As on one Redis nothing
// behind it in the session is carried out before it ends. Meanwhile another
// goroutine waits and this one goes on reading, so that a client that goes is
// seen at once.
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
	s.srv.signals.Wait(w, time.Now())
	b := &blocked{ended: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(b.done)
		b.popped, b.ok = awaitPop(s, w, timeout, b.ended)
		wakeBlocked(s, b)
	}()
	setBlocked(s, true)
	stays := readOn(s, b)
	setBlocked(s, false)
	close(b.ended)
	<-b.done
	s.begun = -1
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

// blocked is one BLPOP that waits.
type blocked struct {
	// ended is closed when nobody reads on, done when nobody waits.
	ended, done chan struct{}
	// over needs stopMu.
	over bool
	// popped is set before done is closed.
	popped notify.Popped
	ok     bool
}

// wakeBlocked ends readOn.
func wakeBlocked(s *session, b *blocked) {
	s.stopMu.Lock()
	defer s.stopMu.Unlock()
	b.over = true
	s.armLocked(longAgo) // wakes the read
}

// readOn reads what comes behind a command that blocks, until that is over or
// the session is to stop. It is false when the client has gone.
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
			// Enough is waiting: only now and then look whether it is over.
			select {
			case <-s.died():
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

// awaitPop waits for one of three: a signal, the end of its time, or that the
// lock is free though no signal came, because it was released elsewhere.
func awaitPop(s *session, w *notify.Waiter, timeout time.Duration, ended <-chan struct{}) (notify.Popped, bool) {
	var late <-chan time.Time
	if timeout > 0 {
		t := time.NewTimer(timeout)
		defer t.Stop()
		late = t.C
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
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
		case <-look.C:
			lookAtLocks(s, w, free)
		}
	}
}

// lookAtLocks reads the locks that w waits for.
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
			default: // it is known already
			}
		})
	}
}

// popArguments reads BLPOP's arguments.
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
	return notify.NewWaiter(s.db, args[1:last], grammar.Is(args[0], "brpop")), timeout, nil
}

// popNow is BLPOP inside MULTI, where it does not wait.
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

// setBlocked shows whether the session waits.
func setBlocked(s *session, waits bool) {
	s.clientInfo.change(func(c *clientState) { c.blocked = waits })
}

// llenCommand is LLEN of a signal list. Of a lock it is Redis's error.
func llenCommand(s *session, args [][]byte) {
	key, db := string(args[1]), s.db
	if quorum.Reserved(key) {
		s.refuse(errReserved)
		return
	}
	if s.tooLong(args[1:]) {
		return
	}
	reply := func(outs []*quorum.Outcome) resp.Reply {
		switch o := outs[0]; {
		case o.Err != nil:
			return commands.Failed(o.Err)
		case o.Verdict == quorum.Held:
			return resp.Error("WRONGTYPE Operation against a key holding the wrong kind of value")
		}
		items, _ := s.srv.signals.Peek(notify.Signal{DB: db, Key: key}, time.Now())
		return resp.Int(int64(items))
	}
	s.begin(commands.Request{Ops: []quorum.Op{{Kind: quorum.Read, DB: db, Key: key}}, Reply: reply}, 256+len(key), nil)
}
