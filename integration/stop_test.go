package integration

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// TestStopUnderLoad is S6: SIGTERM in the middle of the work. Every reply that
// was begun is whole, the exit code is 0, and a lock whose client was not told
// of it is not there.
func TestStopUnderLoad(t *testing.T) {
	t.Parallel()
	r, masters := StartCluster(t, 5)
	const clients = 50
	var cycles atomic.Int64
	unanswered := make([]string, clients) // the key of an acquire without reply
	var wg sync.WaitGroup
	for i := range clients {
		conn, err := net.Dial("tcp", r.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		replies := bufio.NewReader(conn)
		ask := func(args ...string) (string, error) {
			conn.SetDeadline(time.Now().Add(patience))
			if _, err := conn.Write(command(args...)); err != nil {
				return "", io.EOF // nothing was read of it
			}
			frame, err := readFrame(replies)
			if err != nil && len(frame) > 0 {
				t.Errorf("half a reply: %q, %v", frame, err)
			}
			return string(frame), err
		}
		wg.Go(func() {
			for n := 0; ; n++ {
				key := fmt.Sprintf("stop:%d:%d", i, n)
				got, err := ask("SET", key, "me", "NX", "PX", "60000")
				if err != nil {
					unanswered[i] = key
					return
				}
				if got != "+OK\r\n" {
					t.Errorf("SET: %q", got)
					return
				}
				if got, err = ask("EVAL", releaseScript, "1", key, "me"); err != nil {
					return
				}
				if got != ":1\r\n" {
					t.Errorf("release: %q", got)
					return
				}
				cycles.Add(1)
			}
		})
	}
	eventually(t, "the clients are at work", func() (bool, string) {
		n := cycles.Load()
		return n > 20*clients, fmt.Sprintf("%d cycles", n)
	})
	r.Stop()
	wg.Wait()
	var keys []string
	for _, key := range unanswered {
		if key != "" {
			keys = append(keys, key)
		}
	}
	if len(keys) > 0 {
		waitGone(t, masters, keys...)
	}
}

// TestLocksOutliveRedlockd: redlockd is killed, and
// another one serves the same locks at once.
func TestLocksOutliveRedlockd(t *testing.T) {
	t.Parallel()
	r, masters := StartCluster(t, 5)
	r.wantTake("outlives")
	second := JoinRedlockd(t, r.Config)
	second.WaitVoting(masters...)
	eventually(t, "the second redlockd knows the lock", func() (bool, string) {
		token, err := second.Client().Get(context.Background(), "outlives").Result()
		return token == "me", fmt.Sprint(token, err)
	})
	r.Stop()
	second.wantLife("outlives")
}

// TestS6StartBesideAnother requires that a redlockd which starts beside another
// one, and watches the masters' clocks first (M5), lets clients wait and refuses nothing:
// here for 4.15 s, which is longer than it waits for masters that are missing.
func TestS6StartBesideAnother(t *testing.T) {
	t.Parallel()
	masters := StartMasters(t, 5)
	cfg := overFive(masters)
	StartRedlockd(t, cfg, masters)
	second := JoinRedlockd(t, cfg)
	w := DialWire(t, second.Addr)
	for _, db := range []string{"0", "3"} {
		if got := w.Ask("SELECT", db); got != "+OK\r\n" {
			t.Errorf("SELECT %s: %q", db, got)
		}
		if got := w.Ask("SET", "at once", "me", "NX", "PX", "60000"); got != "+OK\r\n" {
			t.Errorf("SET in database %s: %q, want OK", db, got)
		}
	}
	if log := second.Log(); strings.Contains(log, "[WARN]") || strings.Contains(log, "[ERROR]") {
		t.Errorf("a start beside another one warns:\n%s", log)
	}
}

// TestStartsWithoutMajority requires that a start with unreachable masters is
// no failure: the answer is NOQUORUM, with a reason, until a majority is there.
func TestStartsWithoutMajority(t *testing.T) {
	t.Parallel()
	masters := StartMasters(t, 5)
	cfg := overFive(masters)
	Bootstrap(t, cfg)
	for _, m := range masters[:3] {
		m.Freeze()
	}
	r := JoinRedlockd(t, cfg)
	w := DialWire(t, r.Addr)
	got := w.Ask("SET", "k", "me", "NX", "PX", "1000")
	if !strings.HasPrefix(got, "-NOQUORUM ") {
		t.Errorf("SET NX without a majority: %q, want NOQUORUM", got)
	}
	for _, m := range masters[:3] {
		m.Thaw()
	}
	r.WaitVoting(masters...)
}

// TestNotBootstrapped is M6: new masters refuse, and the refusal says what to
// do; -bootstrap makes them vote, once.
func TestNotBootstrapped(t *testing.T) {
	t.Parallel()
	masters := StartMasters(t, 5)
	cfg := overFive(masters)
	r := JoinRedlockd(t, cfg)
	w := DialWire(t, r.Addr)
	eventually(t, "the refusal names -bootstrap", func() (bool, string) {
		got := w.Ask("SET", "k", "me", "NX", "PX", "1000")
		if got == "+OK\r\n" {
			t.Fatal("a lock over masters that may have forgotten everything")
		}
		return strings.HasPrefix(got, "-NOQUORUM ") && strings.Contains(got, "redlockd -bootstrap"), got
	})
	Bootstrap(t, cfg)
	r.WaitVoting(masters...)
	r.wantTake("k")
	out, err := rig.RunRedlockd(t, cfg, "-bootstrap")
	if err == nil {
		t.Errorf("a second -bootstrap over masters that vote succeeds:\n%s", out)
	}
	r.wantLife("k")
}

// TestBootstrapWithoutAMaster is M6: a master that does not answer may hold
// locks.
func TestBootstrapWithoutAMaster(t *testing.T) {
	t.Parallel()
	masters := StartMasters(t, 5)
	masters[3].Kill()
	cfg := overFive(masters)
	out, err := rig.RunRedlockd(t, cfg, "-bootstrap")
	if err == nil {
		t.Errorf("-bootstrap succeeds without one of the masters:\n%s", out)
	}
}

// TestPasswords is M7 and the session's own password.
func TestPasswords(t *testing.T) {
	t.Parallel()
	masters := make([]*Master, 3)
	for i := range masters {
		masters[i] = StartMaster(t, "--requirepass", "masters' secret")
	}
	cfg := overFive(masters)
	cfg.MasterPassword, cfg.Password = "masters' secret", "clients' secret"
	r := StartRedlockd(t, cfg, masters)
	r.wantTake("secret")
	r.wantLife("secret")
	one := StartRedis(t, "--requirepass", cfg.Password)
	var told [2][]string
	for i, addr := range []string{one.Addr, r.Addr} {
		w := DialWire(t, addr)
		for _, args := range [][]string{
			{"PING"}, {"GET", "k"}, {"SET", "k", "me", "NX", "PX", "1000"}, {"HELLO", "3"}, {"AUTH", "wrong"}, {"AUTH", "default", "wrong"},
			{"AUTH", "nobody", cfg.Password}, {"GET", "k"}, {"AUTH", cfg.Password}, {"GET", "k"}, {"AUTH", "default", cfg.Password}, {"AUTH", "wrong"}, {"GET", "k"},
		} {
			told[i] = append(told[i], fmt.Sprintf("%s: %q", strings.Join(args, " "), w.Ask(args...)))
		}
	}
	for i := range told[0] {
		if told[0][i] != told[1][i] {
			t.Errorf("Redis %s, redlockd %s", told[0][i], told[1][i])
		}
	}
	if strings.Contains(r.Log(), "secret\"") || strings.Contains(r.Log(), "masters' secret") {
		t.Error("a password is in the log")
	}
}

// TestDev takes the first lock of a newcomer. -dev has the default timeout, so
// a busy machine may answer NOQUORUM, and then all is asked again about another
// key; no other reply is let pass.
func TestDev(t *testing.T) {
	t.Parallel()
	r := rig.DevRedlockd(t)
	w := DialWire(t, r.Addr)
	key := ""
	tries := 0
	eventually(t, "the first lock", func() (bool, string) {
		tries++
		key = fmt.Sprint("k", tries)
		for _, step := range []struct {
			args []string
			want string
		}{
			{[]string{"SET", key, "me", "NX", "PX", "60000"}, "+OK\r\n"},
			{[]string{"SET", key, "you", "NX", "PX", "60000"}, "$-1\r\n"},
			{[]string{"EVAL", releaseScript, "1", key, "you"}, ":0\r\n"},
			{[]string{"EVAL", releaseScript, "1", key, "me"}, ":1\r\n"},
			{[]string{"SET", key, "you", "NX", "PX", "50"}, "+OK\r\n"},
		} {
			switch got := w.Ask(step.args...); {
			case strings.HasPrefix(got, "-NOQUORUM "):
				return false, got
			case got != step.want:
				t.Errorf("%s: %q, want %q", step.args[0], got, step.want)
			}
		}
		return true, ""
	})
	eventually(t, "the lock ends with its TTL", func() (bool, string) {
		got := w.Ask("SET", key, "me", "NX", "PX", "60000")
		return got == "+OK\r\n", got
	})
	if text := r.Log(); !strings.Contains(text, "keep nothing") {
		t.Errorf("the log does not say that nothing is kept:\n%s", text)
	}
	r.Stop()
}

// TestP2TTLEnds is P2: what nobody releases is free again after its TTL, and not
// before.
func TestP2TTLEnds(t *testing.T) {
	t.Parallel()
	r, masters := StartCluster(t, 5)
	ctx, c := context.Background(), r.Client()
	sent := time.Now()
	const ttl = time.Second
	if ok, err := c.SetNX(ctx, "ends", "me", ttl).Result(); !ok {
		t.Fatalf("taking it: %v", err)
	}
	eventually(t, "the lock is free", func() (bool, string) {
		ok, err := c.SetNX(ctx, "ends", "you", time.Minute).Result()
		if err != nil {
			t.Fatal(err)
		}
		if ok && time.Since(sent) < ttl {
			t.Fatalf("given to another after %v, before its TTL of %v was over", time.Since(sent), ttl)
		}
		return ok, "held"
	})
	if n := holding(masters, "ends", "you"); n < 3 {
		t.Errorf("the second lock is on %d masters", n)
	}
}
