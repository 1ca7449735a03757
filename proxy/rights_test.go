package proxy

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/proxy/users"
)

// Operations in short.
const (
	acq  = commands.MayAcquire
	ext  = commands.MayExtend
	rel  = commands.MayRelease
	rd   = commands.MayRead
	rem  = commands.MayRemove
	adm  = commands.MayAdmin
	free = commands.Operations(0)
)

// form is one way to send a command, and what it needs.
type form struct {
	name, line string
	needs      commands.Operations
	// watched is whether it is sent in a transaction under WATCH, which needs
	// MayRead besides.
	watched bool
}

func (f form) text() string {
	if f.watched {
		return "WATCH my\r\nMULTI\r\n" + f.line + "\r\nEXEC\r\n"
	}
	return f.line + "\r\n"
}

// evaluated is EVAL of a script on the key my with the token t and 1000 ms.
func evaluated(name, body string, needs commands.Operations) form {
	return form{name: name, line: fmt.Sprintf("%s %q 1 my t 1000", strings.ToUpper(name), body), needs: needs}
}

// forms are all commands, each in every way that needs something else.
var forms = func() []form {
	list := []form{
		evaluated("eval", `if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end`, rel),
		evaluated("eval", `if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) else return 0 end`, ext),
		evaluated("eval", `if redis.call('set',KEYS[1],ARGV[1],'NX','PX',ARGV[2]) then return 1 else return 0 end`, acq),
		evaluated("eval", `redis.call('set',KEYS[1],ARGV[1],'PX',ARGV[2]) return 1`, rem|rd),
		evaluated("eval", `return redis.call('get',KEYS[1])`, rd),
		evaluated("eval_ro", `return redis.call('get',KEYS[1])`, rd),
		{name: "del", line: "DEL my", needs: rel, watched: true},
		{name: "unlink", line: "UNLINK my", needs: rel, watched: true},
		{name: "delex", line: "DELEX my", needs: rel, watched: true},
		{name: "setex", line: "SETEX my 1 t", needs: acq | ext, watched: true},
		{name: "psetex", line: "PSETEX my 100 t", needs: acq | ext, watched: true},
		{name: "persist", line: "PERSIST my", needs: ext, watched: true},
	}
	for _, name := range []string{"expire", "pexpire", "expireat", "pexpireat"} {
		later := map[bool]string{true: " 1795175292", false: " 10"}[strings.HasSuffix(name, "at")]
		if name == "pexpireat" {
			later = " 1795175292133"
		}
		list = append(list, form{name: name, line: name + " my" + later, needs: rem},
			form{name: name, line: name + " my" + later, needs: ext, watched: true})
		if !strings.HasSuffix(name, "at") {
			list = append(list, form{name: name, line: name + " my 0", needs: rel, watched: true})
		}
	}
	for line, needs := range map[string]commands.Operations{
		"SET my t NX PX 100": acq, "SET my t NX GET PX 100": acq | rd, "SET my t IFEQ t PX 100": ext,
		"SET my t PX 100": rem, "SET my t GET PX 100": rem | rd, "SETNX my t": acq, "SETEX my 1 t": rem, "PSETEX my 100 t": rem,
		"GETSET my t": rem | rd, "GETDEL my": rem | rd, "DEL my": rem, "UNLINK my": rem, "DELEX my": rem,
		"DELEX my IFEQ t": rel, "DELEX my IFDEQ 0123456789abcdef": rel, "DELEX my IFNE t": rem,
		"DELEX my IFDNE 0123456789abcdef": rem, "SET my t IFDEQ 0123456789abcdef PX 9": ext, "SET my t IFNE u PX 9": rem,
		"SET my t IFDNE 0123456789abcdef PX 9 GET": rem | rd, "GETEX my": rd, "GETEX my PX 9": rd | rem, "DIGEST my": rd,
		"MSETNX my t my2 t": acq, "MSETEX 1 my t NX PX 9": acq, "MSETEX 2 my t my2 t PX 9": rem, "DELIFEQ my t": rel, "PERSIST my": rem,
		"GET my": rd, "MGET my": rd, "EXISTS my": rd, "TOUCH my": rd, "TTL my": rd, "PTTL my": rd, "EXPIRETIME my": rd,
		"HSET my f 2": acq | ext, "HSETNX my f 2": acq, "HINCRBY my f 1": acq | ext, "HDEL my f": rel, "HGET my f": rd, "HMGET my f": rd,
		"HEXISTS my f": rd, "HLEN my": rd, "HKEYS my": rd, "HVALS my": rd, "HGETALL my": rd,
		"PEXPIRETIME my": rd, "STRLEN my": rd, "TYPE my": rd,
		"SCRIPT|LOAD 'return 1'": free, "SCRIPT|EXISTS x": free, "SCRIPT|FLUSH": adm, "SCRIPT|KILL": adm,
		"SCRIPT|DEBUG YES": free, "SCRIPT|HELP": free,
		"SCAN 0": rd, "KEYS *": rd, "LLEN my": rd, "WATCH my": rd, "BLPOP my 0.001": acq, "BRPOP my 0.001": acq,
		"LOCKS|LIST": rd, "LOCKS|WHO my": rd, "LOCKS|FORCE my": rem, "LOCKS|HELP": free,
		"CLIENT|LIST": adm, "CLIENT|KILL ID 1": adm, "CLIENT|PAUSE 1": adm, "CLIENT|CAPA x": adm,
		"ACL|CAT": adm, "ACL|LIST": adm, "ACL|USERS": adm, "ACL|GETUSER x": adm, "ACL|WHOAMI": free, "ACL|HELP": free,
		"SLOWLOG GET": adm, "LATENCY LATEST": adm,
	} {
		list = append(list, form{name: strings.ToLower(strings.Fields(line)[0]), line: strings.Replace(line, "|", " ", 1), needs: needs})
	}
	for line := range strings.SplitSeq(`PING,ECHO x,QUIT,RESET,HELLO 2,AUTH only1 pw,SELECT 0,INFO,CONFIG GET x,COMMAND COUNT,ROLE,TIME,DBSIZE,
		LASTSAVE,WAIT 0 0,READONLY,READWRITE,ASKING,CLUSTER INFO,MULTI,EXEC,DISCARD,UNWATCH,UNSUBSCRIBE,PUNSUBSCRIBE,
		SUNSUBSCRIBE,SUBSCRIBE c,PSUBSCRIBE *,SSUBSCRIBE c,PUBLISH c m,SPUBLISH c m,
		CLIENT|ID,CLIENT|GETNAME,CLIENT|SETNAME x,CLIENT|SETINFO LIB-NAME x,CLIENT|INFO,CLIENT|REPLY ON,CLIENT|NO-EVICT ON,
		CLIENT|NO-TOUCH ON,CLIENT|TRACKING OFF,CLIENT|CACHING YES,CLIENT|TRACKINGINFO,CLIENT|GETREDIR,CLIENT|UNPAUSE,
		CLIENT|HELP`, ",") {
		line = strings.TrimSpace(line)
		list = append(list, form{name: strings.ToLower(strings.Fields(line)[0]), line: strings.Replace(line, "|", " ", 1)})
	}
	return list
}()

