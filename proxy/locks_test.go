package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/commands/values"
	"github.com/redlockd/redlockd/proxy/history"
)

// until reads replies until the text is there, and returns all of it.
func (c *raw) until(text string) string {
	c.t.Helper()
	var got strings.Builder
	for !strings.Contains(got.String(), text) {
		line, err := c.r.ReadString('\n')
		got.WriteString(line)
		if err != nil {
			c.t.Fatalf("got %q (%v), want %q in it", got.String(), err, text)
		}
	}
	return got.String()
}

// TestLocksWho in RESP2 and RESP3: a lock that another session holds.
func TestLocksWho(t *testing.T) {
	r := start(t, nil)
	holds := r.dial(t)
	holds.ask("CLIENT SETNAME worker-7", "+OK\r\n")
	holds.ask("LOCK orders secret-token", "+OK\r\n")
	looks := r.dial(t)
	looks.send("LOCKS WHO orders\r\n")
	got := looks.until("silent\r\n$7\r\nhold-ms\r\n$-1\r\n")
	address := holds.LocalAddr().String()
	for _, want := range []string{"*16\r\n$3\r\nkey\r\n$6\r\norders\r\n$5\r\nstate\r\n$4\r\nheld\r\n$6\r\nttl-ms\r\n:1000\r\n",
		"$4\r\nname\r\n$8\r\nworker-7\r\n", fmt.Sprintf("$4\r\naddr\r\n$%d\r\n%s\r\n", len(address), address),
		"$10\r\ntaken-here\r\n:1\r\n",
		"$6\r\nmaster\r\n$1\r\na\r\n$5\r\nstate\r\n$6\r\nvoting\r\n$4\r\ncopy\r\n$4\r\nheld\r\n$7\r\nhold-ms\r\n:2000\r\n",
		"$1\r\nc\r\n$5\r\nstate\r\n$10\r\nquarantine\r\n$4\r\ncopy\r\n$7\r\ntoken-2\r\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	looks.ask("HELLO 3", "%7\r\n")
	looks.until("modules")
	looks.until("*0\r\n")
	looks.send("LOCKS WHO orders\r\n")
	got += looks.until("silent\r\n$7\r\nhold-ms\r\n_\r\n")
	if !strings.Contains(got, "%8\r\n$3\r\nkey\r\n") || strings.Contains(got, "secret") {
		t.Errorf("in RESP3: %q", got)
	}
	// Somebody else has it by now, through another redlockd.
	r.q.mu.Lock()
	r.q.locks[id(0, "orders")] = "another"
	r.q.mu.Unlock()
	looks.send("LOCKS WHO orders\r\n")
	if got := looks.until("copies"); !strings.Contains(got, "$6\r\nholder\r\n_\r\n") {
		t.Errorf("the holder of before is told: %q", got)
	}
	looks.until("silent\r\n$7\r\nhold-ms\r\n_\r\n")
	// A lock in a hash, of which only the owner and the count are told.
	r.q.mu.Lock()
	r.q.locks[id(0, "orders")] = string(values.HashOf(values.Member{Field: "uuid:1", Value: "2"}))
	r.q.mu.Unlock()
	looks.send("LOCKS WHO orders\r\n")
	if got := looks.until("silent\r\n$7\r\nhold-ms\r\n_\r\n"); !strings.Contains(got, "$5\r\nowner\r\n$6\r\nuuid:1\r\n$5\r\ncount\r\n$1\r\n2\r\n") || strings.Contains(got, values.Magic) {
		t.Errorf("a hash: %q", got)
	}
	looks.ask("LOCKS WHO redlockd:mark", "-ERR this key is redlockd's own\r\n")
	looks.ask("LOCKS WHO", "-ERR wrong number of arguments for 'locks|who' command\r\n")
	looks.ask("LOCKS WHAT x", "-ERR unknown subcommand 'WHAT'. Try LOCKS HELP.\r\n")
	looks.ask("LOCKS", "-ERR wrong number of arguments for 'locks' command\r\n")
	looks.ask("MULTI", "+OK\r\n")
	looks.ask("LOCKS WHO orders", "-ERR Command not allowed inside a transaction\r\n")
}

func TestLocksList(t *testing.T) {
	r := start(t, nil)
	c := r.dial(t)
	for i := range 7 {
		c.ask(fmt.Sprintf("LOCK a%d t", i), "+OK\r\n")
	}
	c.ask("LOCK b t", "+OK\r\n")
	for command, want := range map[string]struct {
		locks, more int
	}{
		"LOCKS LIST":              {8, 0},
		"LOCKS LIST a*":           {7, 0},
		"LOCKS LIST a* COUNT 3":   {3, 1},
		"LOCKS LIST COUNT 8":      {8, 0},
		"LOCKS LIST nope":         {0, 0},
		"LOCKS LIST [ab] count 8": {1, 0},
	} {
		c.send(command + "\r\n")
		got := c.until(fmt.Sprintf("$4\r\nmore\r\n:%d\r\n", want.more))
		if !strings.HasPrefix(got, fmt.Sprintf("*4\r\n$5\r\nlocks\r\n*%d\r\n", want.locks)) {
			t.Errorf("%s: %q, want %d locks", command, got, want.locks)
		}
	}
	c.ask("SELECT 1", "+OK\r\n")
	c.ask("LOCKS LIST", "*4\r\n$5\r\nlocks\r\n*0\r\n$4\r\nmore\r\n:0\r\n")
	c.ask("LOCKS LIST a COUNT 0", "-ERR COUNT must be 1 to 10000\r\n")
	c.ask("LOCKS LIST a COUNT x", "-ERR value is not an integer or out of range\r\n")
	c.ask("LOCKS LIST a LIMIT 1", "-ERR syntax error\r\n")
	c.ask("LOCKS LIST a COUNT 1 2 3", "-ERR syntax error\r\n")
}

func TestScanAndSize(t *testing.T) {
	r := start(t, nil)
	c := r.dial(t)
	c.ask("DBSIZE", ":0\r\n")
	for i := range 3 {
		c.ask(fmt.Sprintf("LOCK a%d t", i), "+OK\r\n")
	}
	c.ask("DBSIZE", ":3\r\n")
	c.ask("SCAN 0 COUNT 2", "*2\r\n$1\r\n2\r\n*2\r\n$2\r\na0\r\n$2\r\na1\r\n")
	c.ask("SCAN 2 COUNT 2", "*2\r\n$1\r\n0\r\n*1\r\n$2\r\na2\r\n")
	c.ask("SCAN 0 MATCH *1 TYPE string", "*2\r\n$1\r\n0\r\n*1\r\n$2\r\na1\r\n")
	c.ask("SCAN 0 TYPE hash", "*2\r\n$1\r\n0\r\n*0\r\n")
	c.ask("SCAN x", "-ERR invalid cursor\r\n")
	c.ask("SCAN 0 COUNT", "-ERR syntax error\r\n")
	c.ask("SCAN 0 COUNT 0", "-ERR syntax error\r\n")
	c.ask("SCAN 0 COUNT a", "-ERR value is not an integer or out of range\r\n")
	// Where nobody can tell, neither says that there is nothing (P4).
	r.q.mu.Lock()
	r.q.locks[id(0, "a1")] = "two say so"
	r.q.mu.Unlock()
	c.ask("SCAN 0", "-NOQUORUM 2 of 5 masters answered, 3 needed\r\n")
	c.send("LOCKS LIST\r\n")
	if got := c.until("more\r\n:0\r\n"); !strings.Contains(got, "$2\r\na1\r\n$5\r\nstate\r\n$9\r\nundecided\r\n$6\r\nttl-ms\r\n$-1\r\n") {
		t.Errorf("LOCKS LIST: %q", got)
	}
	r.q.mu.Lock()
	r.q.unlisted = errors.New("NOQUORUM 1 of 3 masters can be reached")
	r.q.mu.Unlock()
	for _, command := range []string{"SCAN 0", "DBSIZE", "LOCKS LIST"} {
		c.ask(command, "-NOQUORUM 1 of 3 masters can be reached\r\n")
	}
}

// TestLocksForce removes, and says in the log who did it to whom.
func TestLocksForce(t *testing.T) {
	var log lockedBuffer
	q := newFakeQuorum()
	q.log = &log
	r := startWith(t, q, fakeInterpreter{}, nil)
	holds, removes := r.dial(t), r.dial(t)
	holds.ask("CLIENT SETNAME worker-7", "+OK\r\n")
	holds.ask("LOCK orders secret-token", "+OK\r\n")
	removes.ask("CLIENT SETNAME ada", "+OK\r\n")
	removes.ask("LOCKS FORCE orders", ":1\r\n")
	removes.ask("LOCKS FORCE orders", ":0\r\n")
	removes.ask("LOCKS FORCE redlockd:mark", "-ERR this key is redlockd's own\r\n")
	if r.q.holder(id(0, "orders")) != "" {
		t.Error("it is still there")
	}
	first, _, _ := strings.Cut(log.String(), "\n")
	for _, want := range []string{"[WARN]", "a lock was removed by LOCKS FORCE", "key=orders", "removed=true", "by_name=ada",
		"by_user=default", "by_address=" + removes.LocalAddr().String(), "holder_name=worker-7",
		"holder_address=" + holds.LocalAddr().String()} {
		if !strings.Contains(first, want) {
			t.Errorf("%q lacks %q", first, want)
		}
	}
	if strings.Contains(log.String(), "secret") {
		t.Error("the token is logged")
	}
}

// lockedBuffer is a log that a test reads.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestSlowLog: what took long is told with its key and TTL, and no token.
func TestSlowLog(t *testing.T) {
	r := start(t, nil)
	c := r.dial(t)
	c.ask("CLIENT SETNAME slow", "+OK\r\n")
	c.ask("LOCK quick secret-token", "+OK\r\n")
	c.ask("SLOWLOG LEN", ":0\r\n")
	c.ask("SLOWLOG GET", "*0\r\n")
	r.q.mu.Lock()
	r.q.took = 12 * time.Millisecond
	r.q.mu.Unlock()
	c.ask("LOCK orders secret-token", "+OK\r\n")
	c.ask("FREE "+strings.Repeat("k", 200), ":0\r\n")
	c.send("SLOWLOG GET 1\r\n")
	c.want("*1\r\n*6\r\n:1\r\n:")
	got := c.until("slow\r\n")
	if !strings.Contains(got, "\r\n:12000\r\n*4\r\n$7\r\nunknown\r\n$147\r\n"+strings.Repeat("k", 128)+"... (72 more bytes)\r\n$2\r\nPX\r\n") {
		t.Errorf("%q", got)
	}
	c.send("SLOWLOG GET -1\r\n")
	got = c.until("slow\r\n") + c.until("slow\r\n")
	if !strings.Contains(got, "$6\r\norders\r\n$7\r\n(token)\r\n$2\r\nPX\r\n$4\r\n1000\r\n") || strings.Contains(got, "secret") {
		t.Errorf("%q", got)
	}
	for range 2 * history.MaxSlow {
		c.ask("READ x", "$-1\r\n")
	}
	c.ask("SLOWLOG LEN", fmt.Sprintf(":%d\r\n", history.MaxSlow))
	c.ask("SLOWLOG RESET", "+OK\r\n")
	c.ask("SLOWLOG LEN", ":0\r\n")
	// As it is told, so it is; and a reload changes both.
	told := func(micros string) {
		c.ask("CONFIG GET slowlog-log-slower-than", "*2\r\n"+lengthy("slowlog-log-slower-than")+lengthy(micros))
	}
	told("10000")
	for _, tt := range []struct {
		slowerThan time.Duration
		micros     string
		kept       int
	}{{12*time.Millisecond + time.Microsecond, "12001", 0}, {12 * time.Millisecond, "12000", 1}, {0, "0", 2}} {
		cfg := *r.cfg()
		cfg.SlowerThan = tt.slowerThan
		r.Reload(cfg)
		told(tt.micros)
		c.ask("READ x", "$-1\r\n")
		c.ask("SLOWLOG LEN", fmt.Sprintf(":%d\r\n", tt.kept))
	}
	c.ask("SLOWLOG GET -2", "-ERR count should be greater than or equal to -1\r\n")
}

// TestClientListAsRedis: the fields are Redis's own, in its order.
func TestClientListAsRedis(t *testing.T) {
	r := start(t, nil)
	c := r.dial(t)
	c.ask("CLIENT SETNAME me", "+OK\r\n")
	c.ask("CLIENT SETINFO lib-name mylib", "+OK\r\n")
	c.send("CLIENT LIST\r\n")
	_, port, _ := net.SplitHostPort(c.LocalAddr().String())
	line := c.until("lib-ver=") // of the first and only session
	want := `^\$\d+\r\nid=1 addr=127.0.0.1:` + port + ` laddr=127.0.0.1:\d+ fd=\d+ name=me age=0 idle=0 flags=N db=0 sub=0 psub=0 ssub=0 ` +
		`multi=-1 watch=0 qbuf=\d+ qbuf-free=\d+ argv-mem=\d+ multi-mem=0 rbs=\d+ rbp=\d+ obl=0 oll=\d+ omem=\d+ tot-mem=\d+ ` +
		`events=r cmd=client\|list user=default redir=-1 resp=2 lib-name=mylib lib-ver= io-thread=0 tot-net-in=\d+ tot-net-out=\d+ tot-cmds=3\n`
	if !regexp.MustCompile(want).MatchString(line) {
		t.Errorf("%q, want %s", line, want)
	}
	waits := r.dial(t)
	waits.send("BLPOP list 0\r\n")
	for deadline := time.Now().Add(patience); ; {
		c.send("CLIENT LIST TYPE normal\r\n")
		if strings.Contains(c.until("\n\r\n"), "flags=b") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("a session in BLPOP is not shown as blocked")
		}
	}
}

