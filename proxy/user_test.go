package proxy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/proxy/users"
)

const (
	wrongPass = "-WRONGPASS invalid username-password pair or user is disabled.\r\n"
	noKey     = "-" + commands.NoPermKey + "\r\n"
	noChannel = "-" + commands.NoPermChannel + "\r\n"
)

func noCommand(name string) string { return "-" + commands.NoPermCommand(name) + "\r\n" }

// orders is a user with some rights.
func orders() users.User {
	return users.User{Name: "orders", Passwords: []string{"pw"}, Keys: []string{"locks:orders:*", "signal:[a-c]"},
		Channels: []string{"orders:*"}, Operations: commands.MayAcquire | commands.MayRelease}
}

func withUsers(t *testing.T, users ...users.User) *running {
	t.Helper()
	q := newFakeQuorum()
	return startWith(t, q, commands.New(commands.DefaultConfig(), q.Now), func(c *Config) {
		c.Passwords, c.Users = []string{"root"}, users
	})
}

// The texts are redis-server 7.0.15's. Nothing that is refused asks a master.
func TestUserIsDenied(t *testing.T) {
	srv := withUsers(t, orders())
	c := srv.dial(t)
	c.ask("AUTH orders pw", "+OK\r\n")
	for _, tt := range [][2]string{
		{"ACL WHOAMI", "$6\r\norders\r\n"},
		{"get locks:orders:1", noCommand("get")},
		{"SET locks:other t NX PX", noKey},
		{"SET locks:orders:1 t NX PX", "-ERR syntax error\r\n"},
		{"GET locks:other", noCommand("get")},
		{"SET locks:other t NX PX 1000", noKey},
		{"SET locks:orders:1 t PX 1000", noCommand("set")},
		{"DEL locks:orders:1", noCommand("del")},
		{"DEL locks:other", noCommand("del")},
		{"EVAL \"return redis.call('get',KEYS[1])\" 1 locks:orders:1", noCommand("eval")},
		{"EVAL \"return redis.call('del',KEYS[1])\" 1 locks:other", noCommand("eval")},
		{"EVAL \"if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end\" 1 locks:other t", noKey},
		{"WATCH locks:orders:1", noCommand("watch")},
		{"BLPOP locks:other 1", noKey},
		{"PUBLISH other x", noChannel},
		{"SUBSCRIBE orders:1 other", noChannel},
		{"SSUBSCRIBE other", noChannel},
		{"PSUBSCRIBE orders:1*", noChannel},
		{"CLIENT LIST", noCommand("client|list")},
		{"CLIENT KILL ID 1", noCommand("client|kill")},
		{"SLOWLOG GET", noCommand("slowlog|get")},
		{"SCAN 0", noCommand("scan")},
		{"LOCKS LIST", noCommand("locks|list")},
		{"LOCKS WHO locks:orders:1", noCommand("locks|who")},
		{"LOCKS FORCE locks:orders:1", noCommand("locks|force")},
		{"SCRIPT FLUSH", noCommand("script|flush")},
		{"ACL LIST", noCommand("acl|list")},
		{"ACL GETUSER orders", noCommand("acl|getuser")},
		{"ACL SETUSER orders", noCommand("acl|setuser")},
		{"ACL FOO", "-ERR unknown subcommand 'FOO'. Try ACL HELP.\r\n"},
		{"MULTI", "+OK\r\n"}, {"DEL locks:orders:1", noCommand("del")}, {"PING", "+QUEUED\r\n"},
		{"EXEC", "-EXECABORT Transaction discarded because of previous errors.\r\n"},
		{"MULTI", "+OK\r\n"}, {"PUBLISH other x", noChannel},
		{"EXEC", "-EXECABORT Transaction discarded because of previous errors.\r\n"},
	} {
		c.ask(tt[0], tt[1])
	}
	if len(srv.q.order) != 0 {
		t.Errorf("masters were asked: %v", srv.q.order)
	}
	if d := srv.Defences(); d.Denied < 20 {
		t.Errorf("%d are counted as denied", d.Denied)
	}
	for _, tt := range [][2]string{
		{"SET locks:orders:1 t NX PX 1000", "+OK\r\n"},
		{"CLIENT SETNAME me", "+OK\r\n"},
		{"PUBLISH orders:1 x", ":0\r\n"},
		{"SUBSCRIBE orders:1", "*3\r\n$9\r\nsubscribe\r\n$8\r\norders:1\r\n:1\r\n"},
		{"PSUBSCRIBE orders:*", "*3\r\n$10\r\npsubscribe\r\n$8\r\norders:*\r\n:2\r\n"},
	} {
		c.ask(tt[0], tt[1])
	}
}

