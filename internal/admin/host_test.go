package admin

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/redlockd/redlockd/internal/config"
)

// TestAdminRefusesNames: a web page whose name leads to this host learns nothing without a
// password (DNS rebinding).
func TestAdminRefusesNames(t *testing.T) {
	source := threeMasters()
	open := newServer(config.Admin{}, source)
	defer open.page.Stop()
	locked := newServer(config.Admin{Password: "secret"}, source)
	defer locked.page.Stop()
	cfg := config.Config{Admin: &config.Admin{}}
	cfg.TLS = withBlock(cfg.TLS, "admin")
	encrypted := newServerOf(cfg, source)
	defer encrypted.page.Stop()
	ask := func(s *Server, host, path string) (int, string) {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = host
		r.SetBasicAuth("anybody", "secret")
		w := httptest.NewRecorder()
		s.server.Handler.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	for host, want := range map[string]int{
		"127.0.0.1:9736": 200, "127.0.0.1": 200, "[::1]:9736": 200, "[::1]": 200, "localhost:9736": 200, "LocalHost": 200,
		"10.0.0.5:9736": 200, "": 200, // through a tunnel; HTTP/1.0
		"evil.example:9736": 403, "evil.example": 403, "localhost.evil.example:9736": 403, "127.0.0.1.evil.example": 403,
		"localhost@evil.example:9736": 403, "127.0.0.1:9736:evil.example": 403, ":9736": 403,
	} {
		for _, path := range []string{"/", "/lock?key=k", "/metrics", "/healthz"} {
			code, body := ask(open, host, path)
			if code != want {
				t.Errorf("%s with Host %q: %d, want %d", path, host, code, want)
			}
			if code == 403 && !strings.Contains(body, "use http://localhost, or set admin.password") {
				t.Errorf("%s with Host %q does not say what to do: %q", path, host, body)
			}
		}
	}
	for name, s := range map[string]*Server{"a password": locked, "TLS": encrypted} {
		if code, body := ask(s, "redlockd.example", "/metrics"); code != 200 {
			t.Errorf("with %s, another name: %d %q, want 200", name, code, body)
		}
	}
}

// withBlock returns blocks tls of which one is there, whatever its files are.
func withBlock[Blocks ~map[string]Files, Files any](_ Blocks, name string) Blocks {
	var files Files
	return Blocks{name: files}
}
