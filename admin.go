package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/redlockd/redlockd/internal/config"
	"github.com/redlockd/redlockd/proxy"
	"github.com/redlockd/redlockd/quorum"
	"github.com/redlockd/redlockd/status"
)

// Limits of the admin address: it has a few honest users, and nobody there
// may cost the locks anything.
const (
	adminConnections = 64
	adminHeaderBytes = 16 << 10
	adminScrapes     = 4 // at a time
	adminReadTime    = 5 * time.Second
	adminWriteTime   = 30 * time.Second
	adminIdleTime    = 2 * time.Minute
	adminStopTime    = time.Second
)

// masterSource tells of the masters; it is the quorum.
type masterSource interface{ Status() quorum.Status }

// sessionSource tells of the clients; it is the proxy's server.
type sessionSource interface {
	Clients() int
	Refused() map[string]uint64
	Held(most int) (total int, longest []proxy.Held)
	Contended(most int) []proxy.Contended
	Sessions(most int) (total int, latest []proxy.Session)
	Blocked() int
	Defences() proxy.Defences
}

// certificateSource tells when certificates end, by the blocks they are for.
type certificateSource interface{ Expiries() map[string]time.Time }

// admin is the HTTP server for operators: metrics, health, readiness and the
// status page. It only looks; nothing can be changed through it.
type admin struct {
	masters  masterSource
	page     *status.Page
	server   *http.Server
	stopping atomic.Bool
	open     atomic.Int64 // connections
}

func newAdmin(cfg config.Admin, masters masterSource, sessions sessionSource, certs certificateSource, facts []status.Fact,
	log hclog.Logger) *admin {
	a := &admin{masters: masters}
	lock := newBasicAuth(cfg.Password, log)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", lock.require(promhttp.HandlerFor(newRegistry(masters, sessions, certs),
		promhttp.HandlerOpts{MaxRequestsInFlight: adminScrapes, Timeout: adminReadTime, ErrorLog: errorLog(log)})))
	// Without a password these say yes or no, because probes seldom have one.
	mux.HandleFunc("GET /healthz", a.healthz)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) { a.readyz(w, lock.admits(r)) })
	if cfg.Pprof {
		profiles(mux, lock)
	}
	a.page = status.New(masters, sessions, facts)
	mux.Handle("GET /", lock.require(a.page))
	a.server = &http.Server{
		Handler:           http.MaxBytesHandler(mux, adminHeaderBytes),
		ReadHeaderTimeout: adminReadTime, ReadTimeout: adminReadTime,
		WriteTimeout: adminWriteTime, IdleTimeout: adminIdleTime,
		MaxHeaderBytes: adminHeaderBytes,
		ConnState:      a.bound,
		ErrorLog:       errorLog(log),
	}
	return a
}

// bound keeps the connections few.
func (a *admin) bound(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if a.open.Add(1) > adminConnections {
			_ = c.Close() // the server finds it closed, and says so by StateClosed
		}
	case http.StateClosed, http.StateHijacked:
		a.open.Add(-1)
	}
}

// serve serves until stop. Its end by itself is told as a Warn: locks are
// more important than looking at them.
func (a *admin) serve(ln net.Listener, log hclog.Logger) {
	if err := a.server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		log.Warn("admin address no longer served", "error", err)
	}
}

// stop ends it, after answers that are under way.
func (a *admin) stop() {
	// The streams first, because the server waits for them.
	a.page.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), adminStopTime)
	defer cancel()
	if a.server.Shutdown(ctx) != nil {
		_ = a.server.Close()
	}
}

// healthz says that the process is alive, and nothing of the masters: a
// restart of redlockd would heal none of them.
func (a *admin) healthz(w http.ResponseWriter, _ *http.Request) {
	plain(w, http.StatusOK, "alive")
}

// readyz says whether locks can be taken through this redlockd now; the
// reason why not is for those who may see it.
func (a *admin) readyz(w http.ResponseWriter, reasoned bool) {
	s := a.masters.Status()
	said := fmt.Sprintf("%d of %d masters vote, %d needed", s.Voting, len(s.Masters), s.Quorum)
	if why := reasons(s); why != "" {
		said += ": " + why
	} else if !s.Ready {
		// The masters are well, and this redlockd may not count them (M5).
		said += ": the clocks of a majority jumped together, or this redlockd stood still"
	}
	switch {
	case a.stopping.Load():
		plain(w, http.StatusServiceUnavailable, "stopping")
	case s.Ready && reasoned:
		plain(w, http.StatusOK, "ready: "+said)
	case s.Ready:
		plain(w, http.StatusOK, "ready")
	case reasoned:
		plain(w, http.StatusServiceUnavailable, "not ready: "+said)
	default:
		plain(w, http.StatusServiceUnavailable, "not ready")
	}
}

// plain answers with one text that nobody keeps.
func plain(w http.ResponseWriter, code int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_, _ = fmt.Fprintln(w, text) // who has gone does not hear it
}
