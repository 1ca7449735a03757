package rig

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// Master is one server of a test that keeps keys.
type Master struct {
	// Addr is its own address; redlockd may know it by that of a Link.
	Addr string
	// Client talks to it directly, without retries.
	Client *redis.Client
	// Dir is what it puts on its disk.
	Dir string

	*process
}

// StartMaster starts a server, redis-server or the one that REDIS_SERVER names,
// that keeps nothing on disk, unless args say otherwise, on a port of its own.
func StartMaster(tb TB, args ...string) *Master {
	tb.Helper()
	return StartMasterIn(tb, nil, args...)
}

// StartMasterIn is StartMaster with more environment.
func StartMasterIn(tb TB, env []string, args ...string) *Master {
	tb.Helper()
	return start(tb, cmp.Or(os.Getenv("REDIS_SERVER"), redisServer), env, args)
}

// StartRedis starts the one Redis that redlockd's replies are compared with:
// always redis-server, because another server has words of its own.
func StartRedis(tb TB, args ...string) *Master {
	tb.Helper()
	return start(tb, redisServer, nil, args)
}

const redisServer = "redis-server"

func start(tb TB, program string, env, args []string) *Master {
	tb.Helper()
	base := tb.TempDir()
	m := &Master{Dir: filepath.Join(base, "disk"), process: newProcess(tb, base, Program(tb, program))}
	m.env = env
	// Writing to a full disk is an error and not the end (FullDisk). What is
	// ignored here, a child ignores.
	signal.Ignore(syscall.SIGXFSZ)
	var last error
	for range 20 {
		m.Addr = FreeAddress(tb)
		_, port, _ := net.SplitHostPort(m.Addr)
		m.argv = append([]string{m.argv[0], "--port", port, "--bind", "127.0.0.1", "--dir", m.Dir,
			"--save", "", "--appendonly", "no", "--repl-diskless-sync-delay", "0"}, args...)
		m.Client = Direct(m.Addr, password(args))
		if last = m.start(); last == nil {
			break
		}
		m.Client.Close()
	}
	if last != nil {
		tb.Fatalf("%s did not start: %v", program, last)
	}
	tb.Cleanup(func() {
		_ = m.Client.Close()
		m.Kill()
	})
	return m
}

// StartMasters starts n of them at the same time.
func StartMasters(tb TB, n int) []*Master {
	tb.Helper()
	masters := make([]*Master, n)
	var wg sync.WaitGroup
	for i := range masters {
		wg.Go(func() { masters[i] = StartMaster(tb) })
	}
	wg.Wait()
	for _, m := range masters {
		if m == nil {
			tb.Fatalf("not all masters started")
		}
	}
	return masters
}

// password is what the arguments require of clients.
func password(args []string) string {
	for i, a := range args {
		if a == "--requirepass" {
			return args[i+1]
		}
	}
	return ""
}

// start runs the server and waits until this very process answers. The
// error says why it does not.
func (m *Master) start() error {
	if err := os.MkdirAll(m.Dir, 0o700); err != nil {
		return err
	}
	if err := m.process.start(); err != nil {
		return err
	}
	if err := m.waitUp(); err != nil {
		m.Kill()
		return fmt.Errorf("%w; its log:\n%s", err, m.tail())
	}
	return nil
}

func (m *Master) waitUp() error {
	deadline := time.Now().Add(Patience)
	want := fmt.Sprintf("process_id:%d\r", m.Pid())
	for {
		info, err := m.Client.Info(context.Background(), "server").Result()
		switch {
		case err == nil && strings.Contains(info, want):
			return nil
		case !m.Running():
			return fmt.Errorf("it ended at once")
		case time.Now().After(deadline):
			return fmt.Errorf("nothing answers at %s: %v", m.Addr, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// RestartEmpty kills the process, unless it is dead already, and starts
// another one at the same address with nothing in it.
func (m *Master) RestartEmpty() {
	m.tb.Helper()
	m.Kill()
	if err := os.RemoveAll(m.Dir); err != nil {
		m.tb.Fatalf("%v", err)
	}
	m.Restart()
}

// Restart is RestartEmpty that leaves what the process has put on its disk.
func (m *Master) Restart() {
	m.tb.Helper()
	m.Kill()
	// The old process's port may be a moment in coming free.
	Eventually(m.tb, "restarting "+m.Addr, func() (bool, string) {
		err := m.start()
		return err == nil, fmt.Sprint(err)
	})
}

// CopyDisk keeps what is on the disk now for RestoreDisk.
func (m *Master) CopyDisk() {
	m.tb.Helper()
	_ = os.RemoveAll(m.diskCopy())
	if err := os.CopyFS(m.diskCopy(), os.DirFS(m.Dir)); err != nil {
		m.tb.Errorf("copying the disk of %s: %v", m.Addr, err)
	}
}

// RestoreDisk puts back what CopyDisk kept. The process must have been killed.
func (m *Master) RestoreDisk() {
	m.tb.Helper()
	if err := errors.Join(os.RemoveAll(m.Dir), os.Rename(m.diskCopy(), m.Dir)); err != nil {
		m.tb.Errorf("restoring the disk of %s: %v", m.Addr, err)
	}
}

func (m *Master) diskCopy() string { return m.Dir + ".old" }

// FailOver makes the master a copy of another and promotes it, as an operator
// does behind one address: the process and its run_id stay, the keys are the
// other's.
func (m *Master) FailOver(from *Master) {
	m.tb.Helper()
	ctx := context.Background()
	host, port, _ := net.SplitHostPort(from.Addr)
	if err := m.Client.ReplicaOf(ctx, host, port).Err(); err != nil {
		m.tb.Fatalf("REPLICAOF at %s: %v", m.Addr, err)
	}
	Eventually(m.tb, "the replica has copied", func() (bool, string) {
		info, err := m.Client.Info(ctx, "replication").Result()
		return strings.Contains(info, "master_link_status:up"), fmt.Sprint(info, err)
	})
	if err := m.Client.ReplicaOf(ctx, "NO", "ONE").Err(); err != nil {
		m.tb.Fatalf("REPLICAOF NO ONE at %s: %v", m.Addr, err)
	}
}

// Direct returns a client of an address that tries everything once and waits
// long: an answer that does not come is a failure.
func Direct(addr, password string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: addr, Password: password, MaxRetries: -1,
		ReadTimeout: Patience, WriteTimeout: Patience, PoolTimeout: Patience,
		DisableIdentity: true,
	})
}
