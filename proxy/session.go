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
// goroutine where nothing else is said; while there is none (park.go) they
// rest.
type session struct {
	srv  *Server
	conn net.Conn
	id   int64
	born time.Time
	// socket is conn where that is a plain socket, else nil.
	socket syscall.RawConn

	*reading
	pipe pipeline // safe for concurrent use

	gone  atomic.Bool  // the client has sent EOF, or the connection is closed
	once  sync.Once    // kills
	proto atomic.Int32 // 2 or 3; written by the reading goroutine only

	written atomic.Uint64 // bytes

	stopMu   sync.Mutex // orders Shutdown's read deadline behind ours, and guards parked
	stopping bool
	killed   bool
	dead     chan struct{} // nil until somebody asks; see died
	lastCall *time.Time    // when nothing more is read, if stopping
	armed    time.Time     // the read deadline that awaitMore has set; needs stopMu
	heard    time.Time     // when the last command came
	parked   bool          // nobody reads: who sets it back starts who does; needs stopMu
	enrolled bool          // the epoll knows the socket; needs stopMu
	alarm    *time.Timer

	users *users // as the last command found them
	user  *user  // nil before login
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

	shown *shown
}

// reading is what a session needs only while somebody reads from it. A session
// and what it shows are apart from that and from one another, at less than 512
// bytes each: of greater ones the garbage collector looks through each by itself.
type reading struct {
	frames frames
	begun  int // the number of the command whose deadline runs, -1 is none
	// goesOn is the earliest that a session that could not be parked, or has
	// just been woken, is parked again.
	goesOn time.Time
	// called is the name of the command at hand. known the session as it is
	// remembered where it takes locks; nil when that has changed.
	called string
	known  *holder
}

// newReading goes on where the last one ended, which was behind a command.
func (s *session) newReading() *reading {
	s.shown.mu.Lock()
	defer s.shown.mu.Unlock()
	return &reading{frames: frames{r: s.conn, read: s.shown.in}, begun: -1}
}

// Gone is whether nobody waits for an outcome any more (quorum.Client).
func (s *session) Gone() bool { return s.gone.Load() }

// log is made where there is something to log: a logger for each session would
// be kept by the idle ones too.
func (s *session) log() hclog.Logger { return s.srv.log.With("session", s.id) }

// run serves the session to its end, or until it is parked.
func (s *session) run() {
	s.serve(func() error {
		if err := s.handshake(); err != nil {
			s.log().Debug("tls handshake failed", "error", err)
			return nil
		}
		if s.user != nil {
			s.srv.settled(s)
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
			s.log().Error("panic in a session", "panic", r, "stack", string(debug.Stack()))
			s.kill()
		}
	}()
	parked = errors.Is(do(), errParked)
}

// talk reads until the session ends, or returns errParked.
func (s *session) talk() error {
	err := s.read()
	var bad protocolError
	switch {
	case err == nil:
	case errors.Is(err, errParked):
		return err
	case errors.As(err, &bad):
		s.srv.stats.protocolErrors.Add(1)
		s.log().Debug("protocol error", "error", bad.Error())
		s.off = false
		s.answer(commands.Error(bad.Error()))
	case errors.Is(err, io.EOF):
		s.gone.Store(true)
	default:
		s.log().Debug("connection lost", "error", err)
		s.kill()
	}
	s.pipe.finish()
	s.linger()
	return nil
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
// session is to end in peace, errParked when there is nothing to read.
func (s *session) read() error {
	for {
		args, err := s.frames.next(s.frameLimits())
		if err != nil {
			return err
		}
		if args != nil {
			if !s.current() {
				s.log().Debug("the session's user is no more")
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

// awaitMore sets the deadline of the next read, and is false when the session
// is to stop. A command that has begun to arrive must end before the deadline
// that was set when it began, so that nobody sends it a byte at a time.
func (s *session) awaitMore() bool {
	s.stopMu.Lock()
	defer s.stopMu.Unlock()
	if s.stopping {
		_ = s.conn.SetReadDeadline(*s.lastCall) // a closed connection tells it at Read
		return time.Now().Before(*s.lastCall)
	}
	partial, idle := s.frames.partial(), s.srv.cfg().IdleTimeout
	deadline, slack := s.ends(), idle/16
	switch {
	case s.user == nil:
	case partial && s.begun == s.frames.given:
		return true
	case partial && idle > 0:
		deadline = time.Now().Add(idle)
	case partial:
		deadline = time.Time{}
	}
	s.begun = -1
	if partial {
		s.begun = s.frames.given
	} else if at := s.parks(); !at.IsZero() && (deadline.IsZero() || at.Before(deadline)) {
		deadline, slack = at, s.srv.patience()/2
	}
	// One that is a little early does as well: outstayed and park tell it. So
	// not every command moves a timer.
	early := deadline.Sub(s.armed)
	if s.armed.IsZero() || early < 0 || early > slack || partial {
		s.arm(deadline)
	}
	return true
}

// ends is when the session ends if nothing more comes; zero is never.
func (s *session) ends() time.Time {
	idle := s.srv.cfg().IdleTimeout
	switch {
	case s.user == nil:
		return s.born.Add(s.srv.cfg().LoginTimeout)
	case idle > 0 && s.subs.count() == 0:
		return s.heard.Add(idle)
	}
	return time.Time{}
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
	case s.user == nil && time.Now().Before(s.ends()):
		return false // it was to be parked
	case s.user == nil || s.frames.partial():
	case s.subs.count() > 0 || idle == 0 || time.Since(s.heard) < idle:
		return false // it was armed early, or by other rules
	case !s.pipe.idle():
		s.heard = time.Now()
		return false
	}
	s.log().Debug("session timed out", "logged_in", s.user != nil)
	return true
}

// longAgo is a deadline that is over.
var longAgo = time.Unix(1, 0)

// stop ends the session when what it reads until lastCall is answered (S6).
func (s *session) stop(lastCall *time.Time) {
	s.stopMu.Lock()
	defer s.stopMu.Unlock()
	s.stopping, s.lastCall = true, lastCall
	s.arm(*lastCall) // wakes the read
	s.wakeUp()
}

// kill closes the connection at once and undoes what was not told. Safe for
// concurrent use.
func (s *session) kill() {
	s.once.Do(func() {
		s.gone.Store(true)
		s.bury()
		s.settle()
		s.pipe.abort()
		// In its own goroutine, because closing a TLS connection writes.
		s.srv.wg.Go(func() { _ = s.conn.Close() })
		s.unpark() // for its end
	})
}

// died is closed with the connection. It is made for who asks, since an idle
// session needs none.
func (s *session) died() <-chan struct{} {
	s.stopMu.Lock()
	defer s.stopMu.Unlock()
	if s.dead == nil {
		s.dead = make(chan struct{})
		if s.killed {
			close(s.dead)
		}
	}
	return s.dead
}

func (s *session) bury() {
	s.stopMu.Lock()
	defer s.stopMu.Unlock()
	s.killed = true
	if s.dead != nil {
		close(s.dead)
	}
}

// end gives back everything the session holds.
func (s *session) end() {
	s.kill()
	s.unwatch()
	s.srv.hub.leave(s)
	s.srv.forget(s)
	s.log().Debug("session closed")
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
