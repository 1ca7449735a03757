package proxy

import (
	"container/list"
	"errors"
	"io"
	"net"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/history"
	"github.com/redlockd/redlockd/proxy/memory"
	"github.com/redlockd/redlockd/proxy/notify"
	"github.com/redlockd/redlockd/proxy/replies"
)

// session is one client connection. Unless noted otherwise its fields belong to the
// reading goroutine; while the session is parked (park.go) nothing touches them.
type session struct {
	srv  *Server
	conn net.Conn
	id   int64
	born time.Time

	*reading
	pipe *replies.Pipeline // safe for concurrent use

	proto atomic.Int32 // 2 or 3; written by the reading goroutine only

	lifecycle             // safe for concurrent use
	lastCommand time.Time // when the last command arrived
	quit        bool      // the session ends; no further command is read
	db          int

	rights
	transactions
	mode    replyMode
	optIn   bool // CLIENT TRACKING ON OPTIN
	subs    notify.Subscriptions
	charged int // the part of account that chargeInput has set
	account memory.Account

	pendingElement *list.Element // its element in pending, or nil; guarded by the roster's mutex

	clientInfo *clientInfo
}

// reading is what a session needs only while a goroutine reads from it. session, reading
// and clientInfo are allocated apart, each at less than 512 bytes: the garbage collector
// scans larger objects one by one.
type reading struct {
	frames       resp.Reader
	timedCommand int // the number of the partial command whose deadline runs, or -1
	// parkNotBefore is the earliest time at which a session that could not be parked, or
	// was just woken, may be parked.
	parkNotBefore time.Time
	// called is the name of the command at hand. holder is the session as history records
	// it for the locks that it takes; nil when its name or user has changed since.
	called string
	holder *history.Holder
}

// newReading returns the reading of a session that starts or was woken. The previous one
// ended behind a complete command, so it left nothing behind.
func (s *session) newReading() *reading {
	return &reading{frames: resp.NewReader(s.conn, s.clientInfo.bytesIn()), timedCommand: -1}
}

// Log returns a logger for the session. It is made for each use, since idle sessions
// would keep one too.
func (s *session) Log() hclog.Logger { return s.srv.log.With("session", s.id) }

// run serves the session until it ends or is parked.
func (s *session) run() {
	s.serve(func() error {
		if err := handshake(s.conn, s.srv.cfg().LoginTimeout); err != nil {
			s.Log().Debug("tls handshake failed", "error", err)
			return nil
		}
		if s.user != nil {
			s.srv.roster.loggedIn(s)
		}
		return s.talk()
	})
}

// serve calls do, and ends the session unless do has parked it: a parked session may have
// another owner already, and is not touched any more.
func (s *session) serve(do func() error) {
	srv, parked := s.srv, false
	srv.readers.Add(1)
	defer srv.readers.Add(-1)
	defer func() {
		if !parked {
			s.end()
		}
	}()
	defer func() {
		if r := recover(); r != nil {
			s.Log().Error("panic in a session", "panic", r, "stack", string(debug.Stack()))
			s.Kill()
		}
	}()
	parked = errors.Is(do(), errParked)
}

// talk reads and carries out commands until the session ends, or returns errParked.
func (s *session) talk() error {
	err := s.read()
	var bad resp.ProtocolError
	switch {
	case err == nil:
	case errors.Is(err, errParked):
		return err
	case errors.As(err, &bad):
		s.srv.stats.ProtocolErrors.Add(1)
		s.Log().Debug("protocol error", "error", bad.Error())
		s.mode.off = false
		s.answer(resp.Error(bad.Error()))
	case errors.Is(err, io.EOF):
		s.pipe.SetGone()
	default:
		s.Log().Debug("connection lost", "error", err)
		s.Kill()
	}
	s.pipe.Finish()
	s.linger()
	return nil
}

// read carries out one command after the other. It returns nil when the session shall end
// in order, errParked when the session was parked.
func (s *session) read() error {
	for {
		args, err := s.frames.Next(frameLimits(s.srv.cfg(), s.user != nil))
		if err != nil {
			return err
		}
		if args != nil {
			if !s.applyReload() {
				s.Log().Debug("the session's user was removed")
				return nil
			}
			s.dispatch(args)
			if s.quit {
				return nil
			}
			continue
		}
		// The replies to everything that came in one chunk leave together.
		s.pipe.Flush()
		if !s.awaitMore() {
			return nil
		}
		s.chargeInput()
		err = s.frames.Fill()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			if s.timedOut() {
				return nil
			}
			if s.park() {
				return errParked
			}
			continue
		}
		if err != nil {
			return err
		}
	}
}

// answer queues a reply that is ready, in the protocol that is in force now.
func (s *session) answer(r resp.Reply) {
	s.pipe.Add(s.slot(r))
}

func (s *session) slot(r resp.Reply) *replies.Slot {
	return &replies.Slot{Reply: r, Proto: s.protocol(), Silent: s.mode.silent(), Size: resp.Size(r)}
}

func (s *session) protocol() int { return int(s.proto.Load()) }

// remote returns the client's address. Safe for concurrent use.
func (s *session) remote() string { return addressText(s.conn, s.conn.RemoteAddr()) }

// chargeInput charges the memory that the reading goroutine holds.
func (s *session) chargeInput() {
	s.account.Charge(&s.charged, s.frames.Memory()+s.subs.Size()+s.transactions.memory())
}

// Message implements notify.Subscriber. A subscriber with too many unread messages is
// closed.
func (s *session) Message(r resp.Reply, size int) {
	if !s.pipe.Message(r, s.protocol(), size) {
		s.Log().Warn("subscriber does not read its messages, closing", "waiting_bytes", replies.MaxMessageBytes)
		s.Kill()
	}
}

// replyMode is the state of CLIENT REPLY: which replies are not sent. It belongs to the
// reading goroutine.
type replyMode struct{ off, skip, skipNext bool }

// next begins a command.
func (m *replyMode) next() { m.skip, m.skipNext = m.skipNext, false }

// skipOne leaves out the reply of the command at hand and of the next one.
func (m *replyMode) skipOne() { m.skip, m.skipNext = true, !m.off }

// on sends replies again, that of the command at hand included.
func (m *replyMode) on() { m.off, m.skip = false, false }

// silent reports whether the reply of the command at hand is not to be sent.
func (m *replyMode) silent() bool { return m.off || m.skip }
