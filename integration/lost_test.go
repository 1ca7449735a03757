package integration

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// holdAndExtend takes a lock with redis-py, says so, and extends and releases it when it is told to.
const holdAndExtend = `import redis, sys
c = redis.Redis(host=sys.argv[1], port=int(sys.argv[2]), client_name="billing-7")
l = c.lock("orders:7", timeout=int(sys.argv[3]))
assert l.acquire()
print("has it", flush=True)
sys.stdin.readline()
for step in (lambda: l.extend(60, replace_ttl=True), l.release):
    try:
        step()
        print("done", flush=True)
    except redis.exceptions.LockError as e:
        print("lost:", e, flush=True)
`

// TestLostLockIsTold: a real client stands still for longer than its lock lasts, as in a long
// collection of garbage. When it goes on, the log, the metric and the message name it, and the
// cause; and so do they where an operator has forced a lock. What was extended and released in time
// is in no count.
func TestLostLockIsTold(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	masters := StartMasters(t, 3)
	cfg := overFive(masters)
	cfg.Timeout = 200 * time.Millisecond
	r := StartRedlockd(t, cfg, masters)
	c := r.Client()
	hears := c.Subscribe(ctx, "__redlockd__:lost")
	t.Cleanup(func() { hears.Close() })
	if _, err := hears.Receive(ctx); err != nil {
		t.Fatal(err)
	}

	frozen := startHolder(t, r.Addr, "1")
	frozen.signal(syscall.SIGSTOP)
	eventually(t, "another client takes the lock", func() (bool, string) {
		ok, err := c.SetNX(ctx, "orders:7", "other", time.Minute).Result()
		return ok, fmt.Sprint(err)
	})
	frozen.signal(syscall.SIGCONT)
	if extended, released := frozen.goesOn(), frozen.says(); !strings.HasPrefix(extended, "lost: ") || !strings.HasPrefix(released, "lost: ") {
		t.Errorf("who stood still is told %q and %q", extended, released)
	}
	lostAs(t, r, hears, "expired", "billing-7")

	if n, err := c.Eval(ctx, releaseScript, []string{"orders:7"}, "other").Int(); n != 1 || err != nil {
		t.Fatal(n, err)
	}

	forced := startHolder(t, r.Addr, "60")
	if n, err := c.Do(ctx, "LOCKS", "FORCE", "orders:7").Int(); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	forced.goesOn()
	forced.says()
	lostAs(t, r, hears, "forced", "billing-7")

	inTime := startHolder(t, r.Addr, "60")
	if extended, released := inTime.goesOn(), inTime.says(); extended != "done" || released != "done" {
		t.Errorf("in time, the client is told %q and %q", extended, released)
	}
	for cause, want := range map[string]float64{"expired": 1, "forced": 1, "changed": 0} {
		if got := r.Metric(fmt.Sprintf("redlockd_locks_lost_total{cause=%q}", cause)); got != want {
			t.Errorf("%v locks are counted as %s, want %v", got, cause, want)
		}
	}
	if n := strings.Count(r.Log(), "a lock was lost"); n != 1 {
		t.Errorf("the log tells %d times of one key within a minute", n)
	}
}

// holder is a redis-py that holds a lock.
type holder struct {
	t   *testing.T
	cmd *exec.Cmd
	in  *os.File
	out *bufio.Scanner
}

func startHolder(t *testing.T, addr, ttl string) *holder {
	t.Helper()
	return startHolderOf(t, holdAndExtend, addr, ttl)
}

// startHolderOf starts a program that takes a lock and says so.
func startHolderOf(t *testing.T, program, addr string, args ...string) *holder {
	t.Helper()
	host, port, _ := strings.Cut(addr, ":")
	cmd := exec.Command(pythonWithRedis(t), append([]string{"-c", program, host, port}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = from
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	from.Close()
	h := &holder{t, cmd, to, bufio.NewScanner(out)}
	t.Cleanup(func() {
		to.Close()
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	if got := h.says(); got != "has it" {
		t.Fatalf("the client says %q", got)
	}
	return h
}

func (h *holder) signal(s syscall.Signal) {
	h.t.Helper()
	if err := h.cmd.Process.Signal(s); err != nil {
		h.t.Fatal(err)
	}
}

// goesOn lets it extend and release its lock, and returns how the extend went.
func (h *holder) goesOn() string {
	h.t.Helper()
	if _, err := h.in.WriteString("\n"); err != nil {
		h.t.Fatal(err)
	}
	return h.says()
}

// says returns its next line.
func (h *holder) says() string {
	h.t.Helper()
	if !h.out.Scan() {
		h.t.Fatal("the client has ended")
	}
	return h.out.Text()
}

// lostAs requires a message and a metric about one lock, with its holder.
func lostAs(t *testing.T, r *Redlockd, hears *redis.PubSub, cause, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	m, err := hears.ReceiveMessage(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var told struct {
		Key, Cause   string
		Since, Until int64
		Holder       struct{ Name, Addr, User string }
	}
	if err := json.Unmarshal([]byte(m.Payload), &told); err != nil || told.Key != "orders:7" || told.Cause != cause || told.Holder.Name != name ||
		told.Holder.Addr == "" || told.Until-told.Since < 1000 {
		t.Errorf("the message is %s (%v), want %s and %s", m.Payload, err, cause, name)
	}
	if cause == "expired" {
		loggedBy(t, r, `\[WARN\]  redlockd.proxy: a lock was lost, and its holder asks for it: key=orders:7 db=0 cause=expired .* holder_name=`+regexp.QuoteMeta(name))
	}
}