// Every command is refused to who lacks one of the operations that it needs,
// and to nobody else: with each single right, and without each.
func TestEveryCommandWithEachRight(t *testing.T) {
	sets := map[string]commands.Operations{}
	for op := acq; op <= adm; op <<= 1 {
		sets[fmt.Sprintf("only%d", op)], sets[fmt.Sprintf("but%d", op)] = op, commands.MayAll&^op
	}
	for _, f := range forms {
		if f.needs |= watchNeeds(f); f.needs != 0 {
			sets[fmt.Sprintf("just%d", f.needs)] = f.needs
		}
	}
	var all []users.User
	for name, ops := range sets {
		all = append(all, users.User{Name: name, Passwords: []string{"pw"}, Keys: []string{"*"}, Channels: []string{"*"}, Operations: ops})
	}
	q := newFakeQuorum()
	cfg := commands.DefaultConfig()
	cfg.NoExpiry = commands.MaxTTLInstead
	srv := startWith(t, q, commands.New(cfg, q.Now), func(c *Config) { c.Passwords, c.Users = []string{"root"}, all })
	for _, f := range forms {
		for name, ops := range sets {
			c := srv.dial(t)
			c.send("AUTH " + name + " pw\r\n" + f.text() + "QUIT\r\n")
			replies, err := io.ReadAll(c.r)
			if err != nil || !strings.HasPrefix(string(replies), "+OK\r\n") {
				t.Fatalf("%s: %q, %v", f.line, replies, err)
			}
			lacks := (f.needs|watchNeeds(f))&^ops != 0
			if denied := strings.Contains(string(replies), "-NOPERM "); denied != lacks {
				t.Errorf("%q of one who may %v: %q, want NOPERM %v", f.text(), ops.Names(), replies, lacks)
			}
			c.Close()
		}
	}
}

