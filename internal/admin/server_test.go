package admin

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/redlockd/redlockd/internal/config"
	"github.com/redlockd/redlockd/internal/journal"
	"github.com/redlockd/redlockd/proxy"
	"github.com/redlockd/redlockd/proxy/history"
	"github.com/redlockd/redlockd/quorum"
	"github.com/redlockd/redlockd/status"
)

// fixedSource is masters and clients that do not change.
type fixedSource struct {
	status  quorum.Status
	refused map[string]uint64

	held      []history.Held
	contended []history.Contended
	sessions  []proxy.Session
}

func (f *fixedSource) Status() quorum.Status { return f.status }
func (f *fixedSource) Expiries() map[string]time.Time {
	return map[string]time.Time{"listen": time.Unix(1<<31, 0)}
}
func (f *fixedSource) Clients() int    { return 7 }
func (f *fixedSource) MaxClients() int { return 10000 }
func (f *fixedSource) Blocked() int    { return 4 }
func (f *fixedSource) OneLock(context.Context, int, string) (proxy.OneLock, error) {
	return proxy.OneLock{State: "held"}, nil
}
func (f *fixedSource) Held(int) (int, []history.Held) {
	return 5, f.held
}
func (f *fixedSource) Times() []history.Times {
	times := history.Histogram{Counts: make([]uint64, len(history.Bounds)), Count: 3, Sum: 9 * time.Hour}
	times.Counts[5] = 2
	return []history.Times{{Pattern: "orders:*", Waited: times, Held: times}, {Pattern: history.Others}}
}
func (f *fixedSource) Aside() bool { return true }
func (f *fixedSource) Lost() map[string]uint64 {
	return map[string]uint64{"expired": 9, "forced": 10, "changed": 11}
}
func (f *fixedSource) Contended(int) []history.Contended   { return f.contended }
func (f *fixedSource) Sessions(int) (int, []proxy.Session) { return 7, f.sessions }
func (f *fixedSource) Refused() map[string]uint64          { return f.refused }
func (f *fixedSource) Defences() proxy.Defences {
	return proxy.Defences{LoginFailures: 3, Denied: 4, Dropped: 5, Evicted: 6, TurnedAway: 7, Memory: 8}
}

// threeMasters are one that votes, one that is down, and one in quarantine.
func threeMasters() *fixedSource {
	return &fixedSource{
		status: quorum.Status{Quorum: 2, Voting: 1, Generation: 3, Phase: "closed", Masters: []quorum.MasterStatus{
			{Name: "a", State: quorum.Voting, Votes: quorum.Votes{Counted: 31, Spare: 32, Silent: 33},
				Batches: quorum.Histogram{Counts: [19]uint64{2, 3}, Count: 6, Sum: 9 * time.Second}},
			{Name: "b", State: quorum.Down, Reason: "connection refused"},
			{Name: "c", State: quorum.Quarantine, Reason: "restarted", Wait: 90 * time.Second},
		}, UnderWay: 3, Waiting: 2, Timings: map[string]quorum.Histogram{"acquire": {Counts: [19]uint64{4: 1}, Count: 1, Sum: 400 * time.Microsecond}},
			Counters: quorum.Counters{Won: 11, Held: 12, Split: 13, Undecided: 14, Released: 15, Extended: 16,
				Reads: 17, Rollbacks: 18, LateGrants: 19, Quarantines: 20, LostConnections: 21, MasterErrors: 22, WithoutMajority: 23,
				MessagesSent: 24, MessagesHeard: 25, MessagesDropped: 26}},
		refused: map[string]uint64{"lpush": 3, "a\xff": 1, "a\xfe": 1},
	}
}

// newServer returns a server with this block admin and source.
func newServer(cfg config.Admin, source interface {
	status.Masters
	Sessions
	Certificates
}) *Server {
	return newServerOf(config.Config{Admin: &cfg}, source)
}

func newServerOf(cfg config.Config, source interface {
	status.Masters
	Sessions
	Certificates
}) *Server {
	return New(cfg, Build{}, Sources{Masters: source, Sessions: source, Certificates: source,
		Reloads: NewReloads(time.Unix(1<<30, 0)), Log: journal.New()}, hclog.NewNullLogger())
}

