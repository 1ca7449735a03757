package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// running is a redlockd in this process, from its start until the test ends.
type running struct {
	out *syncBuffer
	// stop ends it and returns its error; only the first call does.
	stop func() error
}

// start runs redlockd with the file and waits until it is ready. At the end of the test
// it is stopped, and must return no error.
func start(t *testing.T, file string) *running {
	t.Helper()
	ready, ended := make(chan struct{}), make(chan error, 1)
	r := &running{out: &syncBuffer{wanted: "ready:", found: func() { close(ready) }}}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { ended <- run(ctx, []string{"-config", file}, &bytes.Buffer{}, r.out) }()
	r.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Errorf("ended with %v", err)
		}
		if t.Failed() {
			t.Log(r.out.String())
		}
	})
	select {
	case <-ready:
	case err := <-ended:
		ended <- err
		t.Fatalf("did not start: %v", err)
	case <-time.After(20 * time.Second):
		t.Fatal("is not ready")
	}
	return r
}

// address returns the address in its log line that it serves.
func (r *running) address(t *testing.T, line string) string {
	t.Helper()
	found := regexp.MustCompile(line + `: address=(\S+)`).FindStringSubmatch(r.out.String())
	if found == nil {
		t.Fatalf("no line %q:\n%s", line, r.out.String())
	}
	return found[1]
}

// says waits until it has logged the text.
func (r *running) says(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !strings.Contains(r.out.String(), text); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("does not say %q", text)
		}
	}
}

// startMaster starts a redis-server, or the program in REDIS_SERVER, with these arguments
// and a port, which option sets, and waits until it listens there.
func startMaster(t *testing.T, option string, args ...string) string {
	t.Helper()
	program := cmp.Or(os.Getenv("REDIS_SERVER"), "redis-server")
	if _, err := exec.LookPath(program); err != nil {
		t.Skip("no redis-server here: ", err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := ln.Addr().String()
	ln.Close()
	_, port, _ := net.SplitHostPort(address)
	args = append([]string{option, port, "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir()}, args...)
	var out bytes.Buffer
	server := exec.Command(program, args...)
	server.Stdout, server.Stderr = &out, &out
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = server.Wait() }()
	t.Cleanup(func() { _ = server.Process.Kill(); <-ended })
	for {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return address
		}
		select {
		case <-ended:
			if strings.Contains(out.String(), "tls") {
				t.Skip("this redis-server knows no TLS: ", out.String())
			}
			t.Fatal("redis-server: ", out.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// ask sends one inline command and returns the first line of the answer.
func ask(c net.Conn, command string) (string, error) {
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := fmt.Fprint(c, command+"\r\n"); err != nil {
		return "", err
	}
	buf := make([]byte, 512)
	n, err := c.Read(buf)
	first, _, _ := strings.Cut(string(buf[:n]), "\r\n")
	return first, err
}
