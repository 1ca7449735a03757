package commands

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// freeAll frees all locks and wakes who waits for them, 1 ms apart.
const freeAll = `
	local locks = redis.call('keys', 'lock:*')
	for _, lock in pairs(locks) do
		local signal = 'signal:' .. string.sub(lock, 6)
		redis.call('del', signal)
		redis.call('lpush', signal, 1)
		redis.call('expire', signal, 1)
		redis.call('del', lock)
	end
	return #locks`

// sweep asks a script whose KEYS find the locks that are there now, and lets
// them change before it is carried out.
func (s *store) sweep(t *testing.T, in *Interpreter, body string, meanwhile func()) (string, []Notice) {
	t.Helper()
	req, _ := in.Understand(3, [][]byte{[]byte("EVAL"), []byte(body), []byte("0")})
	for req.Sweep != nil {
		if len(req.Ops) != 0 || req.Reply(nil).Kind != resp.KindError {
			t.Fatal("without its keys it means something")
		}
		var keys []string
		for key, l := range s.locks {
			if l.Found && strings.HasPrefix(key, strings.TrimSuffix(req.Sweep.Pattern, "*")) {
				keys = append(keys, key)
			}
		}
		req = req.Sweep.Understand(keys)
	}
	meanwhile()
	return s.carryOut(req)
}

// A script that goes through all locks by KEYS is carried out on those that are
// there: one that has gone meanwhile is not found, one that came is not swept.
func TestSweep(t *testing.T) {
	in, s := New(rejecting(), func() int64 { return fakeNow }), newStore()
	for _, key := range []string{"lock:a", "lock:b", "lock:c", "other"} {
		s.locks[key] = found("t", time.Second)
	}
	reply, told := s.sweep(t, in, freeAll, func() {
		delete(s.locks, "lock:b")
		s.locks["lock:new"] = found("u", time.Second)
	})
	if reply != ":2" || s.holds("lock:a", "lock:b", "lock:c", "other", "lock:new") != "other=t 1s, lock:new=u 1s, " {
		t.Errorf("got %s and %s", reply, s.holds("lock:a", "lock:b", "lock:c", "other", "lock:new"))
	}
	signals := map[string]bool{}
	for _, n := range told {
		signals[fmt.Sprint(n.Signal, n.Items, n.TTL)] = true
	}
	if len(told) != 2 || !signals["signal:a[1] 1s"] || !signals["signal:c[1] 1s"] {
		t.Errorf("told %+v", told)
	}
	none, _ := newStore().sweep(t, in, freeAll, func() {})
	if none != ":0" {
		t.Errorf("without locks: %s", none)
	}
}

func TestSweepOfMany(t *testing.T) {
	in, s := New(rejecting(), func() int64 { return fakeNow }), newStore()
	for i := range MaxSwept {
		s.locks[fmt.Sprintf("lock:%d", i)] = found("t", time.Second)
	}
	if reply, told := s.sweep(t, in, freeAll, func() {}); reply != fmt.Sprint(":", MaxSwept) || len(told) != MaxSwept || len(s.locks) != 0 {
		t.Errorf("got %s, %d signals, %d locks are left", reply, len(told), len(s.locks))
	}
	s.locks["lock:x"] = found("t", time.Second)
	const many = `for i = 1, 9 do redis.call('keys', 'lock:' .. i .. '*') end return redis.call('del', 'lock:x')`
	if reply, _ := s.sweep(t, in, many, func() {}); reply != "-ERR This script is not a lock script: it asks KEYS for many patterns" {
		t.Errorf("with many patterns: %s", reply)
	}
}

// In EXEC no keys can be listed.
func TestSweepInExec(t *testing.T) {
	in := New(rejecting(), func() int64 { return fakeNow })
	for _, before := range []string{"", "GET k;"} {
		commands := queue(strings.Split(before+"EVAL x 0", ";")...)
		commands[len(commands)-1][1] = []byte(freeAll)
		req := in.Exec(3, nil, commands)
		if len(req.Ops) != 0 || show(req.Reply(nil)) != "-ERR KEYS in a script is allowed only outside MULTI" {
			t.Errorf("%q: %s, %s", before, showOps(req.Ops), show(req.Reply([]*quorum.Outcome{})))
		}
	}
}

// A sweep needs what it does to the locks that were found, and tells of them.
func TestRightsOfASweep(t *testing.T) {
	const freeMy = `for _, k in ipairs(redis.call('keys', ARGV[1])) do redis.call('del', k) end return 1`
	for _, tt := range []struct {
		rights Operations
		keys   []string
		want   string
	}{
		{MayRemove, []string{"my"}, noCommand("eval")},
		{MayRead, []string{"my"}, noCommand("eval")},
		{MayRead | MayRemove, []string{"my", "other"}, noKey},
		{MayRead | MayRemove, []string{"my"}, ""},
	} {
		req := understand(t, narrowed(fakeRights(tt.rights)), evalling(freeMy, "0 *"))
		if req.Sweep != nil {
			req = req.Sweep.Understand(tt.keys)
		}
		got := ""
		if len(req.Ops) == 0 {
			got = show(req.Reply(nil))
		}
		if got != tt.want {
			t.Errorf("%06b on %s: got %q, want %q", tt.rights, tt.keys, got, tt.want)
		}
	}
}

// TestC7NoLockIsTakenByASweep checks that a script which takes a lock is refused if it calls
// KEYS: a lock that comes after the listing is not found, so two clients might each find that
// the other has none (C7).
func TestC7NoLockIsTakenByASweep(t *testing.T) {
	const takeUnlessAny = `
		if #redis.call('keys', 'lock:*') > 0 then return 0 end
		redis.call('set', 'all', 't', 'PX', 500)
		return 1`
	in, s := New(rejecting(), func() int64 { return fakeNow }), newStore()
	reply, _ := s.sweep(t, in, takeUnlessAny, func() { s.locks["lock:a"] = found("u", time.Second) })
	if !strings.HasPrefix(reply, "-ERR") || s.locks["all"].Found {
		t.Errorf("got %s and %s, while another client has lock:a", reply, s.holds("all"))
	}
}
