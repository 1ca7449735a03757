package integration

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/redlockd/redlockd/integration/rig"
)

// TestUnixSocket: clients connect over it, CLIENT LIST shows them as Redis does, a kill leaves
// nothing behind that keeps the next start from serving, and a stop removes it.
func TestUnixSocket(t *testing.T) {
	t.Parallel()
	masters := StartMasters(t, 3)
	dir := t.TempDir()
	path := filepath.Join(dir, "redlockd.sock")
	cfg := overFive(masters)
	cfg.Listen = fmt.Sprintf("unix = %q\nmode = \"0600\"", path)
	r := StartRedlockd(t, cfg, masters)
	c := overSocket(t, path)
	if file, err := os.Lstat(path); err != nil || file.Mode() != os.ModeSocket|0o600 {
		t.Errorf("the socket is %v, %v", file, err)
	}
	takeAndRelease(t, c)

	redisPath := filepath.Join(dir, "redis.sock")
	StartRedis(t, "--unixsocket", redisPath)
	if got, want := shownOver(t, path), shownOver(t, redisPath); got != want {
		t.Errorf("CLIENT INFO has %s, and Redis's %s", got, want)
	}

	r.Kill()
	if _, err := os.Lstat(path); err != nil {
		t.Fatalf("the kill has removed the socket: %v", err)
	}
	r.Restart()
	r.WaitVoting(masters...)
	takeAndRelease(t, c)
	if out, err := rig.RunRedlockd(t, r.Config, "-listen=127.0.0.1:0"); err == nil || !strings.Contains(out, path+" is in use") {
		t.Errorf("a second redlockd with this socket: %v, %s", err, out)
	}
	takeAndRelease(t, c)
	r.Stop()
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("a stop leaves the socket: %v", err)
	}
}

func overSocket(t *testing.T, path string) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Network: "unix", Addr: path, MaxRetries: -1})
	t.Cleanup(func() { c.Close() })
	return c
}

// takeAndRelease waits for a connection, as pools have dead ones after a kill.
func takeAndRelease(t *testing.T, c *redis.Client) {
	t.Helper()
	ctx := context.Background()
	eventually(t, "a lock is taken over the socket", func() (bool, string) {
		err := c.Do(ctx, "SET", "k", "me", "NX", "PX", "60000").Err()
		return err == nil, fmt.Sprint(err)
	})
	if n, err := c.Eval(ctx, releaseScript, []string{"k"}, "me").Int(); n != 1 || err != nil {
		t.Errorf("released %d, %v", n, err)
	}
}

// shownOver returns what CLIENT INFO has of a connection over a socket: its addresses, without
// the path, and its flags.
func shownOver(t *testing.T, path string) string {
	t.Helper()
	info, err := overSocket(t, path).Do(context.Background(), "CLIENT", "INFO").Text()
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(strings.Join(regexp.MustCompile(`\b(?:addr|laddr|flags)=\S+`).FindAllString(info, -1), " "), path, "PATH")
}

// TestUnixSocketClients: redis-py and redis-cli, by their own names for it, to a redlockd that has
// no other address.
func TestUnixSocketClients(t *testing.T) {
	t.Parallel()
	masters := StartMasters(t, 3)
	path := filepath.Join(t.TempDir(), "redlockd.sock")
	cfg := overFive(masters)
	cfg.Listen = fmt.Sprintf("unix = %q", path)
	cfg.Address = rig.NoAddress
	StartRedlockd(t, cfg, masters)
	python := pythonWithRedis(t)
	// redis-py 8.0.0 reaches no Unix socket with its default, RESP3, whatever serves there.
	lock := `import redis, sys
c = redis.Redis(unix_socket_path=sys.argv[1], protocol=2)
with c.lock("k", timeout=10) as l:
    l.extend(20)
    assert c.lock("k", timeout=10, blocking=False).acquire() is False
assert c.get("k") is None
assert redis.from_url("unix://" + sys.argv[1] + "?protocol=2").set("j", "me", nx=True, px=1000)`
	for _, argv := range [][]string{{python, "-c", lock, path}, {program(t, "redis-cli"), "-s", path, "set", "l", "me", "nx", "px", "1000"}} {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		if out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput(); err != nil || strings.Contains(string(out), "ERR") {
			t.Errorf("%s: %v, %s", argv[0], err, out)
		}
		cancel()
	}
}