// startAdmin serves on a free port until the test ends, and returns the URL.
func startAdmin(t *testing.T, password string, source *fixedSource) (*Server, string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log := hclog.NewNullLogger()
	a := newServer(config.Admin{Password: password}, source)
	served := make(chan struct{})
	go func() { defer close(served); a.Serve(ln, log) }()
	t.Cleanup(func() { a.Stop(); <-served })
	return a, "http://" + ln.Addr().String()
}

func get(t *testing.T, url, password string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if password != "" {
		request.SetBasicAuth("anybody", password)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestMetrics(t *testing.T) {
	_, url := startAdmin(t, "", threeMasters())
	code, body := get(t, url+"/metrics", "")
	if code != http.StatusOK {
		t.Fatalf("%d: %s", code, body)
	}
	for _, want := range []string{
		`redlockd_acquires_total{verdict="won"} 11`, `redlockd_acquires_total{verdict="held"} 12`,
		`redlockd_acquires_total{verdict="split"} 13`, `redlockd_acquires_total{verdict="undecided"} 14`,
		`redlockd_releases_total 15`, `redlockd_extends_total 16`, `redlockd_reads_total 17`,
		`redlockd_rollbacks_total 18`, `redlockd_late_grants_total 19`, `redlockd_quarantines_total 20`,
		`redlockd_lost_connections_total 21`, `redlockd_master_errors_total 22`, `redlockd_without_majority_total 23`,
		`redlockd_messages_sent_total 24`, `redlockd_messages_heard_total 25`, `redlockd_messages_dropped_total 26`,
		`redlockd_master_up{master="a"} 1`, `redlockd_master_up{master="b"} 0`, `redlockd_master_up{master="c"} 1`,
		`redlockd_master_state{master="c",state="quarantine"} 1`, `redlockd_master_state{master="c",state="voting"} 0`,
		`redlockd_master_quarantine_seconds{master="c"} 90`,
		`redlockd_ready 0`, `redlockd_masters_voting 1`, `redlockd_quorum 2`, `redlockd_sessions 7`, `redlockd_max_clients 10000`, `redlockd_masters_generation 3`,
		`redlockd_masters_phase{phase="announced"} 0`, `redlockd_masters_phase{phase="closed"} 1`, `redlockd_masters_phase{phase="final"} 0`,
		`redlockd_config_last_reload_successful 1`, `redlockd_config_last_reload_success_timestamp_seconds 1.073741824e+09`,
		`redlockd_refused_commands_total{command="lpush"} 3`, `redlockd_refused_commands_total{command="a?"} 2`, `redlockd_refused_commands_total{command="other"} 0`,
		`redlockd_operation_duration_seconds_bucket{operation="acquire",le="0.000256"} 0`,
		`redlockd_operation_duration_seconds_bucket{operation="acquire",le="0.000512"} 1`,
		`redlockd_operation_duration_seconds_sum{operation="acquire"} 0.0004`,
		`redlockd_master_batch_duration_seconds_bucket{master="a",le="6.4e-05"} 5`,
		`redlockd_master_batch_duration_seconds_bucket{master="a",le="+Inf"} 6`,
		`redlockd_master_votes_total{master="a",vote="counted"} 31`, `redlockd_master_votes_total{master="a",vote="spare"} 32`,
		`redlockd_master_votes_total{master="a",vote="silent"} 33`,
		`redlockd_operations_under_way 3`, `redlockd_operations_waiting 2`, `redlockd_blocked_sessions 4`, `redlockd_held_locks 5`,
		`redlockd_locks_lost_total{cause="expired"} 9`, `redlockd_locks_lost_total{cause="forced"} 10`, `redlockd_locks_lost_total{cause="changed"} 11`,
		`redlockd_stepped_aside 1`,
		`redlockd_lock_wait_seconds_bucket{pattern="orders:*",le="0.5"} 0`, `redlockd_lock_wait_seconds_bucket{pattern="orders:*",le="1"} 2`,
		`redlockd_lock_hold_seconds_bucket{pattern="orders:*",le="+Inf"} 3`, `redlockd_lock_hold_seconds_sum{pattern="orders:*"} 32400`,
		`redlockd_lock_hold_seconds_count{pattern="others"} 0`,
		`redlockd_certificate_expiry_timestamp_seconds{block="listen"} 2.147483648e+09`,
		`redlockd_build_info{goversion="go1.`, `go_goroutines `,
	} {
		if !strings.Contains(body, "\n"+want) {
			t.Errorf("does not tell %s", want)
		}
	}
	problems, err := promlint.New(strings.NewReader(body)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "redlockd_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

func TestHealthAndReadiness(t *testing.T) {
	source := threeMasters()
	a, url := startAdmin(t, "secret", source)
	expect := func(path, password string, code int, want string) {
		t.Helper()
		if got, body := get(t, url+path, password); got != code || strings.TrimSpace(body) != want {
			t.Errorf("%s: %d %q, want %d %q", path, got, body, code, want)
		}
	}
	expect("/healthz", "", 200, "alive")
	expect("/readyz", "", 503, "not ready")
	expect("/readyz", "secret", 503, "not ready: 1 of 3 masters vote, 2 needed: b down: connection refused; c quarantine: restarted, waiting 1m30s")
	source.status.Voting, source.status.Masters = 0, source.status.Masters[:1]
	expect("/readyz", "secret", 503, "not ready: 0 of 1 masters vote, 2 needed: the clocks of a majority jumped together, or this redlockd stood still")
	source.status.Hint = "do this"
	expect("/readyz", "secret", 503, "not ready: 0 of 1 masters vote, 2 needed: the clocks of a majority jumped together, or this redlockd stood still (do this)")
	source.status.Hint = ""
	source.status.Voting, source.status.Ready = 2, true
	expect("/readyz", "", 200, "ready")
	a.Stopping()
	expect("/readyz", "", 503, "stopping")
	expect("/healthz", "", 200, "alive")
}

func TestAdminPassword(t *testing.T) {
	_, url := startAdmin(t, "secret", threeMasters())
	for _, path := range []string{"/metrics", "/", "/lock?key=k"} {
		for password, want := range map[string]int{"": 401, "secre": 401, "secret2": 401, "secret": 200} {
			if code, body := get(t, url+path, password); code != want || want == 401 && (strings.Contains(body, "redlockd_") || strings.Contains(body, "held")) {
				t.Errorf("%s with %q: %d, want %d", path, password, code, want)
			}
		}
	}
	if code, _ := get(t, url+"/debug/pprof/", "secret"); code != 404 {
		t.Errorf("pprof: %d, want 404", code)
	}
	response, err := http.Post(url+"/metrics", "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d, want 405", response.StatusCode)
	}
}

// TestAdminConnectionsAreFew exceeds the limit, and then finds that a freed place can be
// used again.
func TestAdminConnectionsAreFew(t *testing.T) {
	_, url := startAdmin(t, "", threeMasters())
	address := strings.TrimPrefix(url, "http://")
	ask := func(c net.Conn) error {
		if _, err := fmt.Fprint(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			return err
		}
		_, err := c.Read(make([]byte, 1024))
		return err
	}
	var open []net.Conn
	for range MaxConnections {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := ask(c); err != nil {
			t.Fatalf("connection %d: %v", len(open)+1, err)
		}
		open = append(open, c)
	}
	over, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer over.Close()
	if ask(over) == nil {
		t.Error("one connection too many is served")
	}
	for _, c := range open {
		c.Close()
	}
	if err := answered(t, address, ask); err != nil {
		t.Errorf("after the others have gone: %v", err)
	}
}

// answered dials until it gets an answer, because the server notices closed connections
// with a delay.
func answered(t *testing.T, address string, ask func(net.Conn) error) (err error) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); {
		var c net.Conn
		if c, err = net.Dial("tcp", address); err != nil {
			return err
		}
		err = ask(c)
		c.Close()
		if err == nil {
			return nil
		}
	}
	return err
}