// TestReaderListsItsOwnKeys: a user who may read is told of the locks that it
// may name, and of no other.
func TestReaderListsItsOwnKeys(t *testing.T) {
	reader := orders()
	reader.Operations = commands.MayRead
	srv := withUsers(t, reader)
	root, c := srv.dial(t), srv.dial(t)
	root.ask("AUTH root", "+OK\r\n")
	root.ask("SET locks:orders:1 t NX PX 1000", "+OK\r\n")
	root.ask("SET locks:other t NX PX 1000", "+OK\r\n")
	c.ask("AUTH orders pw", "+OK\r\n")
	c.ask("SCAN 0", "*2\r\n$1\r\n0\r\n*1\r\n$14\r\nlocks:orders:1\r\n")
	c.send("LOCKS LIST\r\n")
	if got := c.until("more\r\n:0\r\n"); strings.Contains(got, "other") || strings.Contains(got, "default") || !strings.Contains(got, "locks:orders:1") {
		t.Errorf("LOCKS LIST: %q", got)
	}
	c.ask("LOCKS WHO locks:other", noKey)
	c.ask("LOCKS FORCE locks:orders:1", noCommand("locks|force"))
	c.send("LOCKS WHO locks:orders:1\r\n")
	c.until("silent\r\n$7\r\nhold-ms\r\n$-1\r\n")
	if n, _ := srv.Held(0); n != 2 {
		t.Errorf("%d locks are held, want 2", n)
	}
}
