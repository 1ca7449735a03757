package proxy

import (
	"maps"
	"net"
	"slices"
	"sync"
)

// roster holds the open sessions and the listeners that they come from. Safe for
// concurrent use.
type roster struct {
	mu       sync.Mutex
	stopping bool
	// back is nil while sessions may enter, else it is closed when they may again (aside.go).
	back      chan struct{}
	listeners map[net.Listener]struct{}
	sessions  map[int64]*session
	pending   pending
	lastID    int64
}

func newRoster() roster {
	return roster{listeners: make(map[net.Listener]struct{}), sessions: make(map[int64]*session)}
}

// enter begins a session with a new number and adds it. ses is nil if there are most
// sessions already (then full is true), after stop, or while nobody is admitted. oldest is
// the pending session that has to make room for it, or nil.
func (r *roster) enter(begin func(id int64) *session, most, mostPending int) (ses, oldest *session, full bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.stopping || r.back != nil:
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
	return slices.Collect(maps.Values(r.sessions))
}

// count returns the number of sessions.
func (r *roster) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.sessions)
}

// listen adds a listener. It returns false after stop, and while nobody is admitted.
func (r *roster) listen(ln net.Listener) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopping || r.back != nil {
		return false
	}
	r.listeners[ln] = struct{}{}
	return true
}

// listens reports whether a listener is open, as far as the roster has not closed it.
func (r *roster) listens(ln net.Listener) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.listeners[ln]
	return ok
}

// stop closes the listeners and lets no more sessions enter. first reports whether it was
// called for the first time.
func (r *roster) stop() (first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first = !r.stopping
	r.stopping = true
	r.closeListenersLocked()
	return first
}

func (r *roster) closeListenersLocked() {
	for ln := range r.listeners {
		_ = ln.Close()
	}
	clear(r.listeners)
}

// shut closes the listeners and lets no sessions enter until reopen. It returns those that
// have entered.
func (r *roster) shut() []*session {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.back = make(chan struct{})
	r.closeListenersLocked()
	return slices.Collect(maps.Values(r.sessions))
}

// reopen ends shut.
func (r *roster) reopen() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.back)
	r.back = nil
}

// shutNow reports whether no sessions may enter until reopen.
func (r *roster) shutNow() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.back != nil
}

// reopened returns a channel that is closed when sessions may enter, and has been by then if they
// may now.
func (r *roster) reopened() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.back != nil {
		return r.back
	}
	open := make(chan struct{})
	close(open)
	return open
}

func (r *roster) stopped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopping
}
