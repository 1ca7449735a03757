package quorum

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	peer "github.com/alicebob/miniredis/v2/server"
	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/outbox"
)

// fakeMaster is a Redis in the bubble's virtual time: miniredis over a pipe, with the
// commands that it lacks (INFO, CLIENT ID and KILL), and with faults.
type fakeMaster struct {
	t *testing.T
	*miniredis.Miniredis
	name string

	mu      sync.Mutex
	runID   string
	version string // reported by INFO
	role    string
	policy  string
	aof     bool
	// promoted is the second_repl_offset: how far a promoted replica had followed its
	// master.
	promoted int
	offset   time.Duration
	// clock is the time to which clockOf was set last; setting guards both. mu would not do:
	// a command in a script needs it while it holds the server's lock.
	setting sync.Mutex
	clock   time.Time
	clockOf *miniredis.Miniredis
	nextID  int
	ids     map[*peer.Peer]int
	// clients are the names of the living connections by id. With nameless set the
	// master ignores the names.
	clients  map[int]string
	nameless bool
	crowd    int // more connections, which CLIENT LIST leaves out
	killed   map[int]bool
	down     bool
	frozen   chan struct{} // closed at the thaw
	delay    time.Duration // of each command
	halt     time.Duration // of a script before its TIME number haltAt
	haltAt   int
	way      time.Duration // of each batch
	pipes    []net.Conn
	log      []string
	from     []int             // the connection of each command; 0 is a script
	refused  map[string]string // command -> error
	secret   string            // a key that redlockd has no right to
	paged    bool              // SCAN obeys COUNT, which miniredis does not
}

func newFakeMaster(t *testing.T, name string) *fakeMaster {
	f := &fakeMaster{t: t, name: name, runID: "run-" + name, version: "6.2.14", role: "master", policy: "noeviction",
		refused: map[string]string{}}
	f.boot()
	return f
}

// boot starts the server without any memory.
func (f *fakeMaster) boot() {
	f.Miniredis = miniredis.NewMiniRedis()
	f.ids, f.killed, f.clients = map[*peer.Peer]int{}, map[int]bool{}, map[int]string{}
	conn, err := f.Miniredis.Dial() // makes the server, which has the hook
	if err != nil {
		f.t.Fatal(err)
	}
	_ = conn.Close()
	f.Miniredis.ClockTTL(true)
	f.Server().SetPreHook(f.hook)
}

// dial returns a connection from a redlockd.
func (f *fakeMaster) dial() (net.Conn, error) {
	f.mu.Lock()
	server, down := f.Miniredis, f.down
	f.mu.Unlock()
	if down {
		return nil, fmt.Errorf("connection refused")
	}
	c, err := server.Dial()
	if err != nil {
		return nil, err
	}
	p := newLazyPipe(c, f.trip)
	f.set(func() { f.pipes = append(f.pipes, p) })
	return p, nil
}

// trip takes as long as a batch is on its way to the master.
func (f *fakeMaster) trip() {
	f.mu.Lock()
	way := f.way
	f.mu.Unlock()
	time.Sleep(way)
}

// setClock sets the clock by which keys expire. Redis's stands still in a command and
// expires by milliseconds. It is not set again to the same time, since miniredis reads it
// without its lock.
func (f *fakeMaster) setClock(server *miniredis.Miniredis, offset time.Duration) {
	f.setting.Lock()
	defer f.setting.Unlock()
	if now := time.Now().Add(offset).Truncate(time.Millisecond); server != f.clockOf || !now.Equal(f.clock) {
		f.clockOf, f.clock = server, now
		server.SetTime(now)
	}
}

