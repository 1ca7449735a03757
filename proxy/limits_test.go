package proxy

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/commands"
)

// S5: half-open connections keep nobody out: of those that have not logged in
// the oldest goes.
func TestMaxPending(t *testing.T) {
	srv := start(t, func(c *Config) { c.Passwords, c.MaxPending = []string{"pw"}, 2 })
	oldest, second := srv.dial(t), srv.dial(t)
	oldest.ask("PING", "-NOAUTH Authentication required.\r\n")
	second.ask("AUTH pw", "+OK\r\n") // from here on it does not count
	third := srv.dial(t)
	third.ask("PING", "-NOAUTH Authentication required.\r\n")
	oldest.ask("PING", "-NOAUTH Authentication required.\r\n")
	for range 20 {
		srv.dial(t).ask("AUTH pw", "+OK\r\n")
	}
	oldest.wantEOF()
	second.ask("PING", "+PONG\r\n")
	if d := srv.Defences(); d.Dropped == 0 {
		t.Error("not counted")
	}
	srv.roster.mu.Lock()
	defer srv.roster.mu.Unlock()
	if n := srv.roster.pending.n; n > 2 {
		t.Errorf("%d are pending", n)
	}
}

// A flood from one address does not close what another has begun.
func TestMaxPendingIsFair(t *testing.T) {
	srv := start(t, func(c *Config) { c.Passwords, c.MaxPending = []string{"pw"}, 3 })
	honest := srv.dial(t)
	honest.ask("PING", "-NOAUTH Authentication required.\r\n")
	flood := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	for range 20 {
		c, err := flood.Dial("tcp", srv.addr)
		if err != nil {
			t.Skip("this system has only one loopback address: ", err)
		}
		defer c.Close()
	}
	for deadline := time.Now().Add(patience); srv.Defences().Dropped < 18; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%+v", srv.Defences())
		}
	}
	honest.ask("AUTH pw", "+OK\r\n")
}

// S5: who sends and does not read loses its session when all hold too much,
// and nobody else does.
func TestMaxMemory(t *testing.T) {
	const most = 2 << 20
	srv := start(t, func(c *Config) { c.MaxMemory = most })
	srv.q.hold("0/k")
	honest := srv.dial(t)
	honest.ask("PING", "+PONG\r\n")
	var hogs []*raw
	for range 8 {
		c := srv.dial(t)
		hogs = append(hogs, c)
		c.send("READ k\r\n" + strings.Repeat(frame("ECHO", strings.Repeat("x", 1<<15)), 20))
	}
	for deadline := time.Now().Add(patience); srv.Defences().Evicted < 4 || srv.Defences().Memory > most; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%+v", srv.Defences())
		}
	}
	honest.ask("PING", "+PONG\r\n")
	ended := 0
	srv.q.release("0/k")
	for _, c := range hogs {
		if b, err := c.r.ReadByte(); err != nil {
			ended++
		} else if b != '$' {
			t.Errorf("got %q", b)
		}
	}
	if ended < 4 || ended == len(hogs) {
		t.Errorf("%d of %d were closed, want as many as needed", ended, len(hogs))
	}
}

// What ends is not charged for any more.
func TestMemoryIsGivenBack(t *testing.T) {
	srv := start(t, nil)
	for i := range 5 {
		c := srv.dial(t)
		c.ask(strings.TrimSuffix(frame("ECHO", strings.Repeat("x", 1<<19)), "\r\n"), lengthy(strings.Repeat("x", 1<<19)))
		c.ask("SUBSCRIBE "+strings.Repeat("s", 30000), fmt.Sprintf("*3\r\n%s%s:1\r\n", lengthy("subscribe"), lengthy(strings.Repeat("s", 30000))))
		if i%2 == 0 {
			c.ask("RESET", "+RESET\r\n")
		}
		c.Close()
	}
	for deadline := time.Now().Add(patience); srv.Defences().Memory != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes are still charged for, %d sessions", srv.Defences().Memory, srv.Clients())
		}
	}
}

// S5: keys and tokens have a greatest length, wherever they come from.
func TestLongKeysAndTokens(t *testing.T) {
	q := newFakeQuorum()
	srv := startWith(t, q, commands.New(commands.DefaultConfig(), q.Now), func(c *Config) { c.MaxKeyBytes, c.MaxTokenBytes = 8, 8 })
	const (
		key   = "-ERR a key is longer than redlockd's max_key_bytes\r\n"
		token = "-ERR a token is longer than redlockd's max_token_bytes\r\n"
		long  = "123456789"
	)
	c := srv.dial(t)
	for _, tt := range [][2]string{
		{"SET " + long + " t NX PX 9", key},
		{"SET k " + long + " NX PX 9", token},
		{"GETSET k " + long, token},
		{"PSETEX k 9 " + long, token},
		{"MGET k " + long, key},
		{"WATCH k " + long, key},
		{"BLPOP " + long + " 0", key},
		{"EVAL 'return 1' 1 " + long, key},
		{"EVAL \"return redis.call('get','" + long + "')\" 0", key},
		{"EVAL \"return redis.call('get',KEYS[1]..'" + long + "')\" 1 k", key},
		{"EVAL \"return redis.call('set',KEYS[1],ARGV[1],'NX','PX',9)\" 1 k " + long, token},
		{"MULTI\r\nSET k t NX PX 9\r\nGET " + long + "\r\nEXEC", "+OK\r\n+QUEUED\r\n+QUEUED\r\n" + key},
	} {
		c.ask(tt[0], tt[1])
	}
	if len(q.order) != 0 {
		t.Errorf("masters were asked: %v", q.order)
	}
	c.ask("SET 12345678 12345678 NX PX 9", "+OK\r\n")
}
