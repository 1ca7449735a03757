package commands

import (
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

// tooLongMillis is a TTL of an hour, where max_ttl is five minutes.
const tooLongMillis = "3600000"

// tooLong are the ways to ask for a TTL, each of an hour.
var tooLong = func() (list []string) {
	at := itoa(fakeNow + 3_600_000)
	for _, given := range []string{"PX 3600000", "EX 3600", "PXAT " + at, "EXAT " + itoa(fakeNow/1000+3600)} {
		for _, options := range []string{"", "NX", "XX", "GET", "NX GET", "XX GET", "IFEQ t", "IFEQ t GET", "XX IFEQ old",
			"IFNE x", "IFNE t GET", "IFDEQ " + digestT, "IFDNE " + digestT} {
			list = append(list, strings.TrimSpace("SET k t "+given+" "+options))
		}
		list = append(list, "SET k t NX "+given, "GETEX k "+given,
			"MSETEX 1 k t NX "+given, "MSETEX 2 k t k2 t XX "+given, "MSETEX 1 k t "+given)
	}
	list = append(list, "SETEX k 3600 t", "PSETEX k 3600000 t")
	for _, flag := range []string{"", " XX", " NX", " GT", " LT"} {
		list = append(list, "EXPIRE k 3600"+flag, "PEXPIRE k 3600000"+flag,
			"PEXPIREAT k "+at+flag, "EXPIREAT k "+itoa(fakeNow/1000+3600)+flag)
	}
	for _, body := range tooLongScripts {
		list = append(list, evalling(strings.Join(strings.Fields(body), " "), "1 k t "+tooLongMillis),
			evalling(strings.Join(strings.Fields(body), " "), "2 k k2 t "+tooLongMillis))
	}
	return list
}()

// tooLongScripts give KEYS[1] ARGV[2] milliseconds, each in another way.
var tooLongScripts = []string{
	compareExpire, takeFree, steal, addTTL,
	// A branch for "mine already", and a reply that tells what is left.
	`if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 'OK' end
	 if redis.call('get', KEYS[1]) == ARGV[1] then
	   redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 'OK' end
	 return redis.call('pttl', KEYS[1])`,
	`local v = redis.call('get', KEYS[1])
	 if not v then redis.call('set', KEYS[1], ARGV[1]) elseif v:sub(1, 1) ~= ARGV[1]:sub(1, 1) then return 0 end
	 redis.call('pexpire', KEYS[1], ARGV[2]) return 1`,
	`if redis.call('setnx', KEYS[1], ARGV[1]) == 0 then return 0 end return redis.call('pexpire', KEYS[1], ARGV[2])`,
	`if redis.call('exists', KEYS[1]) == 0 then redis.call('psetex', KEYS[1], ARGV[2], ARGV[1]) return 1 end return 0`,
	`if redis.call('exists', KEYS[1]) == 0 then redis.call('setex', KEYS[1], ARGV[2] / 1000, ARGV[1]) return 1 end return 0`,
	`redis.call('getset', KEYS[1], ARGV[1]) redis.call('pexpire', KEYS[1], ARGV[2]) return 1`,
	`redis.call('mset', KEYS[1], ARGV[1]) return redis.call('expire', KEYS[1], math.floor(ARGV[2] / 1000))`,
	`redis.call('msetnx', KEYS[1], ARGV[1]) return redis.call('pexpire', KEYS[1], ARGV[2])`,
	`redis.call('set', KEYS[1], ARGV[1], 'PXAT', ` + itoa(fakeNow) + ` + ARGV[2]) return 1`,
	`redis.call('set', KEYS[1], ARGV[1]) redis.call('pexpireat', KEYS[1], ` + itoa(fakeNow) + ` + ARGV[2]) return 1`,
	`redis.call('set', KEYS[1], ARGV[1]) redis.call('expireat', KEYS[1], ` + itoa(fakeNow/1000) + ` + ARGV[2] / 1000) return 1`,
}

// C3: a TTL above max_ttl is refused in every form and in every state,
// whatever no_expiry says: that is for locks that ask for no TTL. One that was
// told OK and kept for less would be another's while its holder relies on it.
func TestTooLongIsNeverCut(t *testing.T) {
	for _, cfg := range []Config{rejecting(), lenient()} {
		in := New(cfg, func() int64 { return fakeNow })
		for _, command := range tooLong {
			neverGrants(t, in, cfg, command, understand(t, in, command))
			for _, before := range []string{"", "GET k;", "SETNX k2 t;PEXPIRE k2 1000;"} {
				queue := [][][]byte{}
				for _, queued := range strings.Split(before+command, ";") {
					queue = append(queue, line(queued))
				}
				neverGrants(t, in, cfg, "MULTI "+before+command, in.Exec(3, nil, queue))
				for _, seen := range []*quorum.Outcome{absent(), held("t"), held("old")} {
					watched := []Watched{{DB: 3, Key: "k", Outcome: seen, Watch: &quorum.Watch{}}}
					neverGrants(t, in, cfg, "WATCH MULTI "+before+command, in.Exec(3, watched, queue))
				}
			}
		}
		for _, command := range []string{"SETNX k t;PEXPIRE k 3600000", "SET k t NX;EXPIRE k 3600", "GETSET k t;PEXPIRE k 3600000"} {
			queue := [][][]byte{}
			for _, queued := range strings.Split(command, ";") {
				queue = append(queue, line(queued))
			}
			neverGrants(t, in, cfg, "MULTI "+command, in.Exec(3, nil, queue))
		}
	}
}

// neverGrants sees to it that a request that asks for too long gives no lock a
// TTL, in no state, and does not say that it did.
func neverGrants(t *testing.T, in *Interpreter, cfg Config, command string, req Request) {
	t.Helper()
	states := []quorum.State{{}, found("t", 2*time.Second), found("old", 2*time.Second), found("t", cfg.MaxTTL)}
	if len(req.Ops) == 0 {
		honest(t, cfg, command, show(req.Reply(nil)))
	}
	for _, op := range req.Ops {
		if op.TTL > 0 {
			t.Errorf("no_expiry %s: %s: %s", cfg.NoExpiry, command, showOp(op))
		}
		for _, s := range states {
			o := &quorum.Outcome{Verdict: stateVerdict(s), State: s, Done: quorum.Read}
			switch op.Kind {
			case quorum.Decide:
				did := op.Decide(s)
				if did.TTL > 0 {
					t.Errorf("no_expiry %s: %s: on %q: %s", cfg.NoExpiry, command, s.Token, showOp(did))
				}
			case quorum.DecideAll:
				all := make([]quorum.State, len(op.Keys))
				for i := range all {
					all[i] = s
				}
				for _, change := range op.DecideAll(all) {
					if change.TTL > 0 && change.Key == "k" {
						t.Errorf("no_expiry %s: %s: on %q: %s gets %v", cfg.NoExpiry, command, s.Token, change.Key, change.TTL)
					}
				}
				o.Verdict = quorum.Won
			default:
				continue
			}
			honest(t, cfg, command, show(req.Reply([]*quorum.Outcome{o})))
		}
	}
}

// honest sees to it that the reply is the error, or one that says that nothing
// was done.
func honest(t *testing.T, cfg Config, command, reply string) {
	t.Helper()
	for _, yes := range []string{"+OK", ":1", "$OK"} {
		if reply == yes || strings.HasPrefix(reply, "[") && strings.HasSuffix(reply, yes+"]") {
			t.Errorf("no_expiry %s: %s: %s", cfg.NoExpiry, command, reply)
		}
	}
}

// A lock for which no TTL is asked is the one thing that no_expiry is about.
func TestOnlyWithoutATTLIsFilledIn(t *testing.T) {
	in := New(lenient(), func() int64 { return fakeNow })
	for _, command := range []string{"SET k t NX", "SETNX k t", "SET k t", "SET k t IFEQ t", "PERSIST k",
		evalling(`return redis.call('setnx',KEYS[1],ARGV[1])`, "1 k t")} {
		if req := understand(t, in, command); len(req.Ops) != 1 || req.Ops[0].TTL != lenient().MaxTTL {
			t.Errorf("%s: %s", command, showOps(req.Ops))
		}
	}
}
