package integration

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Config is the config.hcl of a test. What is zero is left out of the file.
type Config struct {
	Timeout  time.Duration
	MaxTTL   time.Duration
	NoExpiry string
	Password string
	Masters  []string // addresses; their names are a, b, c, ...
	// MasterPassword is what the masters ask for.
	MasterPassword string
}

// overFive is what most tests use: a timeout that a busy machine does not
// reach by itself.
func overFive(masters []*Master) Config {
	cfg := Config{Timeout: 500 * time.Millisecond}
	for _, m := range masters {
		cfg.Masters = append(cfg.Masters, m.Addr)
	}
	return cfg
}

func (c Config) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "listen {\n  address = \"127.0.0.1:0\"\n")
	if c.Password != "" {
		fmt.Fprintf(&b, "  password = %q\n", c.Password)
	}
	fmt.Fprintf(&b, "}\n\nquorum {\n")
	if c.Timeout > 0 {
		fmt.Fprintf(&b, "  timeout = %q\n", c.Timeout)
	}
	if c.MaxTTL > 0 {
		fmt.Fprintf(&b, "  max_ttl = %q\n", c.MaxTTL)
	}
	if c.NoExpiry != "" {
		fmt.Fprintf(&b, "  no_expiry = %q\n", c.NoExpiry)
	}
	fmt.Fprintf(&b, "}\n\n")
	for i, addr := range c.Masters {
		fmt.Fprintf(&b, "master %q {\n  address = %q\n", string(rune('a'+i)), addr)
		if c.MasterPassword != "" {
			fmt.Fprintf(&b, "  password = %q\n", c.MasterPassword)
		}
		fmt.Fprintf(&b, "}\n")
	}
	return b.String()
}

// Redlockd is the process under test.
type Redlockd struct {
	Addr string

	tb      testing.TB
	cmd     *exec.Cmd
	log     *logBuffer
	exited  chan struct{}
	ended   sync.Once
	clients []*redis.Client
	cfg     Config
}

// StartCluster starts n masters and a redlockd over them, and waits until all
// of them vote.
func StartCluster(tb testing.TB, n int) (*Redlockd, []*Master) {
	tb.Helper()
	masters := StartMasters(tb, n)
	return StartRedlockd(tb, overFive(masters), masters), masters
}

// StartRedlockd makes a new cluster of the masters, starts redlockd, and
// waits until all the masters vote.
func StartRedlockd(tb testing.TB, cfg Config, masters []*Master) *Redlockd {
	tb.Helper()
	Bootstrap(tb, cfg)
	r := JoinRedlockd(tb, cfg)
	r.WaitVoting(masters...)
	return r
}

// Bootstrap runs `redlockd -bootstrap`.
func Bootstrap(tb testing.TB, cfg Config) {
	tb.Helper()
	out, err := exec.Command(built(tb), "-bootstrap", "-config", writeConfig(tb, cfg)).CombinedOutput()
	if err != nil {
		tb.Fatalf("redlockd -bootstrap: %v\n%s", err, out)
	}
}

// JoinRedlockd starts a redlockd and waits until it serves, whether or not
// its masters vote. When the test ends it gets SIGTERM and must exit with 0.
func JoinRedlockd(tb testing.TB, cfg Config) *Redlockd {
	tb.Helper()
	r := &Redlockd{tb: tb, log: &logBuffer{}, exited: make(chan struct{}), cfg: cfg}
	r.cmd = exec.Command(built(tb), "-config", writeConfig(tb, cfg))
	r.cmd.Stdout, r.cmd.Stderr = r.log, r.log
	r.cmd.SysProcAttr = childAttr()
	r.cmd.Env = append(os.Environ(), "GOTRACEBACK=all")
	if err := r.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	go func() {
		_ = r.cmd.Wait() // the exit code is looked at in Stop
		close(r.exited)
	}()
	tb.Cleanup(func() {
		r.Stop()
		if tb.Failed() {
			tb.Logf("the log of redlockd %s:\n%s", r.Addr, r.log.tail())
		}
	})
	eventually(tb, "redlockd serves", func() (bool, string) {
		select {
		case <-r.exited:
			tb.Fatalf("redlockd ended at once: %v", r.cmd.ProcessState)
		default:
		}
		r.Addr = r.log.servingAt()
		return r.Addr != "", "no line in its log tells its address"
	})
	return r
}

