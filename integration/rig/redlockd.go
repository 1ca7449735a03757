package rig

import (
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// Redlockd is the process under test.
type Redlockd struct {
	// Addr serves clients, and Admin metrics.
	Addr, Admin string
	Config      Config

	*process
	path string // of config.hcl

	mu      sync.Mutex
	clients []*redis.Client
}

// StartRedlockd makes a new cluster of the masters, starts redlockd, and
// waits until all the masters vote.
func StartRedlockd(tb TB, cfg Config, masters []*Master) *Redlockd {
	tb.Helper()
	Bootstrap(tb, cfg)
	r := JoinRedlockd(tb, cfg)
	r.WaitVoting(masters...)
	return r
}

// Bootstrap runs `redlockd -bootstrap`.
func Bootstrap(tb TB, cfg Config) {
	tb.Helper()
	if out, err := RunRedlockd(tb, cfg, "-bootstrap"); err != nil {
		tb.Fatalf("redlockd -bootstrap: %v\n%s", err, out)
	}
}

// RunRedlockd runs redlockd to its end, with a flag that makes it do one
// thing, and returns what it printed.
func RunRedlockd(tb TB, cfg Config, flag string) (string, error) {
	tb.Helper()
	out, err := exec.Command(Binary(tb), flag, "-config", cfg.write(tb, tb.TempDir())).CombinedOutput()
	return string(out), err
}

// JoinRedlockd starts a redlockd and waits until it serves, whether or not
// its masters vote. When the test ends it gets SIGTERM and must exit with 0.
func JoinRedlockd(tb TB, cfg Config) *Redlockd {
	tb.Helper()
	dir := tb.TempDir()
	path := cfg.write(tb, dir)
	argv := []string{Binary(tb), "-config", path}
	if cfg.Ulimit != "" {
		argv = append([]string{"sh", "-c", `ulimit ` + cfg.Ulimit + ` && exec "$0" "$@"`}, argv...)
	}
	r := &Redlockd{Config: cfg, path: path, process: newProcess(tb, dir, argv...)}
	r.launch()
	return r
}

// DevRedlockd is `redlockd -dev`, over masters of its own.
func DevRedlockd(tb TB) *Redlockd {
	tb.Helper()
	r := &Redlockd{process: newProcess(tb, tb.TempDir(), Binary(tb), "-dev", "-listen", "127.0.0.1:0")}
	r.launch()
	return r
}

func (r *Redlockd) launch() {
	r.tb.Helper()
	r.env = []string{"GOTRACEBACK=all"}
	r.Restart()
	r.tb.Cleanup(func() {
		r.Stop()
		if r.tb.Failed() {
			r.tb.Logf("the log of redlockd %s:\n%s", r.Addr, r.tail())
		}
	})
}

// Restart starts it, and ends first what of it still runs.
func (r *Redlockd) Restart() {
	r.tb.Helper()
	if cmd, _ := r.now(); cmd != nil {
		r.Kill()
	}
	if err := r.start(); err != nil {
		r.tb.Fatalf("%v", err)
	}
	var addr, admin string
	Eventually(r.tb, "redlockd serves", func() (bool, string) {
		log := r.Log()
		if !r.Running() {
			r.tb.Fatalf("redlockd ended at once:\n%s", log)
		}
		addr, admin = firstOf(servingLine, log), firstOf(adminLine, log)
		return addr != "" && (admin != "" || r.path == ""), "no line in its log tells its address"
	})
	// Addresses that the configuration fixes may be read meanwhile.
	if r.Addr != addr || r.Admin != admin {
		r.Addr, r.Admin = addr, admin
	}
}

var (
	servingLine = regexp.MustCompile(`serving: .*\baddress="?([^\s"]+)`)
	adminLine   = regexp.MustCompile(`serving metrics, health and readiness: address="?([^\s"]+)`)
)

func firstOf(line *regexp.Regexp, text string) string {
	if m := line.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// Reload writes another configuration and sends SIGHUP. What comes of it is
// in the log.
func (r *Redlockd) Reload(cfg Config) {
	r.tb.Helper()
	if err := os.WriteFile(r.path, []byte(cfg.Text()), 0o600); err != nil {
		r.tb.Fatalf("%v", err)
	}
	r.Config = cfg
	r.signal(syscall.SIGHUP)
}

// Client returns a new client of redlockd, that tries everything once and
// waits long.
func (r *Redlockd) Client() *redis.Client {
	c := Direct(r.Addr, r.Config.Password)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clients = append(r.clients, c)
	return c
}

// Stop sends SIGTERM and requires exit code 0, unless Kill has ended it. A
// second Stop does nothing.
func (r *Redlockd) Stop() {
	r.tb.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.clients {
		_ = c.Close()
	}
	r.clients = nil
	if r.wasKilled() {
		return
	}
	cmd, exited := r.now()
	_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended, which the code tells
	select {
	case <-exited:
	case <-time.After(Patience):
		r.Kill()
		r.tb.Errorf("redlockd did not end within %v of SIGTERM", Patience)
	}
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		r.tb.Errorf("redlockd ended with %v, want exit code 0", cmd.ProcessState)
	}
}
