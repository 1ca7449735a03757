package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	stdlog "log"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	// wrongPasswordDelay slows guessing.
	wrongPasswordDelay = 250 * time.Millisecond
	// wrongPasswordPeriod is how often guessing is logged.
	wrongPasswordPeriod = 10 * time.Second
)

// basicAuth asks for a password by HTTP's basic authentication. The user's
// name does not matter. Safe for concurrent use.
type basicAuth struct {
	// sum is of the password; nil when none is asked for.
	sum *[sha256.Size]byte
	log hclog.Logger

	mu         sync.Mutex
	told       time.Time
	unreported int
}

func newBasicAuth(password string, log hclog.Logger) *basicAuth {
	b := &basicAuth{log: log}
	if password != "" {
		sum := sha256.Sum256([]byte(password))
		b.sum = &sum
	}
	return b
}

// admits reports whether the request bears the password. The sums are compared,
// because they have one length, in a time that tells nothing.
func (b *basicAuth) admits(r *http.Request) bool {
	if b.sum == nil {
		return true
	}
	_, password, ok := r.BasicAuth()
	sum := sha256.Sum256([]byte(password))
	return ok && subtle.ConstantTimeCompare(sum[:], b.sum[:]) == 1
}

// require lets only those in who have the password.
func (b *basicAuth) require(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b.admits(r) {
			next.ServeHTTP(w, r)
			return
		}
		if _, _, tried := r.BasicAuth(); tried {
			b.wrong(r)
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="redlockd", charset="UTF-8"`)
		plain(w, http.StatusUnauthorized, "a password is needed")
	})
}

// wrong slows and logs a wrong password.
func (b *basicAuth) wrong(r *http.Request) {
	b.mu.Lock()
	b.unreported++
	if time.Since(b.told) >= wrongPasswordPeriod {
		b.log.Warn("wrong password at the admin address", "address", r.RemoteAddr, "times", b.unreported)
		b.told, b.unreported = time.Now(), 0
	}
	b.mu.Unlock()
	select {
	case <-time.After(wrongPasswordDelay):
	case <-r.Context().Done():
	}
}

// errorLog is where the HTTP server puts what goes wrong with one connection.
// At Debug, because anybody who connects can cause it.
func errorLog(log hclog.Logger) *stdlog.Logger {
	return log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug})
}
