package admin

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/redlockd/redlockd/internal/config"
)

// Profiles are off by default, and need the password.
func TestProfiles(t *testing.T) {
	for _, tt := range []struct {
		on       bool
		password string
		want     int
	}{
		{false, "p", http.StatusNotFound},
		{true, "", http.StatusUnauthorized},
		{true, "q", http.StatusUnauthorized},
		{true, "p", http.StatusOK},
	} {
		source := threeMasters()
		a := newServer(config.Admin{Password: "p", Pprof: tt.on}, source)
		for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap"} {
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			if tt.password != "" {
				request.SetBasicAuth("anybody", tt.password)
			}
			answer := httptest.NewRecorder()
			a.server.Handler.ServeHTTP(answer, request)
			if answer.Code != tt.want {
				t.Errorf("on %v, password %q, %s: %d, want %d", tt.on, tt.password, path, answer.Code, tt.want)
			}
		}
	}
}
