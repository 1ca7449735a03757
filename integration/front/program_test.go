package front

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// client is a program that calls until its input ends, or its calls are made.
type client struct {
	name string
	dir  string // where it runs
	argv []string
	// parse reads a line; the one before it has ended at the time last.
	parse func(line string, last, now time.Time) (call, bool)
	// args are those for an address and a prefix.
	args func(addr, prefix string) []string
}

// ours is a program of integration/clients.
func ours(name, folder string, argv ...string) client {
	return client{name, filepath.Join("..", "clients", folder), argv, parseCall, func(addr, prefix string) []string {
		host, port, _ := strings.Cut(addr, ":")
		return []string{host, port, prefix}
	}}
}

const classes = "general/target/classes:general/target/dependency/*"

var clients = []client{
	ours("redis-py 8", "python", ".venv/bin/python", "front.py"),
	ours("ioredis 6", "node", "node", "front.js", "ioredis"),
	ours("node-redis 6", "node", "node", "front.js", "nodeRedis"),
	ours("go-redis 9", "go", "bin/front"),
	ours("Jedis 8", "java", "java", "-cp", classes, "clients.Front", "jedis"),
	ours("Lettuce 7", "java", "java", "-cp", classes, "clients.Front", "lettuce"),
}

// parseCall reads "KIND SENT ANSWERED 1|0|ERROR".
func parseCall(line string, _, _ time.Time) (call, bool) {
	f := strings.SplitN(strings.TrimSpace(line), " ", 4)
	if len(f) < 4 {
		return call{}, false
	}
	sent, err := millis(f[1])
	answered, err2 := millis(f[2])
	if err != nil || err2 != nil {
		return call{}, false // a library may print of its own
	}
	c := call{kind: f[0], sent: sent, answered: answered, ok: f[3] == "1"}
	if !c.ok && f[3] != "0" {
		c.err = f[3]
	}
	return c, true
}

func millis(text string) (time.Time, error) {
	ms, err := strconv.ParseFloat(text, 64)
	return time.UnixMicro(int64(ms * 1000)), err
}

// dotnet is a part of the program that FRONT_DOTNET names, with options of its
// connection string.
func dotnet(name, program, part, options string) client {
	return client{name, "", []string{program}, parseStep, func(addr, _ string) []string { return []string{addr + options, part} }}
}

// parseStep reads "STEP => RESULT".
func parseStep(line string, last, now time.Time) (call, bool) {
	step, result, ok := strings.Cut(line, " => ")
	if !ok {
		return call{}, false
	}
	c := call{kind: strings.TrimSpace(step), sent: last, answered: now, ok: true}
	if failed, text := strings.CutPrefix(result, "EX "); text {
		c.ok, c.err = false, failed
	} else {
		c.result = strings.TrimSpace(result)
	}
	return c, true
}

// running is a client at work.
type running struct {
	t     *testing.T
	cmd   *exec.Cmd
	input io.Closer
	ended chan struct{}

	mu    sync.Mutex
	calls []call
	noise []string // what it printed besides
}

func (c client) start(t *testing.T, addr, prefix string) *running {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, c.argv[0], append(c.argv[1:len(c.argv):len(c.argv)], c.args(addr, prefix)...)...)
	cmd.Dir = c.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r := &running{t: t, cmd: cmd, input: input, ended: make(chan struct{})}
	cmd.Stderr = lines{r}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: run it by make front, which installs what it needs", err)
	}
	go r.read(output, c.parse)
	t.Cleanup(func() { stop(); <-r.ended })
	return r
}

// read keeps what the program prints, until it ends.
func (r *running) read(output io.Reader, parse func(string, time.Time, time.Time) (call, bool)) {
	defer close(r.ended)
	last := time.Now()
	for in := bufio.NewScanner(output); in.Scan(); {
		now := time.Now()
		c, ok := parse(in.Text(), last, now)
		last = now
		r.mu.Lock()
		if ok {
			r.calls = append(r.calls, c)
		} else {
			r.noise = append(r.noise, in.Text())
		}
		r.mu.Unlock()
	}
	_ = r.cmd.Wait() // how it ended is no matter, what it told is
}

// lines keeps what a program prints as an error.
type lines struct{ *running }

func (l lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noise = append(l.noise, string(p))
	return len(p), nil
}

func (r *running) all() []call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls[:len(r.calls):len(r.calls)]
}

// waitOK waits until n calls of any kind were answered with OK.
func (r *running) waitOK(n int) {
	r.t.Helper()
	rig.Eventually(r.t, fmt.Sprintf("%d calls are OK", n), func() (bool, string) {
		ok := 0
		for _, c := range r.all() {
			if c.ok {
				ok++
			}
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		return ok >= n, fmt.Sprintf("%d are, of %v, besides: %q", ok, r.calls, r.noise)
	})
}

// watch waits until the client has had an OK for a call sent after the fault,
// and a while longer, or until that will be never.
func (r *running) watch(began time.Time, while, never time.Duration) {
	end := time.After(never)
	found := false
	for tick := time.NewTicker(10 * time.Millisecond); ; {
		select {
		case <-r.ended:
			return
		case <-end:
			return
		case <-tick.C:
		}
		if !found && !judge(r.all(), nil, began).never {
			found, end = true, time.After(while)
		}
	}
}

// stop ends the client's input, and after a while the client, unless it ends.
func (r *running) stop(after time.Duration) {
	_ = r.input.Close() // it may have ended
	select {
	case <-r.ended:
	case <-time.After(after):
		_ = r.cmd.Cancel()
		<-r.ended
	}
}
