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
	// wrongPasswordDelay slows down guessing.
	wrongPasswordDelay = 250 * time.Millisecond
	// wrongPasswordPeriod is how often wrong passwords are logged at most.
	wrongPasswordPeriod = 10 * time.Second
)

// basicAuth asks for a password by HTTP's basic authentication. The user name does not
// matter. Safe for concurrent use.
type basicAuth struct {
	// sum is the password's hash; nil if no password is set.
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

// admits reports whether the request has the password. The hashes have equal lengths and
// are compared in constant time, so the time reveals nothing.
func (b *basicAuth) admits(r *http.Request) bool {
	if b.sum == nil {
		return true
	}
	_, password, ok := r.BasicAuth()
	sum := sha256.Sum256([]byte(password))
	return ok && subtle.ConstantTimeCompare(sum[:], b.sum[:]) == 1
}

// require passes only requests with the password on to next.
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

// wrong delays the answer to a wrong password, and logs it.
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

// errorLog returns the log for the HTTP server's errors on single connections. They are
// logged at debug level, because anybody who connects can cause them.
func errorLog(log hclog.Logger) *stdlog.Logger {
	return log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug})
}
