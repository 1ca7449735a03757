package main

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// patience is how long a server may take to start or to stop.
const patience = 30 * time.Second

// password is that of the servers that ask for one.
const password = "the-password-of-the-bench"

// target is a server to run programs against. Elsewhere is another one with the same
// locks, or the same where there is only one.
type target struct {
	name string
	*server
	elsewhere *server
}

var targetNames = []string{"one redis", "all well", "two dead"}

// rig is all servers of a run. Two clusters, because a master that is killed
// and started again may not vote for minutes.
type rig struct {
	dir        string
	plain      *server
	scratch    *server    // for learning what scripts mean
	redlockds  [2]*server // all well, two dead
	lenient    [2]*server // the same masters, with no_expiry = "max_ttl", which shall be minutes
	closed     [2]*server // the same masters, with a password
	plainLogin *server    // as plain, with a password
	everything []*server
}

// server is a process that listens.
type server struct {
	addr string
	cmd  *exec.Cmd
	log  string
}

func startRig(ctx context.Context, opts options) (*rig, error) {
	dir, err := os.MkdirTemp("", "clients")
	if err != nil {
		return nil, err
	}
	r := &rig{dir: dir}
	if err := r.start(ctx, opts); err != nil {
		r.stop()
		return nil, err
	}
	return r, nil
}

func (r *rig) start(ctx context.Context, opts options) (err error) {
	binary := opts.binary
	if binary == "" {
		binary = filepath.Join(r.dir, "redlockd")
		build := exec.CommandContext(ctx, "go", "build", "-o", binary, ".")
		build.Dir = opts.root
		if said, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("building redlockd: %w\n%s", err, said)
		}
	}
	if r.plain, err = r.redis(); err != nil {
		return err
	}
	if r.scratch, err = r.redis(); err != nil {
		return err
	}
	if r.plainLogin, err = r.redis("--requirepass", password); err != nil {
		return err
	}
	for i := range r.redlockds {
		var masters []*server
		for range 5 {
			m, err := r.master()
			if err != nil {
				return err
			}
			masters = append(masters, m)
		}
		if err := r.cluster(ctx, i, binary, masters, opts.timeout); err != nil {
			return err
		}
		if i == 1 {
			for _, m := range masters[3:] {
				_ = m.cmd.Process.Kill()
			}
		}
	}
	return nil
}

// cluster makes a new cluster of the masters and starts three redlockd over
// it.
func (r *rig) cluster(ctx context.Context, i int, binary string, masters []*server, timeout time.Duration) error {
	for n, kind := range []struct {
		which  *[2]*server
		listen string
		quorum string
	}{
		{&r.redlockds, "", ""},
		{&r.lenient, "", "  no_expiry = \"max_ttl\"\n  max_ttl = \"5m\"\n"},
		{&r.closed, "  password = \"" + password + "\"\n", ""},
	} {
		config, err := r.config(masters, kind.listen, kind.quorum, timeout)
		if err != nil {
			return err
		}
		if n == 0 {
			if said, err := exec.CommandContext(ctx, binary, "-bootstrap", "-config", config).CombinedOutput(); err != nil {
				return fmt.Errorf("redlockd -bootstrap: %w\n%s", err, said)
			}
		}
		s, err := r.redlockd(binary, config)
		if err != nil {
			return err
		}
		kind.which[i] = s
		if err := s.waitServing(); err != nil {
			return err
		}
	}
	return nil
}

// targets are where a program runs, in the order of targetNames.
func (r *rig) targets(p Program) []target {
	plain, d, other := r.plain, r.redlockds, r.lenient
	switch {
	case p.Login:
		plain, d, other = r.plainLogin, r.closed, r.closed
	case p.Max:
		d, other = r.lenient, r.redlockds
	}
	return []target{{targetNames[0], plain, plain}, {targetNames[1], d[0], other[0]}, {targetNames[2], d[1], other[1]}}
}

// config writes a config.hcl. The timeout is longer than the default, because
// the bench shares its machine with compilers and virtual machines.
func (r *rig) config(masters []*server, listen, quorum string, timeout time.Duration) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "listen {\n  address = \"127.0.0.1:%d\"\n%s}\n", freePort(), listen)
	fmt.Fprintf(&b, "quorum {\n  timeout = %q\n%s}\n", timeout, quorum)
	for i, m := range masters {
		fmt.Fprintf(&b, "master %q {\n  address = %q\n}\n", string(rune('a'+i)), m.addr)
	}
	f, err := os.CreateTemp(r.dir, "*.hcl")
	if err != nil {
		return "", err
	}
	defer f.Close()
	_, err = f.WriteString(b.String())
	return f.Name(), err
}

// waitAnswer waits until something answers PING.
func (s *server) waitAnswer() error {
	return s.wait("PING", func(line string) bool { return line == "+PONG" || strings.HasPrefix(line, "-NOAUTH") })
}

// waitServing waits until a redlockd takes a lock, of the greatest TTL: the
// masters' marks tell the greatest hold, and the first one writes it.
func (s *server) waitServing() error {
	return s.wait("SET clients:probe probe PX 300000", func(line string) bool { return line == "+OK" })
}

func (s *server) wait(inline string, good func(string) bool) error {
	deadline := time.Now().Add(patience)
	for {
		line, err := ask(s.addr, inline)
		if err == nil && good(line) {
			return nil
		}
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(s.log)
			return fmt.Errorf("%s at %s: %q, %v; its log:\n%s", inline, s.addr, line, err, text)
		}
		time.Sleep(20 * time.Millisecond) // a server that starts can only be asked again
	}
}

// ask logs in, which where there is no password is an error that matters to
// nobody, sends one inline command and returns the first line of its reply.
func ask(addr, inline string) (string, error) {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return "", err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := fmt.Fprintf(c, "AUTH %s\r\n%s\r\n", password, inline); err != nil {
		return "", err
	}
	in := bufio.NewReader(c)
	if _, err := in.ReadString('\n'); err != nil {
		return "", err
	}
	line, err := in.ReadString('\n')
	return strings.TrimRight(line, "\r\n"), err
}

// stop ends every process the rig started, and removes its files.
func (r *rig) stop() {
	for i := len(r.everything) - 1; i >= 0; i-- {
		cmd := r.everything[i].cmd
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		timer.Stop()
	}
	_ = os.RemoveAll(r.dir)
}

var usedPorts = map[int]bool{}

// freePort is a port below those that systems give to outgoing connections.
func freePort() int {
	for {
		port := 21000 + rand.IntN(9000)
		ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil || usedPorts[port] {
			continue
		}
		ln.Close()
		usedPorts[port] = true
		return port
	}
}
