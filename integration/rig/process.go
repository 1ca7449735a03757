package rig

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
)

// process is a server that can be started, killed, frozen and thawed, over
// and over. Safe for concurrent use, but for starting.
type process struct {
	tb   TB
	argv []string
	env  []string
	// log is the file of all that it has ever written; began is how long that
	// was when the process of now was started.
	log   string
	began int

	mu     sync.Mutex
	cmd    *exec.Cmd
	exited chan struct{}
	killed bool // by Kill
}

func newProcess(tb TB, dir string, argv ...string) *process {
	return &process{tb: tb, argv: argv, log: filepath.Join(dir, filepath.Base(argv[0])+".log")}
}

func (p *process) start() error {
	log, err := os.OpenFile(p.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	if info, err := log.Stat(); err == nil {
		p.began = int(info.Size())
	}
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), p.env...)
	cmd.SysProcAttr = childAttr()
	if err := cmd.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait() // how it ended is asked of its state and its log
		close(exited)
	}()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cmd, p.exited, p.killed = cmd, exited, false
	return nil
}

func (p *process) now() (*exec.Cmd, chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd, p.exited
}

// Kill ends the process as a power cut would, and returns when it has ended.
func (p *process) Kill() {
	p.mu.Lock()
	cmd, exited := p.cmd, p.exited
	p.killed = true
	p.mu.Unlock()
	_ = cmd.Process.Kill() // it may have ended already
	<-exited
}

// Freeze stops the process where it stands; its sockets stay open.
func (p *process) Freeze() { p.signal(syscall.SIGSTOP) }

// Thaw lets a frozen process go on.
func (p *process) Thaw() { p.signal(syscall.SIGCONT) }

func (p *process) signal(s syscall.Signal) {
	p.tb.Helper()
	cmd, _ := p.now()
	if err := cmd.Process.Signal(s); err != nil {
		p.tb.Fatalf("%v to %s: %v", s, p.argv[0], err)
	}
}

// Running reports whether the process lives, if only frozen.
func (p *process) Running() bool {
	_, exited := p.now()
	select {
	case <-exited:
		return false
	default:
		return true
	}
}

func (p *process) wasKilled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killed
}

// Pid is that of the process of now.
func (p *process) Pid() int {
	cmd, _ := p.now()
	return cmd.Process.Pid
}

// Log is what the process of now has written.
func (p *process) Log() string {
	text, _ := os.ReadFile(p.log)
	return string(text[min(p.began, len(text)):])
}

// tail is the end of the log, which is what a failure is about.
func (p *process) tail() string {
	text := p.Log()
	return text[max(0, len(text)-16<<10):]
}
