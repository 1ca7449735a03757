package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// overForms are commands that a client who believes to have the lock @k, with the
// token t, sends: ; parts the commands of a transaction, and WATCH @k comes before
// those that begin with it. deletes is whether the command asks to delete the lock, so that
// the next one gets it at once; all others leave its copies as they are.
var overForms = []struct {
	deletes bool
	line    string
}{
	{true, "EVAL\x00" + compareAndDelete + "\x001\x00@k\x00t"},
	{false, "EVAL\x00" + compareAndExpire + "\x001\x00@k\x00t\x005000"},
	{true, "EVAL\x00" + getAndDelete + "\x001\x00@k\x00t"},
	{true, "EVAL\x00" + twoAndDelete + "\x002\x00@k\x00@other\x00t"},
	{true, "DELEX @k IFEQ t"},
	{true, "DELEX @k IFNE u"},
	{true, "DELEX @k"},
	{true, "DELIFEQ @k t"},
	{false, "SET @k t2 IFEQ t PX 5000"},
	{false, "SET @k t XX PX 5000"},
	{false, "SET @k t XX GET PX 5000"},
	{false, "SET @k t XX KEEPTTL"},
	{false, "SET @k t2 IFEQ t GET PX 5000"},
	{false, "GETEX @k PX 5000"},
	{true, "GETDEL @k"},
	{true, "DEL @k"},
	{true, "UNLINK @k"},
	{false, "EXPIRE @k 5"},
	{false, "PEXPIRE @k 5000"},
	{false, "PEXPIRE @k 5000 GT"},
	{true, "PEXPIRE @k 0"},
	{true, "DEL @k;DEL @other"},
	{false, "PEXPIRE @k 5000;GET @k"},
	{true, "WATCH @k;DEL @k"},
	{false, "WATCH @k;PEXPIRE @k 5000"},
	{true, "WATCH @k;GET @k;DEL @k"},
	{false, "GET @k"},
	{false, "MGET @k @other"},
	{false, "EXISTS @k"},
	{false, "STRLEN @k"},
	{false, "TYPE @k"},
	{false, "PTTL @k"},
	{false, "TTL @k"},
	{false, "PEXPIRETIME @k"},
	{false, "DIGEST @k"},
	{false, "GETEX @k"},
	{false, "DELEX @k IFEQ u"},
	{false, "EVAL\x00" + compareAndDelete + "\x001\x00@k\x00u"},
	{false, "GET @k;EXISTS @k"},
	{false, "WATCH @k;GET @k"},
}

const (
	compareAndDelete = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end`
	compareAndExpire = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) else return 0 end`
	getAndDelete     = `local v = redis.call('get', KEYS[1]) if v == ARGV[1] then redis.call('del', KEYS[1]) end return v`
	twoAndDelete     = `local n = 0 for i, k in ipairs(KEYS) do
  if redis.call('get', k) == ARGV[1] then n = n + redis.call('del', k) end
end return n`
)

// V15: when the TTL of a lock is over, every command of its owner is answered as one
// Redis answers it, which has forgotten the key; and those that release it let the next client
// have it at once, though the masters keep a lock that is not asked for.
func TestV15OverInEveryAnswer(t *testing.T) {
	t.Parallel()
	masters, redis := StartMasters(t, 3), StartRedis(t)
	cfg := overFive(masters)
	cfg.Timeout, cfg.RetryBudget = 1500*time.Millisecond, time.Second // what is not deleted stays for 3.5 s
	r := StartRedlockd(t, cfg, masters)
	one, ours := play(t, redis.Addr), play(t, r.Addr)
	next := DialWire(t, r.Addr)
	for i, form := range overForms {
		want, got := one[i], ours[i]
		if old := redisLacks(want); old {
			want = map[bool]string{true: "$-1\r\n", false: ":0\r\n"}[strings.HasPrefix(form.line, "SET") || strings.HasPrefix(form.line, "DIGEST")]
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", form.line, got, want)
		}
		want = "$-1\r\n"
		if form.deletes {
			want = "+OK\r\n"
		}
		if got := next.Ask("SET", fmt.Sprintf("over:%d:k", i), "next", "NX", "PX", "9000"); got != want {
			t.Errorf("%q: the next one is told %q, want %q", form.line, got, want)
		}
	}
}

// redisLacks reports whether a reply says that this Redis is older than the command,
// or an option of it.
func redisLacks(reply string) bool {
	return strings.HasPrefix(reply, "-ERR unknown command") || strings.HasPrefix(reply, "-ERR syntax error")
}

// play takes a lock for each form, waits until all are over, and asks: it returns the
// replies.
func play(t *testing.T, addr string) (replies []string) {
	t.Helper()
	wires := make([]*Wire, len(overForms))
	for i, form := range overForms {
		wires[i] = DialWire(t, addr)
		if got := wires[i].Ask("SET", fmt.Sprintf("over:%d:k", i), "t", "NX", "PX", "500"); got != "+OK\r\n" {
			t.Fatalf("%q", got)
		}
		if strings.HasPrefix(form.line, "WATCH") {
			wires[i].Ask("WATCH", fmt.Sprintf("over:%d:k", i))
		}
	}
	for i := range overForms {
		eventually(t, "the end of a lock", func() (bool, string) {
			got := wires[0].Ask("GET", fmt.Sprintf("over:%d:k", i))
			return got == "$-1\r\n", got
		})
	}
	for i, form := range overForms {
		lines := strings.Split(form.line, ";")
		if lines[0] == "WATCH @k" {
			lines = lines[1:]
			wires[i].Ask("MULTI")
			for _, line := range lines {
				wires[i].Ask(strings.Fields(strings.ReplaceAll(line, "@", fmt.Sprintf("over:%d:", i)))...)
			}
			replies = append(replies, wires[i].Ask("EXEC"))
			continue
		}
		replies = append(replies, askAll(wires[i], fmt.Sprintf("over:%d:", i), lines))
	}
	return replies
}
