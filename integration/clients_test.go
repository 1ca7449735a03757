package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

// scenario uses a client against the server at addr and tells what it saw.
type scenario func(t *testing.T, addr string) string

var scenarios = []struct {
	name string
	run  scenario
}{
	{"redis-cli", useRedisCLI},
	{"go-redis, RESP2", func(t *testing.T, addr string) string { return useGoRedis(t, addr, 2) }},
	{"go-redis, RESP3", func(t *testing.T, addr string) string { return useGoRedis(t, addr, 3) }},
	{"redis-py", useRedisPy},
	{"redsync", useRedsync},
}

// TestClients runs unmodified clients against one Redis and against redlockd:
// they must see the same, also when two of the five masters are dead.
func TestClients(t *testing.T) {
	t.Parallel()
	one := StartRedis(t)
	r, masters := StartCluster(t, 5)
	want := map[string]string{}
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			want[s.name] = s.run(t, one.Addr)
			if got := s.run(t, r.Addr); got != want[s.name] {
				t.Errorf("over redlockd:\n%s\nover one Redis:\n%s", got, want[s.name])
			}
		})
	}
	masters[1].Kill()
	masters[4].Kill()
	for _, s := range scenarios {
		t.Run(s.name+", two of five masters dead", func(t *testing.T) {
			if got := s.run(t, r.Addr); got != want[s.name] {
				t.Errorf("over redlockd:\n%s\nover one Redis:\n%s", got, want[s.name])
			}
		})
	}
}

// story collects what a client saw.
type story struct{ strings.Builder }

func (s *story) tell(what string, value any, err error) {
	fmt.Fprintf(s, "%s: %v, %v\n", what, value, err)
}

// useRedisCLI types commands, as a new user does.
func useRedisCLI(t *testing.T, addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	oneLine := `return redis.call('get',KEYS[1]) == ARGV[1] and redis.call('del',KEYS[1]) or 0`
	input := strings.Join([]string{
		"ping", "set cli:lock me nx px 60000", "set cli:lock you nx px 60000", "get cli:lock", "exists cli:lock",
		fmt.Sprintf("eval %q 1 cli:lock you", oneLine), "get cli:lock",
		fmt.Sprintf("eval %q 1 cli:lock me", oneLine), fmt.Sprintf("eval %q 1 cli:lock me", oneLine), "get cli:lock",
		"set cli:lock me ex 60 nx", "del cli:lock", "select 3", "set cli:lock me ex 60 nx", "del cli:lock", "set cli:lock", "set cli:lock me nx px 0",
	}, "\n") + "\n"
	var all bytes.Buffer
	for _, protocol := range []string{"-2", "-3"} {
		cmd := exec.Command(program(t, "redis-cli"), "-h", host, "-p", port, protocol)
		cmd.Stdin = strings.NewReader(input)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("redis-cli %s: %v\n%s", protocol, err, out)
		}
		all.Write(out)
	}
	return all.String()
}

