package front

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redlockd/redlockd/integration/rig"
)

// The bridge between two hosts, which are network namespaces: this machine's address there, and
// the one that moves.
const (
	bridge  = "rlfront"
	outside = "10.213.0.1"
	moving  = "10.213.0.100"
)

// TestKeepalived: with the files of packaging/haproxy on two hosts the address moves when HAProxy
// ends, when it reaches no redlockd, and when its host is lost, and does not go back when that is
// over. The lock that a client holds stays its own.
func TestKeepalived(t *testing.T) {
	needsFront(t)
	if os.Geteuid() != 0 {
		t.Skip("SKIP keepalived: network namespaces need root")
	}
	run(t, "ip", "link", "add", bridge, "type", "bridge")
	t.Cleanup(func() { run(t, "ip", "link", "del", bridge) })
	run(t, "ip", "addr", "add", outside+"/24", "dev", bridge)
	run(t, "ip", "link", "set", bridge, "up")
	c := seenFrom(t, outside, startCluster(t))
	a := newHost(t, c, "a", "10.213.0.11", 100)
	a.waitHas(t)
	b := newHost(t, c, "b", "10.213.0.12", 90)
	client := redis.NewClient(&redis.Options{Addr: moving + ":6380", MaxRetries: -1,
		DialTimeout: 300 * time.Millisecond, ReadTimeout: 300 * time.Millisecond})
	t.Cleanup(func() { _ = client.Close() })
	ctx := context.Background()
	for _, f := range []struct {
		name       string
		from, to   *host
		begin, end func(*host)
	}{
		{"HAProxy ends", a, b, func(h *host) { h.stopProxy() }, func(h *host) { h.startProxy() }},
		{"no redlockd can be reached", b, a, func(h *host) { h.run("ip", "route", "add", "blackhole", outside) },
			func(h *host) { h.run("ip", "route", "del", "blackhole", outside) }},
		{"the host is lost", a, b, func(h *host) { run(t, "ip", "link", "set", h.name, "down") },
			func(h *host) { run(t, "ip", "link", "set", h.name, "up") }},
	} {
		t.Run(f.name, func(t *testing.T) {
			rig.Eventually(t, "a lock is taken", func() (bool, string) {
				got, err := client.SetNX(ctx, f.name, "t", time.Minute).Result()
				return got, fmt.Sprint(err)
			})
			began := time.Now()
			f.begin(f.from)
			for {
				n, err := client.Eval(ctx, rig.ExtendScript, []string{f.name}, "t", 60_000).Int()
				if err == nil && n != 1 {
					t.Errorf("the lock is not the client's any more: %d", n)
				}
				if gone := time.Since(began); gone > never {
					t.Fatalf("no OK for %v: %v", gone, err)
				} else if err == nil {
					t.Logf("%v without an OK", gone.Round(10*time.Millisecond))
					break
				}
			}
			f.to.waitHas(t)
			f.end(f.from)
			// The host with the greater priority would take it after two checks and three intervals.
			for began := time.Now(); f.from == a && time.Since(began) < 8*time.Second; {
				if f.from.has() {
					t.Fatal("the address went back")
				}
			}
		})
	}
}

// seenFrom is a cluster as it is seen from a network in which this machine has the address ip.
func seenFrom(t *testing.T, ip string, c *cluster) *cluster {
	there := &cluster{}
	for _, r := range c.redlockds {
		there.redlockds = append(there.redlockds, &rig.Redlockd{Addr: rig.NewMoverAt(t, ip, r.Addr).Addr, Admin: rig.NewMoverAt(t, ip, r.Admin).Addr})
	}
	return there
}

// host is a network namespace with HAProxy and keepalived, which ends with the test.
type host struct {
	t         *testing.T
	name      string
	dir       string
	stopProxy func()
}

func newHost(t *testing.T, c *cluster, name, ip string, priority int) *host {
	h := &host{t: t, name: bridge + "-" + name, dir: t.TempDir()}
	run(t, "ip", "netns", "add", h.name)
	t.Cleanup(func() { run(t, "ip", "netns", "del", h.name) })
	run(t, "ip", "link", "add", h.name, "type", "veth", "peer", "name", "eth0", "netns", h.name)
	t.Cleanup(func() { run(t, "ip", "link", "del", h.name) }) // with the namespace it would go some time later
	run(t, "ip", "link", "set", h.name, "master", bridge, "up")
	h.run("ip", "link", "set", "lo", "up")
	h.run("ip", "addr", "add", ip+"/24", "dev", "eth0")
	h.run("ip", "link", "set", "eth0", "up")
	h.run("sysctl", "-q", "net.ipv4.ip_nonlocal_bind=1")
	const health = "127.0.0.1:8404"
	h.write("haproxy.cfg", withAddresses(t, c, "haproxy/haproxy.cfg", moving+":6380", health))
	h.startProxy()
	text, err := os.ReadFile(filepath.Join(packaging, "haproxy/keepalived.conf"))
	if err != nil {
		t.Fatal(err)
	}
	h.write("keepalived.conf", strings.NewReplacer("10.0.0.100", moving, "priority          100", "priority "+strconv.Itoa(priority)).Replace(string(text)))
	h.start("keepalived", "-n", "-l", "-p", filepath.Join(h.dir, "pid"), "-r", filepath.Join(h.dir, "vrrp.pid"), "-f", filepath.Join(h.dir, "keepalived.conf"))
	return h
}

func (h *host) startProxy() {
	h.stopProxy = h.start("haproxy", "-db", "-f", filepath.Join(h.dir, "haproxy.cfg"))
}

// start runs a program on the host.
func (h *host) start(program string, args ...string) (stop func()) {
	argv := append([]string{rig.Program(h.t, "ip"), "netns", "exec", h.name, rig.Program(h.t, program)}, args...)
	return startProgram(h.t, filepath.Join(h.dir, program+".log"), argv...)
}

func (h *host) write(name, text string) {
	if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *host) run(argv ...string) {
	run(h.t, append([]string{"ip", "netns", "exec", h.name}, argv...)...)
}

// has reports whether the host has the address that moves.
func (h *host) has() bool {
	said, _ := exec.Command("ip", "netns", "exec", h.name, "ip", "-4", "addr", "show", "dev", "eth0").Output()
	return strings.Contains(string(said), moving+"/")
}

func (h *host) waitHas(t *testing.T) {
	t.Helper()
	rig.Eventually(t, h.name+" has the address", func() (bool, string) { return h.has(), "" })
}

func run(t *testing.T, argv ...string) {
	t.Helper()
	if said, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", argv, err, said)
	}
}
