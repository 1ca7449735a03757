package commands

import (
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

// fakeRights allow keys and channels that begin with "my".
type fakeRights Operations

func (r fakeRights) May(ops Operations) bool  { return ops&^Operations(r) == 0 }
func (r fakeRights) Key(key string) bool      { return strings.HasPrefix(key, "my") }
func (r fakeRights) Channel(name string) bool { return strings.HasPrefix(name, "my") }
func narrowed(r Rights) *Interpreter          { return New(lenient(), func() int64 { return fakeNow }).For(r) }
func noCommand(name string) string            { return "-" + NoPermCommand(name) }
func evalling(script, rest string) string {
	return "EVAL " + strings.ReplaceAll(script, " ", "~") + " " + rest
}

const (
	noKey     = "-" + NoPermKey
	noChannel = "-" + NoPermChannel

	deleteOurs = `if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end`
	expireOurs = `if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) else return 0 end`
	takeFree   = `if redis.call('set',KEYS[1],ARGV[1],'NX','PX',ARGV[2]) then return 1 else return 0 end`
	tellTTL    = `if redis.call('get',KEYS[1])==ARGV[1] then redis.call('del',KEYS[1]) return 'x' end return redis.call('pttl',KEYS[1])`
	steal      = `redis.call('set',KEYS[1],ARGV[1],'PX',ARGV[2]) return 1`
	deleteAll  = `for _,k in ipairs(KEYS) do if redis.call('get',k)==ARGV[1] then redis.call('del',k) end end return 1`
	deleteSome = `local v = redis.call('get',KEYS[1]) if v and #v > 3 then redis.call('del',KEYS[1]) end return 1`
	prefixed   = `if redis.call('get',KEYS[1])=='p:'..ARGV[1] then return redis.call('del',KEYS[1]) end return 0`
	otherKey   = `if redis.call('get','other')==ARGV[1] then return redis.call('del','other') end return 0`
	publishes  = `if redis.call('get',KEYS[1])==ARGV[1] then redis.call('del',KEYS[1]) redis.call('publish',ARGV[2],'x') return 1 end return 0`
	signals    = `if not (redis.call('get',KEYS[1])==ARGV[1]) then return 0 end redis.call('del',KEYS[2]) redis.call('lpush',KEYS[2],1) redis.call('pexpire',KEYS[2],100) redis.call('del',KEYS[1]) return 1`
)

// Each command needs exactly these operations: with them it is understood,
// and without any one of them it is refused and asks nothing of a master.
func TestRightsByOperation(t *testing.T) {
	for _, tt := range []struct {
		command string
		needs   Operations
	}{
		{"SET my t NX PX 1000", MayAcquire},
		{"SETNX my t", MayAcquire},
		{"SET my t NX GET PX 1000", MayAcquire | MayRead},
		{"SET my t IFEQ t PX 1000", MayExtend},
		{"SET my t IFEQ t GET PX 1000", MayExtend | MayRead},
		{"SET my t PX 1000", MayRemove},
		{"SET my t XX KEEPTTL", MayRemove},
		{"SET my t GET PX 1000", MayRemove | MayRead},
		{"PSETEX my 1000 t", MayRemove},
		{"GETSET my t", MayRemove | MayRead},
		{"GETDEL my", MayRemove | MayRead},
		{"GET my", MayRead},
		{"MGET my my2", MayRead},
		{"EXISTS my", MayRead},
		{"PTTL my", MayRead},
		{"TYPE my", MayRead},
		{"DEL my my2", MayRemove},
		{"DELEX my", MayRemove},
		{"DELEX my IFEQ t", MayRelease},
		{"DELIFEQ my t", MayRelease},
		{"PEXPIRE my 100", MayRemove},
		{"PEXPIRE my 100 GT", MayRemove},
		{"PERSIST my", MayRemove},
		{"SCRIPT FLUSH", MayAdmin},
		{evalling(deleteOurs, "1 my t"), MayRelease},
		{evalling(expireOurs, "1 my t 1000"), MayExtend},
		{evalling(takeFree, "1 my t 1000"), MayAcquire},
		{evalling(tellTTL, "1 my t"), MayRelease | MayRead},
		{evalling(steal, "1 my t 1000"), MayRemove | MayRead},
		{evalling(deleteAll, "2 my my2 t"), MayRelease | MayRead},
		{evalling(deleteSome, "1 my t"), MayRemove | MayRead},
		{evalling("return redis.call('get',KEYS[1])", "1 my"), MayRead},
	} {
		name := strings.ToLower(strings.Fields(tt.command)[0])
		if name == "script" {
			name = "script|flush"
		}
		if req := understand(t, narrowed(fakeRights(tt.needs)), tt.command); len(req.Ops) == 0 && show(req.Reply(nil)) != "+OK" {
			t.Errorf("%s with all it needs: %s", tt.command, show(req.Reply(nil)))
		}
		for op := MayAcquire; op <= MayAdmin; op <<= 1 {
			if tt.needs&op == 0 {
				continue
			}
			req := understand(t, narrowed(fakeRights(tt.needs&^op)), tt.command)
			if len(req.Ops) != 0 {
				t.Errorf("%s without %06b: %s, want no operation", tt.command, op, showOps(req.Ops))
			} else if got := show(req.Reply(nil)); got != noCommand(name) {
				t.Errorf("%s without %06b: %s, want %s", tt.command, op, got, noCommand(name))
			}
		}
	}
}

func TestRightsByKey(t *testing.T) {
	for _, tt := range []struct{ command, want string }{
		{"SET other t NX PX 1000", noKey},
		{"GET other", noKey},
		{"MGET my other", noKey},
		{"DEL my other", noKey},
		{"PEXPIRE other 100 NX", noKey},
		{evalling(deleteOurs, "1 other t"), noKey},
		{evalling(deleteOurs, "2 my other t"), noKey},
		{evalling(otherKey, "1 my t"), noKey},
		{evalling(deleteAll, "2 my other t"), noKey},
		{evalling(signals, "2 my other t"), noKey},
		{evalling(publishes, "1 my t other"), noChannel},
		{evalling("return 1", "1 other"), noKey},
		{"EVAL return~1 x other", noInt},
		{"SET other t NX PX", noKey},
	} {
		req := understand(t, narrowed(fakeRights(MayAll)), tt.command)
		if len(req.Ops) != 0 {
			t.Errorf("%s: %s, want no operation", tt.command, showOps(req.Ops))
		} else if got := show(req.Reply(nil)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.command, got, tt.want)
		}
	}
	for _, command := range []string{evalling(signals, "2 my mylist t"), evalling(publishes, "1 my t mychannel")} {
		if req := understand(t, narrowed(fakeRights(MayAll)), command); len(req.Ops) != 1 {
			t.Errorf("%s: %s", command, show(req.Reply(nil)))
		}
	}
}