// hook delays and freezes commands, and answers those that miniredis does not know.
func (f *fakeMaster) hook(c *peer.Peer, cmd string, args ...string) bool {
	cmd = strings.ToUpper(cmd)
	f.mu.Lock()
	if f.ids[c] == 0 && cmd == "HELLO" {
		f.greet(c, args)
	}
	// The commands of a script are called with miniredis's lock held: they must not
	// wait.
	inScript := f.ids[c] == 0
	frozen, delay, offset, server := f.frozen, f.delay, f.offset, f.Miniredis
	f.mu.Unlock()
	if !inScript {
		if frozen != nil {
			<-frozen
		}
		time.Sleep(delay)
		f.setClock(server, offset)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.killed[f.ids[c]] {
		c.Close()
		return true
	}
	f.log, f.from = append(f.log, cmd+" "+strings.Join(args, " ")), append(f.from, f.ids[c])
	if text := f.refusal(cmd, args); text != "" {
		c.WriteError(text)
		return true
	}
	switch {
	case f.secret != "" && slices.Contains(args, f.secret):
		c.WriteError("NOPERM No permissions to access a key")
	case cmd == "INFO":
		c.WriteBulk(f.info())
	case cmd == "CLIENT" && len(args) > 0 && strings.EqualFold(args[0], "ID"):
		c.WriteInt(f.ids[c])
	case cmd == "CLIENT" && len(args) > 0 && strings.EqualFold(args[0], "LIST"):
		c.WriteBulk(f.list())
	case cmd == "CLIENT" && len(args) > 0 && strings.EqualFold(args[0], "KILL"):
		id, _ := strconv.Atoi(args[len(args)-1])
		f.killed[id] = true
		c.WriteInt(1)
	case cmd == "TIME" && inScript && f.halt > 0 && f.timesInScript() == f.haltAt:
		now := time.Now().Add(offset + f.halt)
		c.WriteStrings([]string{strconv.FormatInt(now.Unix(), 10), strconv.Itoa(now.Nanosecond() / 1000)})
	case cmd == "PEXPIRETIME" && strings.HasPrefix(f.version, "6."):
		c.WriteError("ERR unknown command 'PEXPIRETIME'")
	case cmd == "SCAN" && f.paged:
		f.writePage(c, args)
	case cmd == "CONFIG":
		c.WriteMapLen(1)
		c.WriteBulk("appendfsync")
		c.WriteBulk("always")
	default:
		return false
	}
	return true
}

// timesInScript returns how often the script under way has read the time.
func (f *fakeMaster) timesInScript() (n int) {
	for i := len(f.log) - 1; i >= 0 && !strings.HasPrefix(f.log[i], "EVAL"); i-- {
		if f.log[i] == "TIME " {
			n++
		}
	}
	return n
}

// greet gives a connection its number, until the connection ends.
func (f *fakeMaster) greet(c *peer.Peer, args []string) {
	f.nextID++
	id, name := f.nextID, ""
	if at := slices.Index(args, "SETNAME"); at >= 0 && !f.nameless {
		name = args[at+1]
	}
	f.ids[c], f.clients[id] = id, name
	c.OnDisconnect(func() { f.set(func() { delete(f.clients, id) }) })
}

// list answers CLIENT LIST.
func (f *fakeMaster) list() string {
	var b strings.Builder
	for _, id := range slices.Sorted(maps.Keys(f.clients)) {
		fmt.Fprintf(&b, "id=%d addr=10.0.0.1:%d name=%s age=1\n", id, 1000+id, f.clients[id])
	}
	return b.String()
}

// refusal returns the error that a command is answered with, or none.
func (f *fakeMaster) refusal(cmd string, args []string) string {
	if cmd == "CLIENT" && len(args) > 0 {
		cmd += " " + strings.ToUpper(args[0])
	}
	return f.refused[cmd]
}

// writePage answers SCAN in database 0; the cursor is the number of a key.
func (f *fakeMaster) writePage(c *peer.Peer, args []string) {
	keys := f.DB(0).Keys()
	from, _ := strconv.Atoi(args[0])
	count, _ := strconv.Atoi(args[2])
	to := min(from+count, len(keys))
	next := to
	if to == len(keys) {
		next = 0
	}
	c.WriteLen(2)
	c.WriteBulk(strconv.Itoa(next))
	c.WriteStrings(keys[from:to])
}

// info reports a version that acquires by script, since miniredis reads the clock of a
// plain SET outside its lock. The plain way is tested with real servers.
func (f *fakeMaster) info() string {
	aof, maxmemory, offset := 0, 0, -1
	if f.promoted > 0 {
		offset = f.promoted
	}
	if f.aof {
		aof = 1
	}
	if f.policy != "noeviction" {
		maxmemory = 1 << 20
	}
	return fmt.Sprintf("redis_version:%s\r\nrun_id:%s\r\nrole:%s\r\nmaxmemory:%d\r\nmaxmemory_policy:%s\r\naof_enabled:%d\r\nsecond_repl_offset:%d\r\nconnected_clients:%d\r\n",
		f.version, f.runID, f.role, maxmemory, f.policy, aof, offset, len(f.clients)+f.crowd)
}

func (f *fakeMaster) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// kill ends the process; startEmpty or startWithMemory starts it again.
func (f *fakeMaster) kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = true
	for _, p := range f.pipes {
		_ = p.Close()
	}
	f.pipes = nil
}

