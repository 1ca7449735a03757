package proxy

import (
	"container/list"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/history"
	"github.com/redlockd/redlockd/proxy/memory"
	"github.com/redlockd/redlockd/proxy/notify"
	"github.com/redlockd/redlockd/proxy/replies"
	"github.com/redlockd/redlockd/proxy/users"
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

	once  sync.Once    // kills
	proto atomic.Int32 // 2 or 3; written by the reading goroutine only

	stopMu      sync.Mutex // orders Shutdown's read deadline behind ours, and guards parked
	stopping    bool
	killed      bool
	dead        chan struct{} // nil until somebody asks; see died
	lastCall    *time.Time    // when nothing more is read, if stopping
	armed       time.Time     // the read deadline that awaitMore has set; needs stopMu
	lastCommand time.Time     // when the last command came
	parked      bool          // nobody reads: who sets it back starts who does; needs stopMu
	enrolled    bool          // the epoll knows the socket; needs stopMu
	alarm       *time.Timer

	logins *logins        // as the last command found them
	user   *users.Account // nil before login
	in     interpreter    // its commands
	quit   bool           // nothing is read any more
	db     int

	off, skip, skipNext bool // CLIENT REPLY
	optIn               bool // CLIENT TRACKING ON OPTIN
	subs                notify.Subscriptions
	watched             []*watch
	multi               *transaction
	watchedBytes        int
	charged             int // by chargeInput
	account             memory.Account

	unsettled *list.Element // among the pending; guarded by the server's mutex

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
	s.clientInfo.mu.Lock()
	defer s.clientInfo.mu.Unlock()
	return &reading{frames: resp.NewReader(s.conn, s.clientInfo.in), begun: -1}
}

// Log is made where there is something to log: a logger for each session would
// be kept by the idle ones too.
func (s *session) Log() hclog.Logger { return s.srv.log.With("session", s.id) }

// run serves the session to its end, or until it is parked.
func (s *session) run() {
	s.serve(func() error {
		if err := s.handshake(); err != nil {
			s.Log().Debug("tls handshake failed", "error", err)
			return nil
		}
		if s.user != nil {
			s.srv.loggedIn(s)
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
		s.off = false
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

// handshake does the TLS handshake, if there is one, in a bounded time.
func (s *session) handshake() error {
	c, ok := s.conn.(secured)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.srv.cfg().LoginTimeout)
	defer cancel()
	return c.HandshakeContext(ctx)
}

// read carries out one command after the other. It returns nil when the
// session is to end in peace, errParked when there is nothing to read.
func (s *session) read() error {
	for {
		args, err := s.frames.Next(s.frameLimits())
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
	return &replies.Slot{Reply: r, Proto: s.protocol(), Silent: s.silent(), Size: resp.Size(r)}
}

// silent reports whether the reply of the command at hand is not to be sent.
func (s *session) silent() bool { return s.off || s.skip }

func (s *session) protocol() int { return int(s.proto.Load()) }
