package proxy

import (
	"net"
	"sync"
)

// roster holds the open sessions and the listeners that they come from. Safe for
// concurrent use.
type roster struct {
	mu        sync.Mutex
	stopping  bool
	listeners map[net.Listener]struct{}
	sessions  map[int64]*session
	pending   pending
	lastID    int64
}

func newRoster() roster {
	return roster{listeners: make(map[net.Listener]struct{}), sessions: make(map[int64]*session)}
}

// enter begins a session with a new number and adds it. ses is nil if there are most
// sessions already (then full is true), or after stop. oldest is the pending session that
// has to make room for it, or nil.
func (r *roster) enter(begin func(id int64) *session, most, mostPending int) (ses, oldest *session, full bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.stopping:
		return nil, nil, false
	case len(r.sessions) >= most:
		return nil, nil, true
	}
	r.lastID++
	ses = begin(r.lastID)
	oldest = r.pending.enterLocked(ses, ses.conn, mostPending)
	r.sessions[ses.id] = ses
	return ses, oldest, false
}

// leave removes a session.
func (r *roster) leave(ses *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.sessions, ses.id)
	r.pending.leaveLocked(ses)
}

// loggedIn removes a session from the pending ones: it has logged in.
func (r *roster) loggedIn(ses *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending.leaveLocked(ses)
}

// session returns the session of this number, or nil when it has ended.
func (r *roster) session(id int64) *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sessions[id]
}

// all returns a snapshot of the sessions.
func (r *roster) all() []*session {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]*session, 0, len(r.sessions))
	for _, ses := range r.sessions {
		list = append(list, ses)
	}
	return list
}

// count returns the number of sessions.
func (r *roster) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.sessions)
}

// listen adds a listener. It returns false after stop.
func (r *roster) listen(ln net.Listener) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopping {
		return false
	}
	r.listeners[ln] = struct{}{}
	return true
}

// stop closes the listeners and lets no more sessions enter. first reports whether it was
// called for the first time.
func (r *roster) stop() (first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first = !r.stopping
	r.stopping = true
	for ln := range r.listeners {
		_ = ln.Close()
	}
	return first
}

func (r *roster) stopped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopping
}