// mend ends what kill began, as if only the network had been cut.
func (f *fakeMaster) mend() { f.set(func() { f.down = false }) }

func (f *fakeMaster) startEmpty() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.runID += "'"
	f.boot()
	f.down = false
}

// startWithMemory starts the process again with the keys it had.
func (f *fakeMaster) startWithMemory() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.runID += "'"
	f.down = false
}

// refuse answers all scripts with an error, until it is called with an empty text.
func (f *fakeMaster) refuse(text string) {
	f.set(func() { f.refused["EVAL"], f.refused["EVALSHA"] = text, text })
}

func (f *fakeMaster) freeze() { f.set(func() { f.frozen = make(chan struct{}) }) }

func (f *fakeMaster) thaw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.frozen)
	f.frozen = nil
}

// holds returns the token under a key, or "".
func (f *fakeMaster) holds(key string) string {
	v, err := f.Get(key)
	if err != nil {
		return ""
	}
	return v
}

// lazyPipe makes writes to a pipe return at once, as the kernel's buffers do: a frozen
// server gets what is sent and carries it out later, even if the connection was closed
// meanwhile.
type lazyPipe struct {
	net.Conn
	trip   func() // lasts as long as the way there
	mu     sync.Mutex
	more   *sync.Cond
	buf    bytes.Buffer
	closed bool
}

func newLazyPipe(c net.Conn, trip func()) *lazyPipe {
	p := &lazyPipe{Conn: c, trip: trip}
	p.more = sync.NewCond(&p.mu)
	go p.pump()
	return p
}

func (p *lazyPipe) pump() {
	for {
		p.mu.Lock()
		for p.buf.Len() == 0 && !p.closed {
			p.more.Wait()
		}
		b := bytes.Clone(p.buf.Bytes())
		p.buf.Reset()
		p.mu.Unlock()
		if len(b) == 0 {
			_ = p.Conn.Close()
			return
		}
		p.trip()
		if _, err := p.Conn.Write(b); err != nil {
			return
		}
	}
}

func (p *lazyPipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return 0, net.ErrClosed
	}
	p.buf.Write(b)
	p.more.Signal()
	return len(b), nil
}

func (p *lazyPipe) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.more.Signal()
	_ = p.Conn.SetReadDeadline(time.Unix(1, 0))
	return nil
}

// testCluster is a Quorum over fake masters.
type testCluster struct {
	t       *testing.T
	masters []*fakeMaster
	cfg     cluster.Config
	q       *Quorum
	all     []*Quorum
	bundles int
}

// inBubble runs a test in virtual time over n fake masters that may vote.
func inBubble(t *testing.T, n int, test func(c *testCluster)) {
	t.Helper()
	inBubbleWith(t, n, func(*cluster.Config) {}, test)
}

// inBubbleWith is inBubble with another configuration.
func inBubbleWith(t *testing.T, n int, change func(*cluster.Config), test func(c *testCluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &testCluster{t: t, cfg: cluster.DefaultConfig()}
		for i := range n {
			f := newFakeMaster(t, string(rune('a'+i)))
			c.masters = append(c.masters, f)
			c.cfg.Masters = append(c.cfg.Masters, cluster.Master{Name: f.name, Address: f.name + ":1", Dial: f.dial})
		}
		change(&c.cfg)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := cluster.Bootstrap(ctx, c.cfg, hclog.NewNullLogger()); err != nil {
			t.Fatalf("bootstrap: %v", err)
		}
		c.q = c.redlockd()
		c.ready()
		defer c.end()
		test(c)
	})
}