func built(tb testing.TB) string {
	tb.Helper()
	path, err := binary()
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

func writeConfig(tb testing.TB, cfg Config) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "config.hcl")
	if err := os.WriteFile(path, []byte(cfg.text()), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// Client returns a new client of redlockd, that tries everything once and
// waits long: an answer that does not come is a failure.
func (r *Redlockd) Client() *redis.Client {
	c := direct(r.Addr, r.cfg.Password)
	r.clients = append(r.clients, c)
	return c
}

// Stop sends SIGTERM and requires exit code 0.
func (r *Redlockd) Stop() {
	r.tb.Helper()
	r.ended.Do(func() {
		_ = r.cmd.Process.Signal(syscall.SIGTERM) // it may have ended, which the code tells
		select {
		case <-r.exited:
		case <-time.After(patience):
			_ = r.cmd.Process.Kill()
			<-r.exited
			r.tb.Errorf("redlockd did not end within %v of SIGTERM", patience)
		}
		if code := r.cmd.ProcessState.ExitCode(); code != 0 {
			r.tb.Errorf("redlockd ended with %v, want exit code 0", r.cmd.ProcessState)
		}
		for _, c := range r.clients {
			_ = c.Close()
		}
	})
}

// Goroutines ends the process with SIGQUIT, which makes it list its
// goroutines, and counts them.
func (r *Redlockd) Goroutines() int {
	r.tb.Helper()
	r.ended.Do(func() {}) // this end is no exit code 0
	if err := r.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		r.tb.Fatal(err)
	}
	<-r.exited
	for _, c := range r.clients {
		_ = c.Close()
	}
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	return len(regexp.MustCompile(`(?m)^goroutine \d+ `).FindAll(r.log.buf.Bytes(), -1))
}

// Running is whether the process lives.
func (r *Redlockd) Running() bool {
	select {
	case <-r.exited:
		return false
	default:
		return true
	}
}

// RSS is the memory of the process in bytes.
func (r *Redlockd) RSS() int64 {
	r.tb.Helper()
	pid := strconv.Itoa(r.cmd.Process.Pid)
	if status, err := os.ReadFile("/proc/" + pid + "/status"); err == nil {
		if m := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(status); m != nil {
			kb, _ := strconv.ParseInt(string(m[1]), 10, 64)
			return kb << 10
		}
	}
	out, err := exec.Command("ps", "-o", "rss=", "-p", pid).Output()
	if err != nil {
		r.tb.Fatalf("memory of redlockd: %v", err)
	}
	kb, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if err != nil {
		r.tb.Fatalf("memory of redlockd: %v", err)
	}
	return kb << 10
}

// WaitVoting waits until each of these masters takes part in acquires: until
// a lock taken through redlockd is found on it. The lock is released again.
func (r *Redlockd) WaitVoting(masters ...*Master) {
	r.tb.Helper()
	c := r.Client()
	probe := 0
	eventually(r.tb, "all the masters vote", func() (bool, string) {
		probe++
		key := fmt.Sprintf("probe:%s:%d", r.Addr, probe)
		ctx := context.Background()
		// As long as the locks of the tests: the masters' marks tell the
		// greatest hold, and no greater one is given before they do (M3).
		if ok, err := c.SetNX(ctx, key, "probe", 90*time.Second).Result(); !ok {
			return false, fmt.Sprintf("taking %s: %v", key, err)
		}
		without := waitHeld(masters, key, "probe", 200*time.Millisecond)
		if n, err := c.Eval(ctx, releaseScript, []string{key}, "probe").Int(); n != 1 {
			return false, fmt.Sprintf("releasing %s: %d, %v", key, n, err)
		}
		return len(without) == 0, fmt.Sprintf("%s is not on %v", key, without)
	})
}

// waitHeld waits until the masters have the key and returns the addresses of
// those that still have not: a reply needs no more than a majority.
func waitHeld(masters []*Master, key, token string, within time.Duration) []string {
	deadline := time.Now().Add(within)
	for {
		var without []string
		for _, m := range masters {
			if !m.Holds(key, token) {
				without = append(without, m.Addr)
			}
		}
		if len(without) == 0 || time.Now().After(deadline) {
			return without
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// releaseScript deletes the key if it still has the token.
const releaseScript = `
local mine = redis.call('GET', KEYS[1]) == ARGV[1]
if mine then return redis.call('DEL', KEYS[1]) end
return 0`

// extendScript gives the key a new TTL if it still has the token.
const extendScript = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`

// logBuffer keeps what redlockd writes.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

var servingLine = regexp.MustCompile(`serving: .*\baddress="?([^\s"]+)`)

func (l *logBuffer) servingAt() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m := servingLine.FindSubmatch(l.buf.Bytes()); m != nil {
		return string(m[1])
	}
	return ""
}

// tail is the end of the log, which is what a failure is about.
func (l *logBuffer) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buf.Bytes()
	if n := len(b) - 16<<10; n > 0 {
		b = b[n:]
	}
	return string(b)
}