func TestUserLogsIn(t *testing.T) {
	sum := sha256.Sum256([]byte("secret"))
	hashed := users.User{Name: "hashed", Passwords: []string{"old", "#" + hex.EncodeToString(sum[:])}, Keys: []string{"*"},
		Operations: commands.MayAll}
	srv := withUsers(t, orders(), hashed)
	c := srv.dial(t)
	c.ask("AUTH hashed nosuch", wrongPass)
	c.ask("AUTH hashed #"+hex.EncodeToString(sum[:]), wrongPass)
	c.ask("AUTH hashed secret", "+OK\r\n")
	c.ask("AUTH hashed old", "+OK\r\n")
	c.ask("GET any", "$-1\r\n")
	c.ask("ACL USERS", "*3\r\n$7\r\ndefault\r\n$6\r\nhashed\r\n$6\r\norders\r\n")
	c.ask("ACL CAT", "*6\r\n$7\r\nacquire\r\n$6\r\nextend\r\n$7\r\nrelease\r\n$4\r\nread\r\n$6\r\nremove\r\n$5\r\nadmin\r\n")
	c.ask("ACL CAT nosuch", "-ERR Unknown category 'nosuch'\r\n")
	c.ask("ACL LIST", "*3\r\n"+lengthy("user default on #(hidden) ~* &* +@all")+
		lengthy("user hashed on #(hidden) #(hidden) ~* resetchannels -@all +@acquire +@extend +@release +@read +@remove +@admin")+
		lengthy("user orders on #(hidden) ~locks:orders:* ~signal:[a-c] resetchannels &orders:* -@all +@acquire +@release"))
	c.ask("ACL GETUSER nosuch", "$-1\r\n")
	c.ask("ACL GETUSER orders", "*12\r\n"+lengthy("flags")+"*1\r\n"+lengthy("on")+lengthy("passwords")+"*1\r\n"+lengthy("(hidden)")+
		lengthy("commands")+lengthy("-@all +@acquire +@release")+lengthy("keys")+lengthy("~locks:orders:* ~signal:[a-c]")+
		lengthy("channels")+lengthy("&orders:*")+lengthy("selectors")+"*0\r\n")
	c.ask("ACL SETUSER x", noCommand("acl|setuser"))
	c.ask("AUTH orders pw", "+OK\r\n")
	c.ask("GET any", noCommand("get"))
	c.ask("RESET", "+RESET\r\n")
	c.ask("GET any", "-NOAUTH Authentication required.\r\n")
	c.ask("AUTH root", "+OK\r\n")
	c.ask("ACL WHOAMI", lengthy("default"))
	c.send("HELLO 3 AUTH orders pw SETNAME me\r\nACL WHOAMI\r\nQUIT\r\n")
	if got, _ := io.ReadAll(c.r); !strings.HasSuffix(string(got), lengthy("orders")+"+OK\r\n") {
		t.Errorf("got %q", got)
	}
}

func lengthy(text string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text) }

// With users and without a password of its own there is no default user.
func TestNoDefaultUser(t *testing.T) {
	q := newFakeQuorum()
	srv := startWith(t, q, commands.New(commands.DefaultConfig(), q.Now), func(c *Config) { c.Users = []users.User{orders()} })
	c := srv.dial(t)
	c.ask("PING", "-NOAUTH Authentication required.\r\n")
	c.ask("AUTH pw", wrongPass)
	c.ask("AUTH orders pw", "+OK\r\n")
}