// A script that makes the token itself shows only in the run what it does: it
// is looked at there, and nothing is done.
func TestRightsInTheRun(t *testing.T) {
	for _, tt := range []struct {
		rights Operations
		want   string
	}{
		{MayRelease | MayRead, noCommand("eval")},
		{MayRemove | MayRead, ":1"},
	} {
		req := understand(t, narrowed(fakeRights(tt.rights)), evalling(prefixed, "1 my t"))
		op, reply := decideOn(t, req, found("p:t", time.Second), quorum.Won)
		if reply != tt.want || (op == "read my") != (tt.want != ":1") {
			t.Errorf("%06b: %s, %s; want %s", tt.rights, op, reply, tt.want)
		}
	}
}

// What the client has named is known in the run, when the read buffer holds the next command
// (S1).
func TestS1RightsBehindThePipeline(t *testing.T) {
	const deleteLong = `if redis.call('pttl',KEYS[1]) > 9 and redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0`
	words := line(evalling(deleteLong, "1 my t"))
	req, _ := narrowed(fakeRights(MayRelease|MayRead)).Understand(3, words)
	for i, next := range line("EVAL return~1 1 other u") {
		copy(words[i], next)
		words[i] = next
	}
	if op, reply := decideOn(t, req, found("t", time.Second), quorum.Won); op != "release my t" || reply != ":1" {
		t.Errorf("got %s, %s, want a release", op, reply)
	}
}

// A transaction needs what its commands need; under WATCH a command without a
// token is conditional.
func TestRightsInTransactions(t *testing.T) {
	seen := func(key string) []Watched {
		return []Watched{{DB: 3, Key: key, Outcome: held("t"), Watch: &quorum.Watch{}}}
	}
	for _, tt := range []struct {
		rights  Operations
		watched []Watched
		queue   string
		want    string
	}{
		{MayRelease, nil, "DEL my", noCommand("del")},
		{MayRelease | MayRead, seen("my"), "DEL my", ""},
		{MayRead, seen("my"), "DEL my", noCommand("del")},
		{MayRelease | MayRead, seen("my2"), "DEL my", noCommand("exec")},
		{MayRelease | MayRead, seen("my"), "GET my;DEL my", ""},
		{MayRelease | MayRead, seen("my"), "GET my;DEL my2", noCommand("exec")},
		{MayExtend | MayRead, seen("my"), "PEXPIRE my 1000", ""},
		{MayAcquire | MayExtend, nil, "SETNX my t;PEXPIRE my 1000", noCommand("pexpire")},
		{MayAll, nil, "SETNX my t;PEXPIRE my 1000", ""},
		{MayAll, nil, "SETNX other t;PEXPIRE my 1000", noKey},
		{MayRead, nil, "SCRIPT FLUSH", noCommand("script|flush")},
		{MayRead, nil, evalling(deleteOurs, "1 my t"), noCommand("eval")},
	} {
		var queue [][][]byte
		for _, command := range strings.Split(tt.queue, ";") {
			queue = append(queue, line(command))
		}
		req := narrowed(fakeRights(tt.rights)).Exec(3, tt.watched, queue)
		got := ""
		if len(req.Ops) == 0 {
			got = show(req.Reply(nil))
		}
		if got != tt.want {
			t.Errorf("%06b %s: got %q, want %q", tt.rights, tt.queue, got, tt.want)
		}
	}
}