func watchNeeds(f form) commands.Operations {
	if f.watched {
		return rd
	}
	return 0
}

// ACL CAT tells of each operation exactly the commands that were seen to need
// it, and no command was left out above.
func TestCategoriesAreWhatIsNeeded(t *testing.T) {
	seen := map[string]commands.Operations{}
	for _, f := range forms {
		seen[f.name] |= f.needs
	}
	seen["evalsha"], seen["evalsha_ro"] = seen["eval"], seen["eval_ro"]
	for op := acq; op <= adm; op <<= 1 {
		var want []string
		for _, name := range slices.Sorted(maps.Keys(seen)) {
			if seen[name]&op != 0 {
				want = append(want, name)
			}
		}
		got := mayMean(op)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("ACL CAT %v:\ngot  %v\nneed %v", op.Names(), got, want)
		}
	}
	for _, name := range allNames() {
		if _, ok := seen[name]; !ok {
			t.Errorf("%s is in no form", name)
		}
	}
}

// allNames are all commands and subcommands but those that nobody may send.
func allNames() (names []string) {
	for _, c := range commands.Table() {
		if c.Subcommands == nil {
			names = append(names, c.Name)
		}
		for _, sub := range c.Subcommands {
			names = append(names, sub.Name)
		}
	}
	for _, c := range localCommands {
		if len(c.subs) == 0 {
			names = append(names, c.name)
		}
		for name, sub := range c.subs {
			if !sub.refused() {
				names = append(names, c.name+"|"+name)
			}
		}
	}
	return names
}

// Who holds a lock is for who may admin: who may only read sees the lock, and
// nothing of its holder but since when.
func TestReaderSeesNoNames(t *testing.T) {
	user := func(name string, ops commands.Operations) users.User {
		return users.User{Name: name, Passwords: []string{"pw"}, Keys: []string{"*"}, Channels: []string{"*"}, Operations: ops}
	}
	srv := withUsers(t, user("secretive", acq), user("reader", commands.MayAll&^adm), user("chief", rd|adm))
	holds := srv.dial(t)
	holds.ask("AUTH secretive pw", "+OK\r\n")
	holds.ask("CLIENT SETNAME worker-7", "+OK\r\n")
	holds.ask("SET my t NX PX 1000", "+OK\r\n")
	holder := []string{"secretive", "worker-7", holds.LocalAddr().String()}
	for name, sees := range map[string]bool{"reader": false, "chief": true} {
		for _, proto := range []string{"2", "3"} {
			for command, last := range map[string]string{"LOCKS LIST": "more", "LOCKS WHO my": "copies"} {
				c := srv.dial(t)
				c.send("HELLO " + proto + " AUTH " + name + " pw\r\n" + command + "\r\n")
				got := c.until(last)
				if !strings.Contains(got, "age-ms") || !strings.Contains(got, "$4\r\nheld\r\n") {
					t.Errorf("%s of %s in RESP%s shows no lock: %q", command, name, proto, got)
				}
				for _, secret := range holder {
					if strings.Contains(got, secret) != sees {
						t.Errorf("%s of %s in RESP%s: %q is shown: %v\n%q", command, name, proto, secret, !sees, got)
					}
				}
			}
		}
	}
}
