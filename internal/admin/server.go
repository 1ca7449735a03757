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

// Limits of the address: it has a few honest users, and nobody there may cost
// the locks anything.
const (
	maxConnections = 64
	maxHeaderBytes = 16 << 10
	maxScrapes     = 4 // at a time
	readTime       = 5 * time.Second
	writeTime      = 30 * time.Second
	idleTime       = 2 * time.Minute
	stopTime       = time.Second
)

// Server is the HTTP server for operators. It only looks; nothing can be
// changed through it.
type Server struct {
	probes probes
	page   *status.Page
	server *http.Server
	open   atomic.Int64 // connections
}

// New returns a server by the block admin of the configuration, which must have
// one. It begins with Serve, and must be stopped.
func New(cfg config.Config, build Build, masters status.Masters, sessions Sessions, certs Certificates, log hclog.Logger) *Server {
	s := &Server{probes: probes{masters: masters}}
	lock := newBasicAuth(cfg.Admin.Password, log)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", lock.require(promhttp.HandlerFor(newRegistry(build.Version, masters, sessions, certs),
		promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes, Timeout: readTime, ErrorLog: errorLog(log)})))
	// Without a password these say yes or no, because probes seldom have one.
	mux.HandleFunc("GET /healthz", s.probes.healthz)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) { s.probes.readyz(w, lock.admits(r)) })
	if cfg.Admin.Pprof {
		profiles(mux, lock)
	}
	s.page = status.New(masters, sessions, facts(cfg, build))
	mux.Handle("GET /", lock.require(s.page))
	s.server = &http.Server{
		Handler:           http.MaxBytesHandler(mux, maxHeaderBytes),
		ReadHeaderTimeout: readTime, ReadTimeout: readTime,
		WriteTimeout: writeTime, IdleTimeout: idleTime,
		MaxHeaderBytes: maxHeaderBytes,
		ConnState:      s.bound,
		ErrorLog:       errorLog(log),
	}
	return s
}

// bound keeps the connections few.
func (s *Server) bound(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if s.open.Add(1) > maxConnections {
			_ = c.Close() // the server finds it closed, and says so by StateClosed
		}
	case http.StateClosed, http.StateHijacked:
		s.open.Add(-1)
	}
}

// Serve serves until Stop. Its end by itself is told as a Warn: locks are
// more important than looking at them.
func (s *Server) Serve(ln net.Listener, log hclog.Logger) {
	if err := s.server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		log.Warn("admin address no longer served", "error", err)
	}
}

// Stopping makes /readyz say that redlockd stops.
func (s *Server) Stopping() { s.probes.stopping.Store(true) }

// Stop ends it, after answers that are under way.
func (s *Server) Stop() {
	// The streams first, because the server waits for them.
	s.page.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	if s.server.Shutdown(ctx) != nil {
		_ = s.server.Close()
	}
}
