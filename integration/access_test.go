package integration

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// cli runs commands by redis-cli, as a user, and returns a reply for each.
func cli(t *testing.T, addr, user, password string, commands []string) []string {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program(t, "redis-cli"), "-h", host, "-p", port, "--no-auth-warning", "--user", user, "--pass", password)
	cmd.Stdin = strings.NewReader(strings.Join(commands, "\n") + "\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("redis-cli: %v\n%s", err, out)
	}
	var replies []string
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); line != "" {
			replies = append(replies, line)
		}
	}
	if len(replies) != len(commands) {
		t.Fatalf("%d replies to %d commands:\n%s", len(replies), len(commands), out)
	}
	return replies
}

// locksOn are all keys of a master that are locks, with their tokens.
func locksOn(t *testing.T, m *Master) map[string]string {
	t.Helper()
	c := rig.Direct(m.Addr, "")
	defer c.Close()
	ctx := context.Background()
	locks := map[string]string{}
	for _, key := range c.Keys(ctx, "*").Val() {
		if !strings.HasPrefix(key, "redlockd:") {
			locks[key] = c.Get(ctx, key).Val()
		}
	}
	return locks
}

// denied are commands that a user of locks:orders:* who may acquire and release
// has no right to. Where redis is set, a Redis whose ACL says as much answers
// the same.
var denied = []struct {
	command string
	redis   bool
}{
	{"GET locks:orders:1", true},
	{"GET locks:bills:1", true},
	{"SET locks:bills:1 mine NX PX 60000", true},
	{"SET locks:bills:2 mine NX PX 60000", true},
	{"DEL locks:orders:1", true},
	{"PEXPIRE locks:orders:1 1", true},
	{"SET locks:orders:1 mine PX 60000", false}, // Redis does not tell it from SET NX
	{`EVAL "return redis.call('del','locks:orders:1')" 0`, false},
	{`EVAL "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end" 1 locks:bills:1 theirs`, true},
	{`EVAL "return redis.call('del','locks:bills:1')" 0`, false},
	{"WATCH locks:orders:1", true},
	{"PUBLISH bills x", true},
	{"BLPOP locks:bills:1 1", true},
	{"CLIENT LIST", true},
	{"ACL LIST", true},
	{"ACL SETUSER orders allkeys", true},
	{"SCRIPT FLUSH", true},
	{"LOCKS FORCE locks:orders:1", false},
}

// A user without the right hears NOPERM in Redis's words, and nothing is
// changed on any master.
func TestUserWithoutRights(t *testing.T) {
	t.Parallel()
	masters := StartMasters(t, 3)
	cfg := overFive(masters)
	cfg.Password = "root"
	cfg.Listen = `
  user "orders" {
    password   = "secret"
    keys       = ["locks:orders:*"]
    operations = ["acquire", "release"]
  }`
	r := StartRedlockd(t, cfg, masters)
	redis := StartRedis(t)
	ctx := context.Background()
	rules := "ACL SETUSER orders on >secret resetkeys ~locks:orders:* resetchannels -@all +set +eval +publish +blpop +acl|whoami"
	for _, at := range []struct{ addr, password string }{{redis.Addr, ""}, {r.Addr, cfg.Password}} {
		c := rig.Direct(at.addr, at.password)
		defer c.Close()
		for _, key := range []string{"locks:orders:1", "locks:bills:1"} {
			if err := c.Set(ctx, key, "theirs", time.Minute).Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	direct := rig.Direct(redis.Addr, "")
	defer direct.Close()
	var words []any
	for _, word := range strings.Fields(rules) {
		words = append(words, word)
	}
	if err := direct.Do(ctx, words...).Err(); err != nil {
		t.Fatal(err)
	}
	before := make([]map[string]string, len(masters))
	for i, m := range masters {
		before[i] = locksOn(t, m)
	}
	var all, same []string
	for _, d := range denied {
		all = append(all, d.command)
		if d.redis {
			same = append(same, d.command)
		}
	}
	for i, got := range cli(t, r.Addr, "orders", "secret", all) {
		if !strings.HasPrefix(got, "NOPERM ") {
			t.Errorf("%s: got %q, want NOPERM", all[i], got)
		}
	}
	want := cli(t, redis.Addr, "orders", "secret", same)
	for i, got := range cli(t, r.Addr, "orders", "secret", same) {
		if got != want[i] {
			t.Errorf("%s: got %q, Redis says %q", same[i], got, want[i])
		}
	}
	for i, m := range masters {
		if after := locksOn(t, m); !maps.Equal(before[i], after) || len(after) != 2 {
			t.Errorf("master %d had %v and has %v", i, before[i], after)
		}
	}
	allowed := []string{"SET locks:orders:2 mine NX PX 60000", "DELEX locks:orders:2 IFEQ mine", "ACL WHOAMI"}
	if got := fmt.Sprint(cli(t, r.Addr, "orders", "secret", allowed)); got != "[OK 1 orders]" {
		t.Errorf("what is allowed: %s", got)
	}
}

// S6: users and passwords change while locks are taken, and no session drops.
func TestReloadOfUsersUnderLoad(t *testing.T) {
	t.Parallel()
	masters := StartMasters(t, 3)
	cfg := overFive(masters)
	cfg.Listen = `password = ["old", "new"]`
	r := StartRedlockd(t, withPassword(cfg, "old"), masters)
	c := r.Client()
	ctx := context.Background()
	reload := func(listen string, password string) {
		t.Helper()
		next := withPassword(cfg, password)
		next.Listen = listen
		seen := strings.Count(r.Log(), "users and limits reloaded")
		r.Reload(next)
		rig.Eventually(t, "the users are read again", func() (bool, string) {
			return strings.Count(r.Log(), "users and limits reloaded") > seen, r.Log()
		})
	}
	conn := c.Conn() // one session, which must outlast it all
	defer conn.Close()
	if err := conn.Ping(ctx).Err(); err != nil { // it is logged in
		t.Fatal(err)
	}
	stop, failed := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(failed)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			key := fmt.Sprintf("load:%d", i)
			ok, err := conn.SetNX(ctx, key, "t", time.Minute).Result()
			if err == nil && ok {
				err = conn.Eval(ctx, releaseScript, []string{key}, "t").Err()
			}
			if err != nil || !ok {
				failed <- fmt.Errorf("%s: %v, %w", key, ok, err)
				return
			}
		}
	}()
	reload("max_clients = 500", "new")
	if err := rig.Direct(r.Addr, "old").Ping(ctx).Err(); err == nil || !strings.HasPrefix(err.Error(), "WRONGPASS") {
		t.Errorf("with the old password: %v", err)
	}
	if err := rig.Direct(r.Addr, "new").Ping(ctx).Err(); err != nil {
		t.Errorf("with the new password: %v", err)
	}
	close(stop)
	if err := <-failed; err != nil {
		t.Errorf("a session suffered: %v", err)
	}
}

// withPassword is the configuration of a client with this password, which is
// also the server's.
func withPassword(cfg Config, password string) Config {
	cfg.Password = password
	if strings.HasPrefix(cfg.Listen, "password") {
		cfg.Listen = ""
	}
	return cfg
}
