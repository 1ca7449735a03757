package proxy

import (
	"errors"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/redlockd/redlockd/proxy/replies"
)

// fullReply is the reply to a connection for which there is no room.
const fullReply = "-ERR max number of clients reached\r\n"

// Serve accepts connections from ln until Shutdown, and then returns nil. It closes ln.
// After the server has stepped aside (StepAside) it goes on with what again returns.
// It may be called for several listeners.
func (s *Server) Serve(ln net.Listener, again func() (net.Listener, error)) error {
	for {
		if err := s.acceptFrom(ln); err != nil {
			return err
		}
		if ln = s.listenAgain(again); ln == nil {
			return nil
		}
	}
}

// acceptFrom accepts connections from ln until the roster closes it, and then returns nil.
func (s *Server) acceptFrom(ln net.Listener) error {
	defer ln.Close()
	if !s.roster.listen(ln) {
		return nil
	}
	if a, ok := ln.Addr().(*net.TCPAddr); ok {
		s.port.Store(int64(a.Port))
	}
	var last spare
	last.open()
	defer last.close()
	pause := time.Duration(0)
	for {
		conn, err := ln.Accept()
		switch {
		case err == nil:
			pause = 0
			s.admit(conn)
			continue
		case !s.roster.listens(ln):
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		case tooManyFiles(err) && s.acceptBy(&last, ln):
			continue
		}
		if !s.retry(&pause, err) {
			return nil
		}
	}
}

// retry waits before connections are accepted again: at once would keep a core busy and fail
// again. last is the pause before, 0 at first. It returns false if Shutdown was called meanwhile.
func (s *Server) retry(last *time.Duration, err error) bool {
	if *last == 0 {
		s.log.Warn("cannot accept connections, trying again", "error", err)
	}
	*last = min(max(2*(*last), 5*time.Millisecond), time.Second)
	return s.sleep(*last)
}

// spare is a descriptor that can be given up for a connection when there are no others. So
// the connection is accepted, and told that there is no room for it.
type spare struct{ file *os.File }

// open opens the spare again, and reports whether there is a descriptor for it.
func (s *spare) open() bool {
	s.file, _ = os.Open(os.DevNull)
	return s.file != nil
}

// close gives the spare up, and reports whether there was one.
func (s *spare) close() bool { return s.file != nil && s.file.Close() == nil }

// tooManyFiles reports whether there is no descriptor, for the process or on the host.
func tooManyFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// acceptBy accepts a connection by giving up the spare descriptor. It closes the connection
// with an error reply, unless a descriptor has become free meanwhile. It returns false if
// there was no spare, or if somebody else took it.
func (s *Server) acceptBy(last *spare, ln net.Listener) bool {
	if !last.close() {
		last.open()
		return false
	}
	conn, err := ln.Accept()
	if err != nil {
		last.open()
		return false
	}
	if last.open() {
		s.admit(conn)
		return true
	}
	s.stats.Connections.Add(1)
	s.stats.Rejected.Add(1)
	if n, ok := s.closeWarnings.allow(); ok {
		s.log.Warn("too many open files, rejecting connections", "sessions", s.Clients(), "unreported", n)
	}
	if buffered(conn) {
		tellFull(conn)
	}
	_ = conn.Close() // without a reply over TLS: a handshake may take long
	last.open()
	return true
}

// sleep waits for d. It returns false if Shutdown was called meanwhile.
func (s *Server) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.stopped:
		return false
	}
}

// admit starts a session, or turns the connection away.
func (s *Server) admit(conn net.Conn) {
	s.stats.Connections.Add(1)
	bufferless(conn)
	ses, oldest, full := s.newSession(conn)
	s.drop(oldest)
	switch {
	case full:
		s.stats.Rejected.Add(1)
		s.turnAway(conn)
		return
	case ses == nil:
		_ = conn.Close()
		return
	}
	ses.Log().Debug("session opened", "address", ses.remote())
	go ses.run()
}

// newSession enters a new session in the roster. ses is nil when there are too many
// sessions (then full is true), or after Shutdown. oldest is the pending session that has
// to make room for it, or nil.
func (s *Server) newSession(conn net.Conn) (ses, oldest *session, full bool) {
	now := time.Now()
	begin := func(id int64) *session {
		s.wg.Add(1) // end calls Done
		ses := &session{srv: s, conn: conn, id: id, born: now, lastCommand: now, clientInfo: newClientInfo(now)}
		ses.reading, ses.logins = ses.newReading(), s.logins.Load()
		ses.proto.Store(2)
		ses.account.Open(s.memory)
		ses.pipe = replies.NewPipeline(s.writers, conn, &ses.account, ses)
		if u := ses.logins.users.Open(); u != nil {
			ses.user, ses.in, ses.clientInfo.user = u, ses.logins.in[u.Name()], u.Name()
		}
		return ses
	}
	return s.roster.enter(begin, s.cfg().MaxClients, s.cfg().MaxPending)
}

// turnAway closes a connection over max_clients, with an error reply unless too many
// others are being turned away already.
func (s *Server) turnAway(conn net.Conn) {
	if buffered(conn) {
		tellFull(conn)
		_ = conn.Close()
		return
	}
	if s.away.Add(1) > MaxTurnedAway {
		s.away.Add(-1)
		_ = conn.Close()
		return
	}
	// In its own goroutine, because the first write of TLS is a handshake. It ends within
	// a second, so Shutdown does not wait for it.
	go func() {
		defer s.away.Add(-1)
		defer conn.Close()
		tellFull(conn)
	}()
}

// tellFull writes the reply. It does not block where nothing has to be read first: the
// connection is new, and the system has a buffer for it.
func tellFull(conn net.Conn) {
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	_, _ = conn.Write([]byte(fullReply))
}
