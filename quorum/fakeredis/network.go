package fakeredis

import (
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"time"
)

// World is a network and its servers, all behind one lock, so that their events happen one
// after the other.
type World struct {
	sync.Mutex
	began time.Time
}

// NewWorld returns a world without servers, which begins now.
func NewWorld() *World { return &World{began: time.Now()} }

// Now returns the time since the world began, which no instance or server uses as its
// clock.
func (w *World) Now() time.Duration { return time.Since(w.began) }

// Direction is one direction of a wire. The caller must hold the world's lock.
type Direction struct {
	Delay, Jitter time.Duration
	Stalled       int // the number of faults that stall it
}

// Wire is the network between one instance, in one of its lives, and one server.
type Wire struct {
	*World
	server *Server
	rng    *rand.Rand
	There  Direction
	Back   Direction
	// Refused is the number of faults that refuse new connections; dead reports whether
	// the redlockd has ended, while the bytes that it has sent still arrive.
	Refused int
	dead    bool
	pipes   map[*pipe]bool
}

// NewWire returns a way to a server. rng is needed for directions with jitter only.
func NewWire(s *Server, rng *rand.Rand) *Wire {
	return &Wire{World: s.World, server: s, rng: rng, pipes: map[*pipe]bool{}}
}

var errUnreachable = errors.New("no route to host")

// Dial opens a connection. If the way is stalled, it fails after as long as redlockd
// waits.
func (w *Wire) Dial() (net.Conn, error) {
	w.Lock()
	defer w.Unlock()
	if w.There.Stalled+w.Back.Stalled > 0 {
		w.Unlock()
		time.Sleep(time.Second) // then redlockd gives up
		w.Lock()
		return nil, os.ErrDeadlineExceeded
	}
	if w.dead || w.Refused > 0 || w.server.Down {
		return nil, errUnreachable
	}
	p := &pipe{Wire: w}
	p.readable = sync.NewCond(w.World)
	w.pipes[p] = true
	w.server.accept(p)
	return p, nil
}

// Connections returns how many connections there are. The caller must hold the lock.
func (w *Wire) Connections() int { return len(w.pipes) }

// Reset breaks the connections. The caller must hold the lock.
func (w *Wire) Reset() {
	for _, p := range w.server.pipes {
		if p.Wire == w {
			defer p.reset()
		}
	}
}

// Die ends the redlockd: it reads nothing more, while what it has sent still arrives. The
// caller must hold the lock.
func (w *Wire) Die() {
	w.dead = true
	for p := range w.pipes {
		p.in.queue = nil
		p.receive(nil)
	}
}

// Away has every batch take this long to the server.
func (w *Wire) Away(d time.Duration) { w.Change(func() { w.There.Delay = d }) }

// Change calls what on a wire, and hands over what is not stalled any more.
func (w *Wire) Change(what func()) {
	w.Lock()
	defer w.Unlock()
	what()
	for p := range w.pipes {
		p.pump(&p.out)
		p.pump(&p.in)
	}
}
