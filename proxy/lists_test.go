package proxy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/commands"
)

const (
	freeAll = `EVAL "local l = redis.call('keys','lock:*') for _, k in ipairs(l) do redis.call('del',k) end return #l" 0`
)

// realCommands is a server whose commands are the real ones.
func realCommands(t *testing.T) *running {
	q := newFakeQuorum()
	return startWith(t, q, commands.New(commands.DefaultConfig(), q.Now), nil)
}

// A signal list is seen by those who look at it, as far as it passes through
// this redlockd, and by nobody in another database.
func TestSignalListsAreSeen(t *testing.T) {
	r := realCommands(t)
	c := r.dial(t)
	r.signals.Fill(commands.Notice{Signal: "s", Items: []string{"1", "2"}, TTL: time.Minute, Lock: "k"}, time.Now())
	c.ask("SET k t NX PX 1000", "+OK\r\n")
	for _, tt := range [][2]string{
		{"LLEN s", ":2\r\n"}, {"EXISTS s k nothing s", ":3\r\n"}, {"TTL s", ":60\r\n"}, {"TYPE s", "+list\r\n"},
		{"LLEN k", "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n"},
		{"LLEN nothing", ":0\r\n"}, {"TTL nothing", ":-2\r\n"}, {"TYPE k", "+string\r\n"}, {"EXISTS k", ":1\r\n"},
		{"BLPOP s 0", "*2\r\n$1\r\ns\r\n$1\r\n1\r\n"}, {"LLEN s", ":1\r\n"},
		{"LLEN redlockd:mark", "-ERR this key is redlockd's own\r\n"},
		{"SELECT 1", "+OK\r\n"}, {"LLEN s", ":0\r\n"}, {"EXISTS s", ":0\r\n"}, {"PTTL s", ":-2\r\n"}, {"SELECT 0", "+OK\r\n"},
		{"BRPOP s 0", "*2\r\n$1\r\ns\r\n$1\r\n2\r\n"}, {"LLEN s", ":0\r\n"}, {"TYPE s", "+none\r\n"},
	} {
		c.ask(tt[0], tt[1])
	}
	for _, drop := range [][2]string{{"DEL s", ":1\r\n"}, {"UNLINK nothing s k", ":2\r\n"}} {
		r.signals.Fill(commands.Notice{Signal: "s", Items: []string{"1"}, TTL: time.Minute, Lock: "k"}, time.Now())
		c.ask(drop[0], drop[1])
		c.ask("LLEN s", ":0\r\n")
	}
	r.signals.Fill(commands.Notice{Signal: "s", Items: []string{"1"}, TTL: time.Second, Lock: "k"}, time.Now().Add(-time.Second))
	c.ask("LLEN s", ":0\r\n")
	c.ask("EXISTS s", ":0\r\n")
}

// S1: a session's commands see what those before them fill, and nothing of those behind
// them, in whatever order the masters answer.
func TestS1SignalListsInAPipeline(t *testing.T) {
	const (
		release = `EVAL "if redis.call('get',KEYS[1])==ARGV[1] then redis.call('del',KEYS[2]) redis.call('lpush',KEYS[2],1)` +
			` redis.call('pexpire',KEYS[2],20000) redis.call('del',KEYS[1]) return 0 end return 1" 2 %s l t`
		popped = "*2\r\n$1\r\nl\r\n$1\r\n1\r\n"
	)
	for name, c := range map[string]struct {
		held, commands string
		asks           int // operations
		want           string
	}{
		"LLEN before a release":   {"l", "LLEN l\n" + fmt.Sprintf(release, "k"), 2, ":0\r\n:0\r\n"},
		"EXISTS before a release": {"l", "EXISTS l\n" + fmt.Sprintf(release, "k"), 2, ":0\r\n:0\r\n"},
		"LLEN behind a release":   {"k", fmt.Sprintf(release, "k") + "\nLLEN l", 2, ":0\r\n:1\r\n"},
		"EXISTS behind a release": {"k", fmt.Sprintf(release, "k") + "\nEXISTS l", 2, ":0\r\n:1\r\n"},
		"LLEN before BLPOP":       {"l", fmt.Sprintf(release, "k") + "\nLLEN l\nBLPOP l 1", 2, ":0\r\n:1\r\n" + popped},
		"BLPOP behind a release":  {"k", fmt.Sprintf(release, "k") + "\nMULTI\nBLPOP l 0\nEXEC", 1, ":0\r\n+OK\r\n+QUEUED\r\n*1\r\n" + popped},
	} {
		t.Run(name, func(t *testing.T) {
			r := realCommands(t)
			client := r.dial(t)
			client.ask("SET k t NX PX 1000", "+OK\r\n")
			r.q.hold(id(0, c.held))
			wait(t, "the lock", r.q.asked)
			client.send(strings.ReplaceAll(c.commands, "\n", "\r\n") + "\r\n")
			for range c.asks {
				wait(t, "the masters", r.q.asked)
			}
			r.q.release(id(0, c.held))
			client.want(c.want)
		})
	}
}

