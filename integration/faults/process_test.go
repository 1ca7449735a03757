package faults

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// process is one server that the bench starts, kills, freezes and thaws.
type process struct {
	tb     testing.TB
	log    string
	env    []string
	argv   []string
	mu     sync.Mutex
	cmd    *exec.Cmd
	exited chan struct{}
}

func (p *process) start() {
	log, err := os.OpenFile(p.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		p.tb.Errorf("the log of %s: %v", p.argv[0], err)
		return
	}
	defer log.Close()
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), p.env...)
	cmd.SysProcAttr = childAttr()
	if err := cmd.Start(); err != nil {
		p.tb.Errorf("starting %s: %v", p.argv[0], err)
		return
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait() // how it ended is looked at where it matters
		close(exited)
	}()
	p.mu.Lock()
	p.cmd, p.exited = cmd, exited
	p.mu.Unlock()
}

func (p *process) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.cmd.Process.Signal(s) // it may have ended, which shows elsewhere
}

func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.exited
}

func (p *process) running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// master is one redis-server.
type master struct {
	process
	name   string
	dir    string // what it puts on disk
	addr   string
	client *redis.Client
	aof    bool
	ahead  string // the file that holds how far its clock is ahead; or empty
}

const patience = 30 * time.Second

func newMaster(tb testing.TB, base, name string, aof bool, clock string) *master {
	m := &master{name: name, dir: filepath.Join(base, name), aof: aof}
	m.tb, m.log = tb, filepath.Join(base, "master-"+name+".log")
	port := freePort(tb)
	m.addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	if clock != "" {
		m.ahead = filepath.Join(base, "ahead-"+name)
		if err := os.WriteFile(m.ahead, make([]byte, 8), 0o600); err != nil {
			tb.Fatal(err)
		}
		m.env = []string{"LD_PRELOAD=" + clock, "CLOCK_AHEAD=" + m.ahead}
	}
	m.argv = []string{"redis-server", "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", m.dir,
		"--save", "", "--repl-diskless-sync-delay", "0", "--enable-debug-command", "yes"}
	if aof {
		m.argv = append(m.argv, "--appendonly", "yes", "--appendfsync", "always")
	}
	m.client = redis.NewClient(&redis.Options{Addr: m.addr, MaxRetries: -1, DisableIdentity: true,
		ReadTimeout: 5 * time.Second})
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	m.start()
	m.waitUp()
	tb.Cleanup(func() { m.client.Close(); m.kill() })
	return m
}

func (m *master) waitUp() {
	want := fmt.Sprintf("process_id:%d\r", m.cmd.Process.Pid)
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		info, err := m.client.Info(context.Background(), "server").Result()
		if err == nil && contains(info, want) {
			return
		}
		if !m.running() {
			m.start() // the old one's port may be a moment in coming free
			want = fmt.Sprintf("process_id:%d\r", m.cmd.Process.Pid)
		}
	}
	m.tb.Errorf("master %s does not come up", m.name)
}

// wipe removes what a dead master has on its disk.
func (m *master) wipe() {
	_ = os.RemoveAll(m.dir)
	_ = os.MkdirAll(m.dir, 0o700)
}

// setAhead moves its wall clock.
func (m *master) setAhead(d time.Duration) {
	f, err := os.OpenFile(m.ahead, os.O_WRONLY, 0)
	if err != nil {
		m.tb.Errorf("clock of %s: %v", m.name, err)
		return
	}
	defer f.Close()
	_, _ = f.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(d.Microseconds())), 0)
}

func (m *master) do(args ...any) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := m.client.Do(ctx, args...).Err(); err != nil && err != redis.Nil {
		m.tb.Logf("master %s: %v: %v", m.name, args, err)
	}
}

// clockLibrary builds the clock of testdata/clock.c, or returns "" where there is no
// compiler; then no clock steps.
func clockLibrary(tb testing.TB, base string) string {
	out := filepath.Join(base, "clock.so")
	if text, err := exec.Command("cc", "-shared", "-fPIC", "-O1", "-o", out, "testdata/clock.c").CombinedOutput(); err != nil {
		tb.Logf("no clock steps: %v %s", err, text)
		return ""
	}
	return out
}

var usedPorts sync.Map

// freePort is one that nobody listens on, below those of outgoing connections.
func freePort(tb testing.TB) int {
	for range 1000 {
		port := 10000 + rand.IntN(20000)
		ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		ln.Close()
		if _, used := usedPorts.LoadOrStore(port, true); !used {
			return port
		}
	}
	tb.Fatal("no free port in 1000 tries")
	return 0
}
