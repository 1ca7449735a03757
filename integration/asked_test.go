package integration

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// mineAlready is an acquire with a branch for a lock that the client has.
const mineAlready = `
if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 'OK' end
if redis.call('get', KEYS[1]) == ARGV[1] then
  redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 'OK'
end
return false`

// askedForTooLong are commands that give the lock @k, which the client t has
// or nobody, an hour; ; parts the commands of a transaction.
func askedForTooLong() (list [][]string) {
	at := strconv.FormatInt(time.Now().Add(time.Hour).UnixMilli(), 10)
	for _, line := range []string{
		"SET @free t NX PX 3600000", "SET @free t EX 3600", "SET @k t XX EX 3600", "SET @k t GET PX 3600000",
		"SET @free t NX PXAT " + at, "SETEX @free 3600 t", "PSETEX @free 3600000 t", "SET @free t EXAT " + at[:len(at)-3],
		"EXPIRE @k 3600", "PEXPIRE @k 3600000", "EXPIRE @k 3600 GT", "PEXPIREAT @k " + at, "EXPIREAT @k " + at[:len(at)-3],
		"SETNX @free t;PEXPIRE @free 3600000", "GETSET @k t;EXPIRE @k 3600", "GET @k;SET @k t PX 3600000", "GET @k;PEXPIREAT @k " + at,
	} {
		list = append(list, strings.Split(line, ";"))
	}
	for _, body := range []string{mineAlready, additive,
		`redis.call('setnx', KEYS[1], ARGV[1]) return redis.call('pexpire', KEYS[1], ARGV[2])`,
		`redis.call('getset', KEYS[1], ARGV[1]) return redis.call('pexpire', KEYS[1], ARGV[2])`,
		`if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) else return 0 end`} {
		call := "EVAL\x00" + body + "\x001\x00@k\x00t\x003600000\x000"
		list = append(list, []string{call}, []string{"GET @k", call})
	}
	return list
}

// C3: what is asked for and cannot be given is refused, whatever no_expiry
// says. Nothing is changed on a master, and nobody else gets a lock that its
// holder believes to have for an hour.
func TestC3TooLongIsRefused(t *testing.T) {
	redis := StartRedis(t)
	for _, noExpiry := range []string{"reject", "max_ttl"} {
		t.Run(noExpiry, func(t *testing.T) {
			t.Parallel()
			masters := StartMasters(t, 3)
			cfg := overFive(masters)
			cfg.MaxTTL, cfg.NoExpiry = time.Minute, noExpiry
			r := StartRedlockd(t, cfg, masters)
			ours, one := DialWire(t, r.Addr), DialWire(t, redis.Addr)
			for i, lines := range askedForTooLong() {
				prefix := fmt.Sprintf("%s:%d:", noExpiry, i)
				if got := ours.Ask("SET", prefix+"k", "t", "NX", "PX", "50000"); got != "+OK\r\n" {
					t.Fatalf("%q", got)
				}
				one.Ask("SET", prefix+"k", "t", "NX", "PX", "50000")
				if got := askAll(one, prefix, lines); strings.HasPrefix(got, "-") {
					t.Errorf("%q: Redis answers %q", lines, got)
				}
				if got := askAll(ours, prefix, lines); !strings.HasPrefix(got, "-ERR ") || !strings.Contains(got, "max_ttl of 60000 ms") {
					t.Errorf("%q: got %q, want the error that names max_ttl", lines, got)
				}
				for _, m := range masters {
					c := rig.Direct(m.Addr, "")
					if left := c.PTTL(context.Background(), prefix+"k").Val(); left > 52*time.Second {
						t.Errorf("%q: a master keeps the lock for %v", lines, left)
					}
					if c.Exists(context.Background(), prefix+"free").Val() != 0 {
						t.Errorf("%q: a master has a lock that was refused", lines)
					}
					c.Close()
				}
			}
		})
	}
}

// askAll asks one command, or several as a transaction, and returns the last
// reply.
func askAll(w *Wire, prefix string, lines []string) string {
	words := func(line string) []string {
		split := strings.Split(line, "\x00")
		if len(split) == 1 {
			split = strings.Fields(line)
		}
		for i := range split {
			split[i] = strings.ReplaceAll(split[i], "@", prefix)
		}
		return split
	}
	if len(lines) == 1 {
		return w.Ask(words(lines[0])...)
	}
	w.Ask("MULTI")
	for _, line := range lines {
		w.Ask(words(line)...)
	}
	return w.Ask("EXEC")
}
