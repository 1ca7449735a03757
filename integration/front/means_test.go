package front

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/redlockd/redlockd/integration/rig"
)

// packaging has the files that are tried.
const packaging = "../../packaging"

// means leads clients to one of the redlockd: start returns the address.
type means struct {
	name  string
	start func(t *testing.T, c *cluster) string
}

var (
	haproxy = means{"HAProxy", func(t *testing.T, c *cluster) string {
		return startProxy(t, c, "haproxy/haproxy.cfg", "haproxy", "-db", "-f")
	}}
	envoy = means{"Envoy", func(t *testing.T, c *cluster) string {
		return startProxy(t, c, "envoy/envoy.yaml", envoyProgram(), "--concurrency", "1", "-l", "error", "--use-dynamic-base-id", "-c")
	}}
	list = means{"a list", func(_ *testing.T, c *cluster) string {
		var addrs []string
		for _, r := range c.redlockds {
			addrs = append(addrs, r.Addr)
		}
		return strings.Join(addrs, ",")
	}}
)

// envoyProgram is what .ci/deps has installed, or another one.
func envoyProgram() string {
	if path := os.Getenv("FRONT_ENVOY"); path != "" {
		return path
	}
	return "envoy"
}

// startProxy runs a proxy with a file of packaging, in which only the addresses
// are others, until the test ends.
func startProxy(t *testing.T, c *cluster, file string, argv ...string) string {
	t.Helper()
	addr := rig.FreeAddress(t)
	path := filepath.Join(t.TempDir(), filepath.Base(file))
	if err := os.WriteFile(path, []byte(withAddresses(t, c, file, addr, rig.FreeAddress(t))), 0o600); err != nil {
		t.Fatal(err)
	}
	startProgram(t, path+".log", append(append([]string{rig.Program(t, argv[0])}, argv[1:]...), path)...)
	return addr
}

// startProgram runs a program, which logs to a file, until the test ends or it is stopped before.
func startProgram(t *testing.T, path string, argv ...string) (stop func()) {
	t.Helper()
	log, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait() // it was killed
		_ = log.Close()
	})
	t.Cleanup(func() {
		stop()
		if text, _ := os.ReadFile(path); t.Failed() {
			t.Logf("what %s said:\n%s", argv, text)
		}
	})
	return stop
}

// withAddresses is a file of packaging with the addresses of a test in place of
// those that it shows; health is where HAProxy says whether a redlockd is ready.
func withAddresses(t *testing.T, c *cluster, file, addr, health string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(packaging, file))
	if err != nil {
		t.Fatal(err)
	}
	replace := []string{"127.0.0.1:8404", health, "127.0.0.1:6380", addr,
		"address: 127.0.0.1, port_value: 6380", inYAML(addr)}
	for i, r := range c.redlockds {
		host, admin := "10.0.0."+string(rune('5'+i)), port(r.Admin)
		replace = append(replace, host+":6380", r.Addr+" port "+admin,
			"address: "+host+", port_value: 6380", inYAML(r.Addr))
	}
	said := strings.NewReplacer(replace...).Replace(string(text))
	for _, r := range c.redlockds {
		said = strings.Replace(said, "port_value: 9736", "port_value: "+port(r.Admin), 1)
		if !strings.Contains(said, port(r.Addr)) || !strings.Contains(said, port(r.Admin)) {
			t.Fatalf("%s has no place for %s:\n%s", file, r.Addr, said)
		}
	}
	return said
}

func inYAML(addr string) string { return "address: 127.0.0.1, port_value: " + port(addr) }

func port(addr string) string {
	_, port, _ := net.SplitHostPort(addr)
	return port
}

// waitLeadsTo waits until a new connection is one to this redlockd.
func waitLeadsTo(t *testing.T, addr string, r *rig.Redlockd) {
	t.Helper()
	rig.Eventually(t, addr+" leads to "+r.Addr, func() (bool, string) {
		there := rig.Redlockd{Addr: addr}
		got := there.Info("tcp_port")
		return got == port(r.Addr), fmt.Sprintf("it leads to %q", got)
	})
}
