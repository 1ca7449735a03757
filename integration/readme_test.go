package integration

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// TestReadmeWalk does what the README says under "Over five real masters", with its own commands
// and config.hcl; only the ports are others. It begins anew at the end, so that a lock that was
// held is free.
func TestReadmeWalk(t *testing.T) {
	w := readReadme(t)
	w.begin(t)
	ctx := context.Background()
	lock := rig.Direct(w.clients, "")
	defer lock.Close()
	if ok, err := lock.SetNX(ctx, "job", "me", time.Minute).Result(); err != nil || !ok {
		t.Fatalf("a lock: %v, %v", ok, err)
	}
	w.end(t)
	w.sh(t, w.stop)
	// Started again without -bootstrap, they would not vote for 24 hours.
	w.begin(t)
	if ok, err := lock.SetNX(ctx, "job", "another", time.Minute).Result(); err != nil || !ok {
		t.Errorf("the lock after the new beginning: %v, %v", ok, err)
	}
	w.end(t)
}

// walk is the README's commands, one block to start the masters and one to stop them.
type walk struct {
	start, stop, serve, clients string
	ports                       []string // of the masters
	redlockd                    *exec.Cmd
	dir                         string
}

func readReadme(t *testing.T) *walk {
	t.Helper()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile("../config.hcl")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## Over five real masters\n")
	section, _, _ = strings.Cut(section, "\n## ")
	w := &walk{dir: t.TempDir(), clients: rig.FreeAddress(t)}
	file := filepath.Join(w.dir, "config.hcl")
	moves := []string{"bin/redlockd", rig.Binary(t), "config.hcl", file,
		"127.0.0.1:6380", w.clients, "127.0.0.1:9736", "127.0.0.1:0"}
	for _, port := range []string{"7001", "7002", "7003", "7004", "7005"} {
		_, free, _ := net.SplitHostPort(rig.FreeAddress(t))
		moves, w.ports = append(moves, port, free), append(w.ports, free)
	}
	// make build takes longer than the servers need to start, so what stands in for it waits for them.
	moves = append(moves, "make build\n", "for port in "+strings.Join(w.ports, " ")+"; do\n  until redis-cli -p $port ping; do sleep 0.01; done\ndone\n")
	elsewhere := strings.NewReplacer(moves...)
	if err := os.WriteFile(file, []byte(elsewhere.Replace(string(config))), 0o600); err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```\n(.*?)\n```").FindAllStringSubmatch(section, -1)
	if len(blocks) != 2 {
		t.Fatalf("the README has %d blocks of commands, want one to start and one to stop", len(blocks))
	}
	w.start, w.stop = elsewhere.Replace(blocks[0][1]), elsewhere.Replace(blocks[1][1])
	last := strings.LastIndex(w.start, "\n")
	w.start, w.serve = w.start[:last], w.start[last+1:]
	t.Cleanup(func() {
		if w.redlockd != nil {
			_ = w.redlockd.Process.Kill()
			_ = w.redlockd.Wait()
		}
		for _, port := range w.ports {
			_ = exec.Command("redis-cli", "-p", port, "shutdown", "nosave").Run() // it may be stopped already
		}
	})
	return w
}

// sh carries out commands, all of which must succeed.
func (w *walk) sh(t *testing.T, commands string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	run := exec.CommandContext(ctx, "sh", "-ec", commands)
	run.Dir = w.dir
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, commands, out)
	}
}

// begin starts all servers and waits until redlockd is ready.
func (w *walk) begin(t *testing.T) {
	t.Helper()
	w.sh(t, w.start)
	log, err := os.Create(filepath.Join(w.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	w.redlockd = exec.Command("sh", "-c", "exec "+w.serve)
	w.redlockd.Stderr = log
	if err := w.redlockd.Start(); err != nil {
		t.Fatal(err)
	}
	rig.Eventually(t, "redlockd is ready", func() (bool, string) {
		text, err := os.ReadFile(log.Name())
		return err == nil && bytes.Contains(text, []byte("redlockd: ready: ")), string(text)
	})
}

// end is Ctrl-C.
func (w *walk) end(t *testing.T) {
	t.Helper()
	_ = w.redlockd.Process.Signal(syscall.SIGINT)
	if err := w.redlockd.Wait(); err != nil {
		t.Errorf("redlockd ended with %v", err)
	}
	w.redlockd = nil
}
