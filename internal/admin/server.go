package admin

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/redlockd/redlockd/internal/config"
	"github.com/redlockd/redlockd/status"
)

// MaxConnections bounds the connections to the address, unless Limit sets a lower bound.
const MaxConnections = 64

// Limits of the address. It has few legitimate users, and must not slow down locks.
const (
	maxHeaderBytes = 16 << 10
	maxScrapes     = 4 // at the same time
	readTime       = 5 * time.Second
	writeTime      = 30 * time.Second
	idleTime       = 2 * time.Minute
	stopTime       = time.Second
)

// Server is the HTTP server for operators. It is read-only.
type Server struct {
	probes probes
	page   *status.Page
	server *http.Server
	open   atomic.Int64 // connections, and how many there may be
	most   atomic.Int64
}

// Sources are what the address tells of.
type Sources struct {
	Masters      status.Masters
	Sessions     Sessions
	Certificates Certificates
	Reloads      *Reloads
	// Log is the latest lines of the log, for the page.
	Log status.Log
}

// New returns a server configured by the block admin, which must be present. Serve starts
// it, and it must be stopped.
func New(cfg config.Config, build Build, from Sources, log hclog.Logger) *Server {
	s := &Server{probes: probes{masters: from.Masters}}
	s.Limit(MaxConnections)
	lock := newBasicAuth(cfg.Admin.Password, log)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", lock.require(promhttp.HandlerFor(newRegistry(build.Version, from),
		promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes, Timeout: readTime, ErrorLog: errorLog(log)})))
	// Without a password these answer only yes or no, because probes seldom have one.
	mux.HandleFunc("GET /healthz", s.probes.healthz)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) { s.probes.readyz(w, lock.admits(r)) })
	if cfg.Admin.Pprof {
		profiles(mux, lock)
	}
	s.page = status.New(from.Masters, from.Sessions, from.Log, facts(cfg, build))
	mux.Handle("GET /", lock.require(s.page))
	var handler http.Handler = mux
	if _, encrypted := cfg.TLS["admin"]; !encrypted && cfg.Admin.Password == "" {
		handler = withoutName(mux)
	}
	s.server = &http.Server{
		Handler:           http.MaxBytesHandler(handler, maxHeaderBytes),
		ReadHeaderTimeout: readTime, ReadTimeout: readTime,
		WriteTimeout: writeTime, IdleTimeout: idleTime,
		MaxHeaderBytes: maxHeaderBytes,
		ConnState:      s.bound,
		ErrorLog:       errorLog(log),
	}
	return s
}

// Limit lowers the bound on connections, for a process that may open few files.
func (s *Server) Limit(connections int) { s.most.Store(int64(connections)) }

// bound limits the number of connections.
func (s *Server) bound(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if s.open.Add(1) > s.most.Load() {
			_ = c.Close() // the server notices, and reports StateClosed
		}
	case http.StateClosed, http.StateHijacked:
		s.open.Add(-1)
	}
}

// Serve serves until Stop. If it ends by itself, that is only a warning: locks are more
// important than the admin address.
func (s *Server) Serve(ln net.Listener, log hclog.Logger) {
	if err := s.server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		log.Warn("admin address no longer served", "error", err)
	}
}

// Stopping makes /readyz answer that redlockd stops.
func (s *Server) Stopping() { s.probes.stopping.Store(true) }

// Stop ends the server, after answers that are under way.
func (s *Server) Stop() {
	// End the streams first, because the server waits for them.
	s.page.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	if s.server.Shutdown(ctx) != nil {
		_ = s.server.Close()
	}
}
