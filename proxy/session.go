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

// session is one client connection. Its fields belong to the reading
// goroutine where nothing else is said; while there is none (park.go) they
// rest.
type session struct {
	srv  *Server
	conn net.Conn
	id   int64
	born time.Time

	*reading
	pipe *replies.Pipeline // safe for concurrent use

	proto atomic.Int32 // 2 or 3; written by the reading goroutine only

	lifecycle             // safe for concurrent use
	lastCommand time.Time // when the last command came
	quit        bool      // nothing is read any more
	db          int

	rights
	transactions
	mode    replyMode
	optIn   bool // CLIENT TRACKING ON OPTIN
	subs    notify.Subscriptions
	charged int // by chargeInput
	account memory.Account

	unsettled *list.Element // among the pending; guarded by the roster's mutex

	clientInfo *clientInfo
}

// reading is what a session needs only while somebody reads from it. A session
// and what it shows are apart from that and from one another, at less than 512
// bytes each: of greater ones the garbage collector looks through each by itself.
type reading struct {
	frames resp.Reader
	begun  int // the number of the command whose deadline runs, -1 is none
	// goesOn is the earliest that a session that could not be parked, or has
	// just been woken, is parked again.
	goesOn time.Time
	// called is the name of the command at hand. holder the session as it is
	// remembered where it takes locks; nil when that has changed.
	called string
	holder *history.Holder
}

// newReading goes on where the last one ended, which was behind a command.
func (s *session) newReading() *reading {
	return &reading{frames: resp.NewReader(s.conn, s.clientInfo.bytesIn()), begun: -1}
}

// Log is made where there is something to log: a logger for each session would
// be kept by the idle ones too.
func (s *session) Log() hclog.Logger { return s.srv.log.With("session", s.id) }

// run serves the session to its end, or until it is parked.
func (s *session) run() {
	s.serve(func() error {
		if err := handshake(s.conn, s.srv.cfg().LoginTimeout); err != nil {
			s.Log().Debug("tls handshake failed", "error", err)
			return nil
		}
		if s.user != nil {
			s.srv.roster.proved(s)
		}
		return s.talk()
	})
}

// serve ends the session when do has returned, unless it was parked: then it
// belongs to others, and is not touched any more.
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

// talk reads until the session ends, or returns errParked.
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

// read carries out one command after the other. It returns nil when the
// session is to end in peace, errParked when there is nothing to read.
func (s *session) read() error {
	for {
		args, err := s.frames.Next(frameLimits(s.srv.cfg(), s.user != nil))
		if err != nil {
			return err
		}
		if args != nil {
			if !s.current() {
				s.Log().Debug("the session's user was removed")
				return nil
			}
			s.dispatch(args)
			if s.quit {
				return nil
			}
			continue
		}
		// The replies of everything that came in one chunk leave together.
		s.pipe.Flush()
		if !s.awaitMore() {
			return nil
		}
		s.chargeInput()
		err = s.frames.Fill()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			if s.outstayed() {
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

// answer queues a reply that is ready. The protocol is the one of now.
func (s *session) answer(r resp.Reply) {
	s.pipe.Add(s.slot(r))
}

func (s *session) slot(r resp.Reply) *replies.Slot {
	return &replies.Slot{Reply: r, Proto: s.protocol(), Silent: s.mode.silent(), Size: resp.Size(r)}
}

func (s *session) protocol() int { return int(s.proto.Load()) }

// remote is the client's address. Safe for concurrent use.
func (s *session) remote() string { return s.conn.RemoteAddr().String() }

// chargeInput charges what the reading goroutine holds.
func (s *session) chargeInput() {
	s.account.Charge(&s.charged, s.frames.Memory()+s.subs.Size()+s.transactions.memory())
}

// Message is part of notify.Subscriber. A subscriber that has too much waiting is
// closed.
func (s *session) Message(r resp.Reply, size int) {
	if !s.pipe.Message(r, s.protocol(), size) {
		s.Log().Warn("subscriber does not read its messages, closing", "waiting_bytes", replies.MaxMessageBytes)
		s.Kill()
	}
}

// replyMode is CLIENT REPLY: which replies are not sent. It belongs to the reading
// goroutine.
type replyMode struct{ off, skip, skipNext bool }

// next begins a command.
func (m *replyMode) next() { m.skip, m.skipNext = m.skipNext, false }

// skipOne leaves out the reply of the command at hand and of the next one.
func (m *replyMode) skipOne() { m.skip, m.skipNext = true, !m.off }

// on sends replies, that of the command at hand too.
func (m *replyMode) on() { m.off, m.skip = false, false }

// silent reports whether the reply of the command at hand is not to be sent.
func (m *replyMode) silent() bool { return m.off || m.skip }
