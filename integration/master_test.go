package integration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Master is one redis-server of a test.
type Master struct {
	// Addr is its own address; redlockd may know it by that of a Link.
	Addr string
	// Client talks to it directly, without retries.
	Client *redis.Client

	tb      testing.TB
	dir     string
	args    []string
	port    int
	cmd     *exec.Cmd
	exited  chan struct{}
	stopped bool // by Freeze
}

// StartMaster starts a redis-server that keeps nothing on disk, unless args
// say otherwise, on a port of its own.
func StartMaster(tb testing.TB, args ...string) *Master {
	tb.Helper()
	m := &Master{tb: tb, dir: tb.TempDir(), args: args}
	var last error
	for range 20 {
		m.port = freePort(tb)
		if last = m.start(); last == nil {
			break
		}
	}
	if last != nil {
		tb.Fatalf("redis-server did not start: %v", last)
	}
	tb.Cleanup(m.stop)
	return m
}

// StartMasters starts n of them at the same time.
func StartMasters(tb testing.TB, n int) []*Master {
	tb.Helper()
	program(tb, "redis-server")
	masters := make([]*Master, n)
	var wg sync.WaitGroup
	for i := range masters {
		wg.Go(func() { masters[i] = StartMaster(tb) })
	}
	wg.Wait()
	for _, m := range masters {
		if m == nil {
			tb.FailNow()
		}
	}
	return masters
}

// start runs redis-server on m.port and waits until this very process
// answers there. The error says why it does not.
func (m *Master) start() error {
	log := filepath.Join(m.dir, "redis.log")
	args := append([]string{
		"--port", strconv.Itoa(m.port), "--bind", "127.0.0.1", "--dir", m.dir,
		"--save", "", "--appendonly", "no", "--logfile", log,
	}, m.args...)
	cmd := exec.Command(program(m.tb, "redis-server"), args...)
	cmd.SysProcAttr = childAttr()
	if err := cmd.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait() // how it ended is in its log
		close(exited)
	}()
	m.cmd, m.exited, m.stopped = cmd, exited, false
	m.Addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(m.port))
	if m.Client == nil || m.Client.Options().Addr != m.Addr {
		m.Client = direct(m.Addr, m.password())
	}
	if err := m.waitUp(); err != nil {
		_ = cmd.Process.Kill()
		<-exited
		text, _ := os.ReadFile(log)
		return fmt.Errorf("%w; its log:\n%s", err, text)
	}
	return nil
}

func (m *Master) waitUp() error {
	deadline := time.Now().Add(patience)
	want := fmt.Sprintf("process_id:%d\r", m.cmd.Process.Pid)
	for {
		info, err := m.Client.Info(context.Background(), "server").Result()
		if err == nil && strings.Contains(info, want) {
			return nil
		}
		select {
		case <-m.exited:
			return fmt.Errorf("it ended at once")
		case <-time.After(5 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("nothing answers on port %d: %v", m.port, err)
		}
	}
}

// password is what the arguments require of clients.
func (m *Master) password() string {
	for i, a := range m.args {
		if a == "--requirepass" {
			return m.args[i+1]
		}
	}
	return ""
}

// Kill ends the process as a power cut would.
func (m *Master) Kill() {
	_ = m.cmd.Process.Kill()
	<-m.exited
}

// Freeze stops the process where it stands; its sockets stay open.
func (m *Master) Freeze() {
	m.tb.Helper()
	if err := m.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		m.tb.Fatalf("freezing %s: %v", m.Addr, err)
	}
	m.stopped = true
}

// Thaw lets a frozen process go on.
func (m *Master) Thaw() {
	m.tb.Helper()
	if err := m.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		m.tb.Fatalf("thawing %s: %v", m.Addr, err)
	}
	m.stopped = false
}

// RestartEmpty kills the process, unless it is dead already, and starts
// another one at the same address with nothing in it.
func (m *Master) RestartEmpty() {
	m.tb.Helper()
	m.Kill()
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		m.tb.Fatal(err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(m.dir, e.Name())); err != nil {
			m.tb.Fatal(err)
		}
	}
	m.restart()
}

// Restart is RestartEmpty that leaves what the process has put on its disk.
func (m *Master) Restart() {
	m.tb.Helper()
	m.Kill()
	m.restart()
}

func (m *Master) restart() {
	m.tb.Helper()
	// The old process's port may be a moment in coming free.
	eventually(m.tb, "restarting "+m.Addr, func() (bool, string) {
		if err := m.start(); err != nil {
			return false, err.Error()
		}
		return true, ""
	})
}

func (m *Master) stop() {
	_ = m.Client.Close()
	m.Kill()
}

// Holds is whether the master has the key, in database 0; the token counts if
// it is not empty.
func (m *Master) Holds(key, token string) bool {
	m.tb.Helper()
	got, err := m.Client.Get(context.Background(), key).Result()
	switch {
	case err == redis.Nil:
		return false
	case err != nil:
		m.tb.Errorf("GET %s at the master %s: %v", key, m.Addr, err)
		return false
	}
	return token == "" || got == token
}

// direct returns a client that tries everything once and is patient.
func direct(addr, password string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: addr, Password: password, MaxRetries: -1,
		ReadTimeout: patience, WriteTimeout: patience, PoolTimeout: patience,
		DisableIdentity: true,
	})
}

var ports struct {
	sync.Mutex
	used map[int]bool
}

// freePort returns a port that nobody listens on, and that this run has not
// used before. It lies below the ports that systems give to outgoing
// connections: one of those could take a dead master's port, or connect to
// itself. Somebody else may still take it first; so starting is tried again.
func freePort(tb testing.TB) int {
	tb.Helper()
	ports.Lock()
	defer ports.Unlock()
	if ports.used == nil {
		ports.used = map[int]bool{}
	}
	for range 1000 {
		port := 10000 + rand.IntN(20000)
		if ports.used[port] {
			continue
		}
		ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		ln.Close()
		ports.used[port] = true
		return port
	}
	tb.Fatal("no free port in 1000 tries")
	return 0
}
