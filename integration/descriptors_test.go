package integration

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

const maxClientsReached = "-ERR max number of clients reached\r\n"

// TestS5FewDescriptors: where few files may be open, masters and operators have theirs, and
// clients get what is left. One more is told so, as by Redis, and does not wait.
func TestS5FewDescriptors(t *testing.T) {
	masters := StartMasters(t, 5)
	cfg := overFive(masters)
	Bootstrap(t, cfg)
	for _, c := range []struct {
		ulimit string
		want   int // clients
		says   string
	}{
		{"-n 64", 16, "too few open files are allowed, lowering max_clients: max_clients=16 configured=200 open_files=64 needed=400"},
		{"-n 256", 128, "too few open files are allowed, lowering max_clients: max_clients=128 configured=200 open_files=256 needed=400"},
		{"-Sn 64", 200, ""}, // the soft limit is raised
	} {
		t.Run(c.ulimit, func(t *testing.T) {
			cfg := cfg
			cfg.Ulimit, cfg.Listen = c.ulimit, "  max_clients = 200"
			r := JoinRedlockd(t, cfg)
			clients := fill(t, r.Addr)
			if len(clients) != c.want {
				t.Errorf("%d clients are served, want %d", len(clients), c.want)
			}
			if got := clients[0].Ask("INFO", "clients"); !strings.Contains(got, fmt.Sprintf("maxclients:%d\r\n", c.want)) {
				t.Errorf("INFO tells %q, want maxclients:%d", got, c.want)
			}
			if got := clients[0].Ask("SET", c.ulimit, "me", "NX", "PX", "1000"); got != "+OK\r\n" {
				t.Errorf("SET: %q", got)
			}
			wantReadyz(t, r)
			r.Reload(cfg)
			eventually(t, "the file is read again", func() (bool, string) {
				return strings.Contains(r.Log(), "configuration reloaded"), r.Log()
			})
			if got := clients[0].Ask("CONFIG", "GET", "maxclients"); !strings.HasSuffix(got, fmt.Sprintf("\r\n%d\r\n", c.want)) {
				t.Errorf("after a SIGHUP CONFIG GET tells %q, want %d", got, c.want)
			}
			if log := r.Log(); !strings.Contains(log, c.says) || c.says == "" && strings.Contains(log, "[WARN]") {
				t.Errorf("the log does not say %q:\n%s", c.says, log)
			}
			clients[1].Close()
			eventually(t, "who leaves makes room", func() (bool, string) {
				got := DialWire(t, r.Addr).Ask("PING")
				return got == "+PONG\r\n", got
			})
			r.Stop()
		})
	}
}

// fill opens sessions until one is rejected.
func fill(t *testing.T, addr string) (clients []*Wire) {
	t.Helper()
	for range 1000 {
		w := DialWire(t, addr)
		switch got := w.Ask("PING"); got {
		case "+PONG\r\n":
			clients = append(clients, w)
		case maxClientsReached:
			return clients
		default:
			t.Fatalf("PING of client %d: %q", len(clients)+1, got)
		}
	}
	t.Fatal("no client is ever rejected")
	return nil
}

// wantReadyz requires that a load balancer is told that redlockd is ready.
func wantReadyz(t *testing.T, r *Redlockd) {
	t.Helper()
	once := http.Client{Timeout: rig.Patience, Transport: &http.Transport{DisableKeepAlives: true}}
	began := time.Now()
	reply, err := once.Get("http://" + r.Admin + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		t.Errorf("/readyz is %s after %v", reply.Status, time.Since(began))
	}
}