// S6: users change without dropping sessions, as on Redis.
func TestReloadUsers(t *testing.T) {
	gone := users.User{Name: "gone", Passwords: []string{"pw"}, Keys: []string{"*"}, Channels: []string{"*"}, Operations: commands.MayAll}
	srv := withUsers(t, orders(), gone)
	stays, ends, hears, root := srv.dial(t), srv.dial(t), srv.dial(t), srv.dial(t)
	stays.ask("AUTH orders pw", "+OK\r\n")
	hears.ask("AUTH orders pw", "+OK\r\n")
	hears.ask("SUBSCRIBE orders:1", "*3\r\n$9\r\nsubscribe\r\n$8\r\norders:1\r\n:1\r\n")
	ends.ask("AUTH gone pw", "+OK\r\n")
	ends.ask("SUBSCRIBE x", "*3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n")
	root.ask("AUTH root", "+OK\r\n")
	stays.ask("MULTI", "+OK\r\n")

	cfg := *srv.cfg()
	changed := orders()
	changed.Passwords, changed.Operations, changed.Channels = []string{"new"}, commands.MayRead, nil
	cfg.Users, cfg.Passwords, cfg.MaxArguments = []users.User{changed}, []string{"new root"}, 20
	srv.Reload(cfg)

	ends.wantEOF()
	hears.wantEOF()
	stays.ask("PING", "+QUEUED\r\n")
	stays.ask("EXEC", "-EXECABORT Transaction discarded because of previous errors.\r\n")
	stays.ask("GET locks:orders:1", "$-1\r\n")
	stays.ask("SET locks:orders:1 t NX PX 1000", noCommand("set"))
	stays.ask("AUTH orders pw", wrongPass)
	stays.ask("AUTH orders new", "+OK\r\n")
	root.ask("SET k t NX PX 1000", "+OK\r\n")
	root.ask("AUTH root", wrongPass)
	root.send("*21\r\n")
	root.want("-ERR Protocol error: invalid multibulk length\r\n")
}

// A session that logged in while the users changed, and so was overlooked, ends
// with its next command.
func TestUserGoneMeanwhile(t *testing.T) {
	srv := withUsers(t, orders())
	c := srv.dial(t)
	c.ask("AUTH orders pw", "+OK\r\n")
	cfg := *srv.cfg()
	cfg.Users = nil
	srv.logins.Store(newLogins(cfg, srv.in))
	c.send("PING\r\n")
	c.wantEOF()
}

func TestWrongPasswordWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newServer(Config{Passwords: []string{"pw"}, MaxClients: 9, MaxPending: 9, MaxMemory: 1 << 20, MaxArguments: 9,
			MaxCommandBytes: 1 << 16, MaxPipeline: 9, LoginTimeout: time.Minute, WriteTimeout: time.Minute},
			fakeInterpreter{}, newFakeQuorum(), "", hclog.NewNullLogger())
		ours, theirs := net.Pipe()
		srv.admit(ours)
		begin := time.Now()
		go io.WriteString(theirs, strings.Repeat("AUTH wrong\r\n", 9)+"AUTH pw\r\n")
		reply := make([]byte, 9*len(wrongPass)+len("+OK\r\n"))
		if _, err := io.ReadFull(theirs, reply); err != nil || !strings.HasSuffix(string(reply), "\n+OK\r\n") {
			t.Errorf("got %q, %v", reply, err)
		}
		// 10 + 20 + ... + 320 + 3 times 500 ms.
		if d := time.Since(begin); d < 2*time.Second || d > 3*time.Second {
			t.Errorf("nine wrong passwords took %v", d)
		}
		if n := srv.Defences().LoginFailures; n != 9 {
			t.Errorf("%d failures are counted", n)
		}
		theirs.Close()
		_ = srv.Shutdown(context.Background())
	})
}
