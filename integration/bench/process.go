package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// patience is how long a server may take to start or to stop.
const patience = time.Minute

// process is a server that the bench has started.
type process struct {
	// addr is where clients reach it, admin where redlockd tells its metrics.
	addr, admin string

	cmd    *exec.Cmd
	log    logBuffer
	exited chan struct{}
	// asks is for looking at a redis-server; nil for others.
	asks *redis.Client
}

// launch starts the command and gathers what it says.
func (r *rig) launch(name string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(name, args...), exited: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	p.cmd.SysProcAttr = childAttr()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is in its log
		close(p.exited)
	}()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.processes = append(r.processes, p)
	return p, nil
}

// redis starts a redis-server that keeps nothing on disk.
func (r *rig) redis(ctx context.Context) (*process, error) {
	var last error
	for range 10 { // somebody else may take the port first
		p, err := r.redisOnce(ctx)
		if err == nil {
			return p, nil
		}
		last = err
	}
	return nil, fmt.Errorf("redis-server: %w", last)
}

func (r *rig) redisOnce(ctx context.Context) (*process, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(r.dir, "redis")
	if err != nil {
		return nil, err
	}
	p, err := r.launch("redis-server", "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", dir,
		"--save", "", "--appendonly", "no", "--maxclients", "15000", "--logfile", filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	p.addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	p.asks = redis.NewClient(&redis.Options{Addr: p.addr, PoolSize: 1, MaxRetries: -1})
	own := fmt.Sprintf("process_id:%d\r", p.pid())
	return p, p.await(ctx, func() error {
		info, err := p.asks.Info(ctx, "server").Result()
		if err == nil && !strings.Contains(info, own) {
			err = errors.New("another server answers on its port")
		}
		return err
	})
}

// await waits until good returns nil, which a busy machine may delay.
func (p *process) await(ctx context.Context, good func() error) error {
	deadline := time.Now().Add(patience)
	for {
		err := good()
		if err == nil {
			return nil
		}
		select {
		case <-p.exited:
			return fmt.Errorf("it ended at once: %w\n%s", err, p.log.String())
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not within %v: %w\n%s", patience, err, p.log.String())
		}
	}
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// kill ends it at once, freeze stops it until it is killed.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.exited
}

func (p *process) freeze() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

// stop ends it in peace, or by force if it is frozen or slow.
func (p *process) stop() {
	if p.asks != nil {
		_ = p.asks.Close()
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(5 * time.Second):
		p.kill()
	}
}

// commands is how many commands a redis-server has carried out.
func (p *process) commands(ctx context.Context) (float64, error) {
	info, err := p.asks.Info(ctx, "stats").Result()
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(info, "total_commands_processed:")
	number, _, _ := strings.Cut(rest, "\r")
	return strconv.ParseFloat(number, 64)
}

func freePort() (int, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer ln.Close()
	return ln.Addr().(*net.TCPAddr).Port, nil
}

// logBuffer keeps what a process says.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
