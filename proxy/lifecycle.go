package proxy

import (
	"sync"
	"time"
)

// lifecycle is how a session is parked, woken and ended by others than its reading
// goroutine. All but once needs stopMu.
type lifecycle struct {
	once     sync.Once  // kills
	stopMu   sync.Mutex // orders Shutdown's read deadline behind ours
	stopping bool
	killed   bool
	dead     chan struct{} // nil until somebody asks; see died
	lastCall *time.Time    // when nothing more is read, if stopping
	armed    time.Time     // the read deadline that awaitMore has set
	parked   bool          // nobody reads: who sets it back starts who does
	enrolled bool          // the epoll knows the socket
	alarm    *time.Timer   // wakes a parked session
}

// died is closed with the connection. It is made for who asks, since an idle
// session needs none.
func (l *lifecycle) died() <-chan struct{} {
	l.stopMu.Lock()
	defer l.stopMu.Unlock()
	if l.dead == nil {
		l.dead = make(chan struct{})
		if l.killed {
			close(l.dead)
		}
	}
	return l.dead
}

func (l *lifecycle) bury() {
	l.stopMu.Lock()
	defer l.stopMu.Unlock()
	l.killed = true
	if l.dead != nil {
		close(l.dead)
	}
}

// setAlarmLocked calls f after a time, once, unless the alarm is stopped.
func (l *lifecycle) setAlarmLocked(after time.Duration, f func()) {
	if l.alarm == nil {
		l.alarm = time.AfterFunc(after, f)
		return
	}
	l.alarm.Reset(after)
}
