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
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/commands"
)

// session is one client connection. Its fields belong to the reading
// goroutine where nothing else is said.
type session struct {
	srv  *Server
	conn net.Conn
	id   int64
	log  hclog.Logger
	born time.Time
	// socket is conn where that is a plain socket, else nil.
	socket syscall.RawConn

	frames frames
	pipe   pipeline // safe for concurrent use

	gone  atomic.Bool   // the client has sent EOF, or the connection is closed
	dead  chan struct{} // closed with the connection
	once  sync.Once     // closes dead
	proto atomic.Int32  // 2 or 3; written by the reading goroutine only

	written atomic.Uint64 // bytes

	stopMu   sync.Mutex // orders Shutdown's read deadline behind ours
	stopping bool
	lastCall time.Time // when nothing more is read, if stopping
	armed    time.Time // the read deadline that awaitMore has set; needs stopMu
	heard    time.Time // when the last command came

	users *users // as the last command found them
	user  *user  // nil before login
	begun int    // the number of the command whose deadline runs, -1 is none
	quit  bool   // nothing is read any more
	db    int

	off, skip, skipNext bool // CLIENT REPLY
	optIn               bool // CLIENT TRACKING ON OPTIN
	subs                subscriptions
	watched             []*watch
	multi               *transaction
	watchedBytes        int
	charged             int // by chargeInput
	account             account

	unsettled *list.Element // among the pending; guarded by the server's mutex

	shown shown
	// called is the name of the command at hand. known the session as it is
	// remembered where it takes locks; nil when that has changed.
	called string
	known  *holder
}

// Gone is whether nobody waits for an outcome any more (quorum.Client).
func (s *session) Gone() bool { return s.gone.Load() }

// run serves the session to its end.
func (s *session) run() {
	defer s.end()
	defer func() {
		if r := recover(); r != nil {
			s.log.Error("panic in a session", "panic", r, "stack", string(debug.Stack()))
			s.kill()
		}
	}()
	if err := s.handshake(); err != nil {
		s.log.Debug("tls handshake failed", "error", err)
		return
	}
	if s.user != nil {
		s.srv.settled(s)
	}
	err := s.read()
	var bad protocolError
	switch {
	case err == nil:
	case errors.As(err, &bad):
		s.srv.stats.protocolErrors.Add(1)
		s.log.Debug("protocol error", "error", bad.Error())
		s.off = false
		s.answer(commands.Error(bad.Error()))
	case errors.Is(err, io.EOF):
		s.gone.Store(true)
	default:
		s.log.Debug("connection lost", "error", err)
		s.kill()
	}
	s.pipe.finish()
	s.linger()
}

// linger lets the client of a session that is stopped read its last replies:
// a close with something unread resets the connection, and a reset can take
// away what the client had not read yet. What comes now is not carried out.
func (s *session) linger() {
	s.stopMu.Lock()
	stopping := s.stopping
	s.stopMu.Unlock()
	c, ok := s.conn.(interface{ CloseWrite() error })
	if !ok || !stopping || s.gone.Load() || c.CloseWrite() != nil {
		return
	}
	_ = s.conn.SetReadDeadline(time.Now().Add(s.srv.lingering)) // a closed connection tells it at Read
	_, _ = io.Copy(io.Discard, s.conn)
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
// session is to end in peace.
func (s *session) read() error {
	for {
		args, err := s.frames.next(s.frameLimits())
		if err != nil {
			return err
		}
		if args != nil {
			if !s.current() {
				s.log.Debug("the session's user is no more")
				return nil
			}
			s.dispatch(args)
			if s.quit {
				return nil
			}
			continue
		}
		// The replies of everything that came in one chunk leave together.
		s.pipe.flush()
		if !s.awaitMore() {
			return nil
		}
		s.chargeInput()
		err = s.frames.fill()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			if s.outstayed() {
				return nil
			}
			continue
		}
		if err != nil {
			return err
		}
	}
}

// awaitMore sets the deadline of the next read, and is false when the session
// is to stop. A command that has begun to arrive must end before the deadline
// that was set when it began, so that nobody sends it a byte at a time.
func (s *session) awaitMore() bool {
	s.stopMu.Lock()
	defer s.stopMu.Unlock()
	if s.stopping {
		_ = s.conn.SetReadDeadline(s.lastCall) // a closed connection tells it at Read
		return time.Now().Before(s.lastCall)
	}
	var deadline time.Time
	idle := s.srv.cfg().IdleTimeout
	switch {
	case s.user == nil:
		deadline = s.born.Add(s.srv.cfg().LoginTimeout)
	case s.frames.partial() && s.begun == s.frames.given:
		return true
	case s.frames.partial() && idle > 0:
		deadline = time.Now().Add(idle)
	case idle > 0 && s.subs.count() == 0:
		deadline = s.heard.Add(idle)
	}
	s.begun = -1
	if s.frames.partial() {
		s.begun = s.frames.given
	}
	// One that is a little early does as well: outstayed tells it. So not every
	// command moves a timer.
	early := deadline.Sub(s.armed)
	if s.armed.IsZero() || early < 0 || early > idle/16 || s.frames.partial() {
		s.arm(deadline)
	}
	return true
}

// arm sets the deadline for reading. Needs stopMu.
func (s *session) arm(deadline time.Time) {
	s.armed = deadline
	_ = s.conn.SetReadDeadline(deadline) // a closed connection tells it at Read
}

// outstayed is whether a read that ran into its deadline ends the session:
// not while replies are owed, and not by Shutdown, which awaitMore tells.
func (s *session) outstayed() bool {
	s.stopMu.Lock()
	defer s.stopMu.Unlock()
	if s.stopping {
		return false
	}
	s.armed = time.Time{}
	idle := s.srv.cfg().IdleTimeout
	switch {
	case s.user == nil || s.frames.partial():
	case s.subs.count() > 0 || idle == 0 || time.Since(s.heard) < idle:
		return false // it was armed early, or by other rules
	case !s.pipe.idle():
		s.heard = time.Now()
		return false
	}
	s.log.Debug("session timed out", "logged_in", s.user != nil)
	return true
}

// longAgo is a deadline that is over.
var longAgo = time.Unix(1, 0)

// stop ends the session when what it reads until lastCall is answered (S6).
func (s *session) stop(lastCall time.Time) {
	s.stopMu.Lock()
	defer s.stopMu.Unlock()
	s.stopping, s.lastCall = true, lastCall
	s.arm(lastCall) // wakes the read
}

// kill closes the connection at once and undoes what was not told. Safe for
// concurrent use.
func (s *session) kill() {
	s.once.Do(func() {
		s.gone.Store(true)
		close(s.dead)
		s.settle()
		s.pipe.abort()
		// In its own goroutine, because closing a TLS connection writes.
		s.srv.wg.Go(func() { _ = s.conn.Close() })
	})
}

// end gives back everything the session holds.
func (s *session) end() {
	s.kill()
	s.unwatch()
	s.srv.hub.leave(s)
	s.srv.forget(s)
	s.log.Debug("session closed")
}

// answer queues a reply that is ready. The protocol is the one of now.
func (s *session) answer(r commands.Reply) {
	s.pipe.add(s.slot(r))
}

func (s *session) slot(r commands.Reply) *slot {
	return &slot{reply: r, proto: s.protocol(), silent: s.silent(), size: replySize(r)}
}

// silent is whether the reply of the command at hand is not to be sent.
func (s *session) silent() bool { return s.off || s.skip }

func (s *session) protocol() int { return int(s.proto.Load()) }