func useGoRedis(t *testing.T, addr string, protocol int) string {
	c := redis.NewClient(&redis.Options{Addr: addr, Protocol: protocol, MaxRetries: -1, ReadTimeout: patience})
	defer c.Close()
	ctx := context.Background()
	var s story
	key := fmt.Sprintf("go:lock:%d", protocol)
	setNX := func(what, token string, ttl time.Duration) {
		ok, err := c.SetNX(ctx, key, token, ttl).Result()
		s.tell(what, ok, err)
	}
	get := func() {
		token, err := c.Get(ctx, key).Result()
		s.tell("get", token, err)
	}
	release, extend := redis.NewScript(releaseScript), redis.NewScript(extendScript)
	run := func(what string, script *redis.Script, args ...any) {
		n, err := script.Run(ctx, c, []string{key}, args...).Result()
		s.tell(what, n, err)
	}
	// deleteMine deletes the key in a transaction if it still has the token;
	// between the two somebody may come in.
	deleteMine := func(what, token string, between func()) {
		err := c.Watch(ctx, func(tx *redis.Tx) error {
			got, err := tx.Get(ctx, key).Result()
			if err != nil || got != token {
				return errors.Join(err, fmt.Errorf("found %q", got))
			}
			between()
			_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Del(ctx, key).Err() })
			return err
		}, key)
		s.tell(what, "", err)
	}
	nobody := func() {}

	setNX("take", "me", 60*time.Second)
	setNX("take again", "me", 60*time.Second)
	setNX("take, another", "you", 1500*time.Millisecond)
	get()
	run("extend, another", extend, "you", 60_000)
	run("extend", extend, "me", 90_000)
	ttl, err := c.PTTL(ctx, key).Result()
	s.tell("left", ttl.Round(30*time.Second), err)
	run("release, another", release, "you")
	get()
	run("release", release, "me")
	run("release again", release, "me")
	get()

	setNX("take, in milliseconds", "me", 59_999*time.Millisecond)
	deleteMine("transaction of another", "you", nobody)
	deleteMine("transaction", "me", nobody)
	deleteMine("transaction again", "me", nobody)
	setNX("take", "me", 60*time.Second)
	deleteMine("transaction that lost the race", "me", func() {
		run("release in between", release, "me")
		setNX("take in between", "you", 60*time.Second)
	})
	get()
	n, err := c.Del(ctx, key).Result()
	s.tell("delete", n, err)
	return s.String()
}

// useRedisPy runs a program of its own with redis-py's Lock.
func useRedisPy(t *testing.T, addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(pythonWithRedis(t), filepath.Join("testdata", "redispy_lock.py"), host, port).CombinedOutput()
	if err != nil {
		t.Errorf("redis-py: %v\n%s", err, out)
	}
	return string(out)
}

// pythonWithRedis finds a python3 that has redis-py: the one that REDLOCKD_PYTHON names, the
// first on the PATH, or the system's, for which packages are made.
func pythonWithRedis(t *testing.T) string {
	t.Helper()
	if python := os.Getenv("REDLOCKD_PYTHON"); python != "" {
		return python
	}
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import redis.lock").Run() == nil {
			return python
		}
	}
	t.Fatal("no python3 has redis-py: run `make deps`, or name one in REDLOCKD_PYTHON")
	return ""
}

// useRedsync uses redsync's own scripts, unmodified, over one server.
func useRedsync(t *testing.T, addr string) string {
	c := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, ReadTimeout: patience})
	defer c.Close()
	rs := redsync.New(goredis.NewPool(c))
	// redsync gives one attempt a part of the expiry; here a busy machine has
	// no part in it.
	options := []redsync.Option{redsync.WithExpiry(60 * time.Second), redsync.WithTimeoutFactor(0.5)}
	mine := rs.NewMutex("redsync:lock", options...)
	other := rs.NewMutex("redsync:lock", options...)
	var s story
	s.tell("lock", "", mine.TryLock())
	s.tell("lock by another", "", kind(other.TryLock()))
	ok, err := mine.Extend()
	s.tell("extend", ok, err)
	s.tell("valid", mine.Until().After(time.Now()), nil)
	ok, err = other.Unlock()
	s.tell("unlock by another", ok, kind(err))
	ok, err = mine.Unlock()
	s.tell("unlock", ok, err)
	ok, err = mine.Unlock()
	s.tell("unlock again", ok, kind(err))
	ok, err = mine.Extend()
	s.tell("extend what is gone", ok, kind(err))
	s.tell("lock by another", "", other.TryLock())
	ok, err = other.Unlock()
	s.tell("unlock by another", ok, err)
	return s.String()
}

// kind leaves of an error what does not name a server.
func kind(err error) error {
	var taken *redsync.ErrTaken
	if errors.As(err, &taken) {
		return errors.New("taken")
	}
	return err
}
