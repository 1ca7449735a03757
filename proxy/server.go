package proxy

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/proxy/epoll"
	"github.com/redlockd/redlockd/proxy/history"
	"github.com/redlockd/redlockd/proxy/memory"
	"github.com/redlockd/redlockd/proxy/notify"
	"github.com/redlockd/redlockd/proxy/replies"
	"github.com/redlockd/redlockd/proxy/users"
)

// Server accepts connections and serves sessions.
type Server struct {
	conf   atomic.Pointer[Config]
	logins atomic.Pointer[logins]
	in     interpreter
	q      Quorum
	log    hclog.Logger
	identity
	hub     *notify.Hub
	signals *notify.Signals
	relay   *notify.Relay
	held    *history.Locks
	// mentions are the locks of held that the log has told of.
	mentions *history.Mentions
	slow     history.SlowLog
	// looking holds an element for each listing under way; its capacity bounds them.
	looking      chan struct{}
	writers      *replies.Writers
	stats        history.Counters
	loginLimiter users.Limiter

	stopped chan struct{}  // closed by Shutdown
	wg      sync.WaitGroup // sessions, and goroutines that may outlive one
	away    atomic.Int64   // connections that are being refused with an error
	epoll   *epoll.Epoll   // watches the parked sessions
	// lastCall, lingering and parkAfter are the times of limits.go, except in tests.
	lastCall, lingering, parkAfter time.Duration
	readers                        atomic.Int64 // sessions that are not parked

	memory        *memory.Pool
	closeWarnings warningLimiter

	roster roster
}

// identity is what INFO reports of a server.
type identity struct {
	version string
	runID   string
	started time.Time
	port    atomic.Int64 // of the last listener
}

// New returns a server that does not listen yet. version is redlockd's own.
func New(cfg Config, in *commands.Interpreter, q Quorum, version string, log hclog.Logger) *Server {
	return newServer(cfg, in, q, version, log)
}

func newServer(cfg Config, in interpreter, q Quorum, version string, log hclog.Logger) *Server {
	id := make([]byte, 20)
	_, _ = rand.Read(id) // never fails
	s := &Server{
		in: in, q: q, log: log,
		identity:  identity{version: version, runID: hex.EncodeToString(id), started: time.Now()},
		stopped:   make(chan struct{}),
		lastCall:  lastCallTime,
		lingering: lingering,
		parkAfter: parkAfter,
		roster:    newRoster(),
		looking:   make(chan struct{}, maxLooking),
		mentions:  history.NewMentions(),
		hub:       notify.NewHub(),
		signals:   notify.NewSignals(),
	}
	s.held = history.NewLocks(cfg.Patterns, s.tellLost)
	s.relay = notify.NewRelay(s.hub, s.signals, q.Bus)
	s.epoll = epoll.New(s.wakeParked)
	s.conf.Store(&cfg)
	s.logins.Store(newLogins(cfg, in))
	s.setLimits(cfg)
	// In a goroutine of its own, because the caller of Charge may hold a mutex that Kill
	// needs.
	s.memory = memory.NewPool(func() int64 { return int64(s.cfg().MaxMemory) }, func() { s.wg.Go(s.evict) })
	s.writers = replies.NewWriters(replies.Grants{}, s.replyLimits, &s.slow, &s.stats)
	return s
}

// replyLimits returns the limits in force for replies that wait to be written.
func (s *Server) replyLimits() replies.Limits {
	cfg := s.cfg()
	return replies.Limits{Waiting: cfg.MaxPipeline, WriteTimeout: cfg.WriteTimeout, SlowerThan: cfg.SlowerThan}
}

// cfg returns the configuration in force. Callers must not change it.
func (s *Server) cfg() *Config { return s.conf.Load() }

// Shutdown stops accepting, lets every session finish and answer what was sent before,
// and closes them; when ctx is over it closes them at once and returns ctx's error (S6).
// Grants that could not be answered to the client are undone, so the quorum must be
// closed after this.
func (s *Server) Shutdown(ctx context.Context) error {
	if s.roster.stop() {
		close(s.stopped)
	}
	sessions := s.roster.all()
	lastCall := time.Now().Add(s.lastCall)
	for _, ses := range sessions {
		ses.stop(&lastCall)
	}
	done := make(chan struct{})
	go func() {
		s.wg.Wait()
		s.writers.Close()
		s.epoll.Close()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	for _, ses := range sessions {
		ses.Kill()
	}
	<-done
	return ctx.Err()
}

// clients returns a snapshot of the sessions, for CLIENT LIST and INFO.
func (s *Server) clients() []*session { return s.roster.all() }