func TestKeys(t *testing.T) {
	r := realCommands(t)
	c := r.dial(t)
	c.ask("KEYS *", "*0\r\n")
	for i := range 3 {
		c.ask(fmt.Sprintf("SET a%d t NX PX 1000", i), "+OK\r\n")
	}
	c.ask("KEYS a[01]", "*2\r\n$2\r\na0\r\n$2\r\na1\r\n")
	c.ask("KEYS", "-ERR wrong number of arguments for 'keys' command\r\n")
	c.ask("MULTI", "+OK\r\n")
	c.ask("KEYS *", "-ERR Command not allowed inside a transaction\r\n")
	c.ask("DISCARD", "+OK\r\n")
	c.ask("SET two t NX PX 1000", "+OK\r\n")
	r.q.mu.Lock()
	r.q.locks[id(0, "two")] = "two say so"
	r.q.mu.Unlock()
	c.ask("KEYS t*", "-NOQUORUM 2 of 5 masters answered, 3 needed\r\n")
	r.q.mu.Lock()
	for i := range maxListed + 1 {
		r.q.locks[id(0, fmt.Sprintf("many:%d", i))] = "t"
	}
	r.q.mu.Unlock()
	c.ask("KEYS many:*", "-ERR more than 10000 locks match, SCAN and LOCKS LIST list them in parts\r\n")
	r.q.mu.Lock()
	delete(r.q.locks, id(0, "many:7"))
	r.q.mu.Unlock()
	c.send("KEYS many:*\r\n")
	c.want("*10000\r\n")
}

// A script that goes through all locks is told of those that are there, of its
// user's keys alone, and of as many as can be changed together.
func TestScriptWithKeys(t *testing.T) {
	reader := orders()
	reader.Keys, reader.Operations = []string{"lock:*"}, commands.MayAll
	srv := withUsers(t, reader)
	root, c := srv.dial(t), srv.dial(t)
	root.ask("AUTH root", "+OK\r\n")
	c.ask("AUTH orders pw", "+OK\r\n")
	c.ask(freeAll, ":0\r\n")
	root.ask("SET lock:a t NX PX 1000", "+OK\r\n")
	root.ask("SET other t NX PX 1000", "+OK\r\n")
	c.ask(freeAll, ":1\r\n")
	c.ask("MULTI", "+OK\r\n")
	c.ask(freeAll, "+QUEUED\r\n")
	c.ask("EXEC", "-ERR KEYS in a script is allowed only outside MULTI\r\n")
	srv.q.mu.Lock()
	for i := range commands.MaxSwept + 1 {
		srv.q.locks[id(0, fmt.Sprintf("lock:%d", i))] = "t"
	}
	srv.q.mu.Unlock()
	c.ask(freeAll, "-ERR more than 32 locks match, SCAN and LOCKS LIST list them in parts\r\n")
}
