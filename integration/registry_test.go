package integration

import (
	"fmt"
	"testing"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// The scripts of a lock registry as Spring Integration has it: an obtain, which
// renews a lock that is its own already, a renewal and two kinds of release.
const (
	registryObtain = `local holder = redis.call('GET', KEYS[1])
if not holder then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return true
end
if holder == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return true
end
return false`
	registryRenew = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return false
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return true`
	registryUnlock = `local holder = redis.call('GET', KEYS[1])
if holder == ARGV[1] then
  redis.call('UNLINK', KEYS[1])
  return true
end
return false`
	registryUnlockAndTell = `local holder = redis.call('GET', KEYS[1])
if holder == ARGV[1] and redis.call('UNLINK', KEYS[1]) == 1 then
  redis.call('PUBLISH', ARGV[2], KEYS[1])
  return true
end
return false`
)

// registry is one process's locks: all of them have its id as their token, and a TTL.
type registry struct {
	*Wire
	id     string
	unlock string
	ttl    time.Duration
}

// does reports whether a script said true, which is 1; false is nil.
func (r registry) does(script, key string, args ...string) bool {
	r.tb.Helper()
	got := r.Ask(append([]string{"EVAL", script, "1", key, r.id}, args...)...)
	if got != ":1\r\n" && got != "$-1\r\n" && got != "_\r\n" {
		r.tb.Fatalf("%s of %s: %q", r.id, key, got)
	}
	return got == ":1\r\n"
}

func (r registry) obtains(key string) bool {
	r.tb.Helper()
	return r.does(registryObtain, key, fmt.Sprint(r.ttl.Milliseconds()))
}

func (r registry) renews(key string) bool {
	r.tb.Helper()
	return r.does(registryRenew, key, fmt.Sprint(r.ttl.Milliseconds()))
}

func (r registry) unlocks(key string) bool {
	r.tb.Helper()
	return r.does(r.unlock, key, "registry:told")
}

// mustObtain tries until the lock is had: a TTL that is over before a majority was
// heard, as on a busy machine, is none.
func (r registry) mustObtain(key string) {
	r.tb.Helper()
	eventually(r.tb, r.id+" obtains "+key, func() (bool, string) { return r.obtains(key), "held" })
}

// waitOver returns right when the TTL of a lock is over, as who asks for its key sees it.
func (r registry) waitOver(key string) {
	r.tb.Helper()
	for until := time.Now().Add(rig.Patience); r.Ask("GET", key) != "$-1\r\n"; {
		if time.Now().After(until) {
			r.tb.Fatalf("%s does not end", key)
		}
	}
}

// registryCases are what a registry's users do with a lock whose TTL is shorter than
// their work. The first has the lock for 100 ms, the second for a minute.
var registryCases = []struct {
	name string
	run  func(t *testing.T, first, second registry, key string)
}{
	{"unlock after the TTL says so, and frees", func(t *testing.T, first, second registry, key string) {
		first.mustObtain(key)
		first.waitOver(key)
		if first.unlocks(key) {
			t.Error("the unlock of a lock whose TTL is over says that it was its own")
		}
		if !second.obtains(key) {
			t.Error("it is refused to the next one at once after")
		}
		if first.unlocks(key) {
			t.Error("another unlock of the first frees the second's lock")
		}
	}},
	{"a renewal after the TTL says so, and takes nothing from the next one", func(t *testing.T, first, second registry, key string) {
		first.mustObtain(key)
		first.waitOver(key)
		for range 10 {
			if first.renews(key) {
				t.Fatal("a lock whose TTL is over was renewed")
			}
		}
		second.mustObtain(key)
		if first.renews(key) {
			t.Error("the first renews what the second has")
		}
	}},
	{"two registries, one after the other", func(t *testing.T, first, second registry, key string) {
		first.mustObtain(key)
		if second.obtains(key) {
			t.Error("two have the lock")
		}
		first.waitOver(key)
		second.mustObtain(key)
		if first.obtains(key) {
			t.Error("the first obtains what the second has")
		}
	}},
	{"unlock leaves another's lock", func(t *testing.T, first, second registry, key string) {
		first.mustObtain(key)
		first.waitOver(key)
		second.mustObtain(key)
		if first.unlocks(key) || first.renews(key) {
			t.Error("the first unlocks or renews what the second has")
		}
		if got, want := second.Ask("GET", key), fmt.Sprintf("$%d\r\n%s\r\n", len(second.id), second.id); got != want {
			t.Errorf("GET is %q, want %q", got, want)
		}
		if !second.unlocks(key) {
			t.Error("the second's own unlock says that the lock is not its own")
		}
		if !first.obtains(key) {
			t.Error("it is refused to the first, though it was unlocked")
		}
	}},
	{"the same registry again", func(t *testing.T, first, second registry, key string) {
		first.mustObtain(key)
		first.waitOver(key)
		first.ttl = time.Minute
		first.mustObtain(key)
		if second.obtains(key) {
			t.Error("two have the lock")
		}
		if !first.unlocks(key) {
			t.Error("the unlock says that the lock is not its own")
		}
	}},
}

// TestRegistryAfterTheTTL is a lock with a TTL of 100 ms of a registry as Spring
// Integration's, on one Redis and on redlockd: what unlock says when it is over, and
// who gets it then. The masters keep what nobody frees for more than a second, so who
// gets it at once gets it because it was freed.
func TestRegistryAfterTheTTL(t *testing.T) {
	t.Parallel()
	masters := StartMasters(t, 3)
	cfg := overFive(masters)
	cfg.Timeout, cfg.RetryBudget = 500*time.Millisecond, 500*time.Millisecond
	for _, server := range []struct{ name, addr string }{
		{"Redis", rig.StartRedis(t).Addr},
		{"redlockd", StartRedlockd(t, cfg, masters).Addr},
	} {
		for kind, unlock := range map[string]string{"unlink": registryUnlock, "unlink and tell": registryUnlockAndTell} {
			for i, tt := range registryCases {
				t.Run(fmt.Sprintf("%s/%s/%s", server.name, kind, tt.name), func(t *testing.T) {
					first := registry{DialWire(t, server.addr), "first", unlock, 100 * time.Millisecond}
					second := registry{DialWire(t, server.addr), "second", unlock, time.Minute}
					tt.run(t, first, second, fmt.Sprintf("registry:%s:%d", kind, i))
				})
			}
		}
	}
}
