package admin

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redlockd/redlockd/quorum"
	"github.com/redlockd/redlockd/status"
)

// probes answers health and readiness checks.
type probes struct {
	masters  status.Masters
	stopping atomic.Bool
}

// healthz answers that the process is alive, whatever the state of the masters: a restart
// of redlockd would not help them.
func (p *probes) healthz(w http.ResponseWriter, _ *http.Request) {
	plain(w, http.StatusOK, "alive")
}

// readyz answers whether locks can be taken through this redlockd now. With reasoned it
// also says why not.
func (p *probes) readyz(w http.ResponseWriter, reasoned bool) {
	now := p.masters.Status()
	said := fmt.Sprintf("%d of %d masters vote, %d needed", now.Voting, len(now.Masters), now.Quorum)
	if why := Reasons(now); why != "" {
		said += ": " + why
	}
	if now.Hint != "" {
		said += " (" + now.Hint + ")"
	}
	switch {
	case p.stopping.Load():
		plain(w, http.StatusServiceUnavailable, "stopping")
	case now.Ready && reasoned:
		plain(w, http.StatusOK, "ready: "+said)
	case now.Ready:
		plain(w, http.StatusOK, "ready")
	case reasoned:
		plain(w, http.StatusServiceUnavailable, "not ready: "+said)
	default:
		plain(w, http.StatusServiceUnavailable, "not ready")
	}
}

// plain answers with one text that is not to be cached.
func plain(w http.ResponseWriter, code int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_, _ = fmt.Fprintln(w, text) // an error means that the client has gone
}

// Reasons returns why each master that may not vote may not, and for how long. If there is
// none, and locks cannot be taken, it returns why not.
func Reasons(now quorum.Status) string {
	var said []string
	for _, m := range now.Masters {
		if m.State == quorum.Voting {
			continue
		}
		text := m.Name + " " + string(m.State)
		if m.Required {
			text = m.Name + " (required) " + string(m.State)
		}
		if m.Reason != string(m.State) && m.Reason != "" {
			text += ": " + m.Reason
		}
		if m.Wait > 0 {
			text += ", waiting " + m.Wait.Round(time.Second).String()
		}
		said = append(said, text)
	}
	if len(said) == 0 && !now.Ready {
		// The masters are well, but this redlockd may not count their votes (M5).
		return "the clocks of a majority jumped together, or this redlockd stood still"
	}
	return strings.Join(said, "; ")
}
