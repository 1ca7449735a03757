package faults

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const (
	timeout     = 300 * time.Millisecond
	retryBudget = 200 * time.Millisecond
	// stay bounds an answer's time in redlockd (V2); slack is what a busy
	// machine may add.
	stay  = timeout + retryBudget
	slack = 2500 * time.Millisecond
)

// redlockd is one process under test, with links of its own to all masters.
type redlockd struct {
	process
	addr  string
	links []*link
	// disturbed is when it was last frozen or killed, in nanoseconds since
	// the bench began; disturbing while it is.
	disturbed  atomic.Int64
	disturbing atomic.Bool
	// killed is when it last came up again after a kill.
	killed atomic.Int64
}

func newRedlockd(tb testing.TB, base, binary string, n int, masters []*master, maxTTL time.Duration) *redlockd {
	r := &redlockd{addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(freePort(tb)))}
	r.tb, r.log = tb, filepath.Join(base, fmt.Sprintf("redlockd-%d.log", n))
	r.env = []string{"GOTRACEBACK=all"}
	var b strings.Builder
	fmt.Fprintf(&b, "listen {\n  address = %q\n}\nquorum {\n  timeout = %q\n  retry_budget = %q\n  max_ttl = %q\n%s\n}\n",
		r.addr, timeout, retryBudget, maxTTL, os.Getenv("QUORUM"))
	for _, m := range masters {
		l := newLink(tb, m.addr)
		r.links = append(r.links, l)
		fmt.Fprintf(&b, "master %q {\n  address = %q\n}\n", m.name, l.addr)
	}
	fmt.Fprintf(&b, "log {\n  level = %q\n}\n", "debug")
	path := filepath.Join(base, fmt.Sprintf("config-%d.hcl", n))
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		tb.Fatal(err)
	}
	r.argv = []string{binary, "-config", path}
	if n == 0 {
		if out, err := exec.Command(binary, "-bootstrap", "-config", path).CombinedOutput(); err != nil {
			tb.Fatalf("redlockd -bootstrap: %v\n%s", err, out)
		}
	}
	r.start()
	r.waitUp()
	tb.Cleanup(r.kill)
	return r
}

func (r *redlockd) waitUp() {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if c, err := net.Dial("tcp", r.addr); err == nil {
			c.Close()
			return
		}
		if !r.running() {
			r.start()
		}
	}
	r.tb.Errorf("redlockd %s does not serve", r.addr)
}

// rss is its memory in MiB, 0 where the system does not tell.
func (r *redlockd) rss() int {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.cmd.Process.Pid))
	if m := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(status); m != nil {
		kb, _ := strconv.Atoi(string(m[1]))
		return kb >> 10
	}
	return 0
}

// goroutines ends the process with SIGQUIT, which makes it list them.
func (r *redlockd) goroutines() int {
	r.signal(syscall.SIGQUIT)
	<-r.exited
	text, _ := os.ReadFile(r.log)
	_, dump, _ := strings.Cut(string(text), "SIGQUIT: quit")
	return len(regexp.MustCompile(`(?m)^goroutine \d+ `).FindAllString(dump, -1))
}

func contains(s, sub string) bool { return strings.Contains(s, sub) }

// builtBinary builds redlockd, or takes the one that REDLOCKD_BINARY names.
func builtBinary(tb testing.TB, base string) string {
	if path := os.Getenv("REDLOCKD_BINARY"); path != "" {
		return path
	}
	path := filepath.Join(base, "redlockd")
	args := []string{"build", "-o", path}
	if raceDetector {
		args = append(args, "-race")
	}
	cmd := exec.Command("go", append(args, ".")...)
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("building redlockd: %v\n%s", err, out)
	}
	return path
}
