package status

import (
	"context"
	"embed"
	"net/http"
	"sync"
	"time"

	"github.com/redlockd/redlockd/internal/journal"
	"github.com/redlockd/redlockd/proxy"
	"github.com/redlockd/redlockd/proxy/history"
	"github.com/redlockd/redlockd/quorum"
)

// Masters tells of the masters and the votes; it is the quorum.
type Masters interface{ Status() quorum.Status }

// Clients tells of the sessions and what they hold; it is the proxy's server.
type Clients interface {
	Held(most int) (total int, longest []history.Held)
	Contended(most int) []history.Contended
	Sessions(most int) (total int, latest []proxy.Session)
	Blocked() int
	Times() []history.Times
	OneLock(ctx context.Context, db int, key string) (proxy.OneLock, error)
}

// Log tells of the latest lines of the log, the newest first; it is the process's journal.
type Log interface {
	Latest(most int) []journal.Line
}

// Fact is a line of what the page tells of the build and the configuration.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Page serves the page. Its methods are safe for concurrent use.
type Page struct {
	masters Masters
	clients Clients
	log     Log
	facts   []Fact
	began   time.Time
	mux     http.ServeMux

	stop    chan struct{}
	once    sync.Once
	running sync.WaitGroup

	mu      sync.Mutex
	samples []sample
	looking map[*onlooker]struct{}
}

//go:embed page
var files embed.FS

// New starts to take samples, which costs little while nobody looks. Stop ends
// it.
func New(masters Masters, clients Clients, log Log, facts []Fact) *Page {
	p := &Page{masters: masters, clients: clients, log: log, facts: facts, began: time.Now(),
		stop: make(chan struct{}), looking: make(map[*onlooker]struct{})}
	p.mux.Handle("GET /{$}", file("index.html", "text/html; charset=utf-8"))
	p.mux.Handle("GET /status.css", file("status.css", "text/css; charset=utf-8"))
	p.mux.Handle("GET /status.js", file("status.js", "text/javascript; charset=utf-8"))
	p.mux.Handle("GET /find.js", file("find.js", "text/javascript; charset=utf-8"))
	p.mux.HandleFunc("GET /events", p.events)
	p.mux.HandleFunc("GET /lock", p.lock)
	p.sample(time.Now())
	p.running.Go(p.run)
	return p
}

// Stop ends all streams and the samples.
func (p *Page) Stop() {
	p.once.Do(func() { close(p.stop) })
	p.running.Wait()
}

// run takes a sample every second until Stop.
func (p *Page) run() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			p.sample(now)
		case <-p.stop:
			return
		}
	}
}

// policy lets the page load its own files and nothing else, and nobody frame
// it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// ServeHTTP answers with the page, its files and its events.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	p.mux.ServeHTTP(w, r)
}

// file serves one of the embedded files.
func file(name, kind string) http.Handler {
	text, err := files.ReadFile("page/" + name)
	if err != nil {
		panic(err) // it was not embedded
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(text) // who has gone does not read it
	})
}