// end stops everything, so that the bubble can end.
func (c *testCluster) end() {
	for _, f := range c.masters {
		f.mu.Lock()
		if f.frozen != nil {
			close(f.frozen)
			f.frozen = nil
		}
		f.mu.Unlock()
	}
	for _, q := range c.all {
		c.stop(q)
	}
	for _, f := range c.masters {
		f.kill()
		f.Close()
	}
	time.Sleep(15 * time.Second) // the background goroutines of rueidis end
	synctest.Wait()
}

// redlockd starts one more redlockd over the same masters.
func (c *testCluster) redlockd() *Quorum {
	c.t.Helper()
	return c.redlockdWith(hclog.NewNullLogger(), clock.Monotonic())
}

// redlockdTelling is redlockd with a log.
func (c *testCluster) redlockdTelling(log hclog.Logger) *Quorum {
	c.t.Helper()
	return c.redlockdWith(log, clock.Monotonic())
}

// redlockdBy is redlockd with a clock of its own.
func (c *testCluster) redlockdBy(now clock.Clock) *Quorum {
	c.t.Helper()
	return c.redlockdWith(hclog.NewNullLogger(), now)
}

func (c *testCluster) redlockdWith(log hclog.Logger, now clock.Clock) *Quorum {
	c.t.Helper()
	q, err := newQuorum(c.cfg, log, now)
	if err != nil {
		c.t.Fatal(err)
	}
	c.all = append(c.all, q)
	return q
}

func (c *testCluster) stop(q *Quorum) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_ = q.Close(ctx)
}

// ready waits until all reachable masters vote.
func (c *testCluster) ready() {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	if err := c.q.WaitReady(ctx); err != nil {
		c.t.Fatalf("no majority votes: %v", c.q.Status().Masters)
	}
	time.Sleep(3 * time.Second)
}

// alive is a client that waits for its answer.
type alive struct{ _ byte }

func (*alive) Gone() bool { return false }

// start begins an operation and returns the channel of its outcome.
func start(q *Quorum, op Op) <-chan *Outcome {
	out := make(chan *Outcome, 1)
	q.Do(&op, &alive{}, func(o *Outcome) { out <- o })
	return out
}

func do(q *Quorum, op Op) *Outcome { return <-start(q, op) }

func acquire(key, token string, ttl time.Duration) Op {
	return Op{Kind: Acquire, Key: key, Token: token, TTL: ttl}
}

func release(key, token string) Op { return Op{Kind: Release, Key: key, Token: token} }

// want fails the test if the verdict is another one.
func (c *testCluster) want(o *Outcome, v Verdict) *Outcome {
	c.t.Helper()
	if o.Verdict != v {
		c.t.Fatalf("verdict is %v (%v), want %v", o.Verdict, o.Err, v)
	}
	if (o.Err != nil) != (v == Undecided || v == Split) {
		c.t.Fatalf("verdict %v with error %v", v, o.Err)
	}
	return o
}

// copies counts the masters that hold the token.
func (c *testCluster) copies(key, token string) int {
	n := 0
	for _, f := range c.masters {
		if f.holds(key) == token {
			n++
		}
	}
	return n
}

// commands returns the commands that the master got, after the first skip.
func (f *fakeMaster) commands(skip int) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.log[skip:])
}

// FlushScripts forgets the scripts, as SCRIPT FLUSH does.
func (f *fakeMaster) FlushScripts(t *testing.T) {
	conn, err := f.Miniredis.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("*2\r\n$6\r\nSCRIPT\r\n$5\r\nFLUSH\r\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
}

// withLocked calls do with a link locked.
func withLocked(l *cluster.Link, do func(cluster.Locked)) { l.Ask(whileLocked(do), 0, 0) }

// whileLocked is a Preparer that makes no task.
type whileLocked func(cluster.Locked)

func (do whileLocked) Prepare(_ int, l cluster.Locked, _ time.Duration) (*outbox.Task, bool) {
	do(l)
	return nil, false
}
