package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// patience bounds what a test waits for; nothing that goes well takes so long.
const patience = 10 * time.Second

// fakeQuorum keeps locks in memory, without TTLs. Operations on a key that is
// held back wait until the test lets them go. It is its own grants.
type fakeQuorum struct {
	mu       sync.Mutex
	locks    map[string]string
	held     map[string][]func() // by key: what waits
	armed    map[string][]*quorum.Watch
	order    []string
	ops      []quorum.Op
	granted  map[*quorum.Outcome]string
	undone   chan string
	asked    chan string
	late     error
	stale    map[string]bool // keys whose grants must be renewed
	renewals map[string]func()
	limit    time.Duration
	status   quorum.Status
	opened   []int
	openGate chan struct{}
	clients  []quorum.Client
	unlisted error
	listGate chan struct{} // lets listings go on
	took     time.Duration
	log      io.Writer
	bus      *fakeBus
}

func newFakeQuorum() *fakeQuorum {
	return &fakeQuorum{
		locks:   make(map[string]string),
		held:    make(map[string][]func()),
		armed:   make(map[string][]*quorum.Watch),
		granted: make(map[*quorum.Outcome]string),
		undone:  make(chan string, 4096),
		asked:   make(chan string, 65536),
		limit:   time.Minute,
		stale:   make(map[string]bool), renewals: make(map[string]func()),
		log: io.Discard,
	}
}

func id(db int, key string) string { return fmt.Sprintf("%d/%s", db, key) }

func (q *fakeQuorum) Do(op *quorum.Op, client quorum.Client, done func(*quorum.Outcome)) {
	key := id(op.DB, op.Key)
	q.mu.Lock()
	q.order = append(q.order, key)
	q.ops = append(q.ops, *op)
	q.clients = append(q.clients, client)
	run := func() {
		q.mu.Lock()
		o := q.carryOut(op, key)
		o.Did, o.Took = op, q.took
		q.mu.Unlock()
		done(o)
	}
	if waiting, ok := q.held[key]; ok {
		q.held[key] = append(waiting, run)
		q.mu.Unlock()
		q.asked <- key
		return
	}
	q.mu.Unlock()
	run()
	q.asked <- key
}

func (q *fakeQuorum) carryOut(op *quorum.Op, key string) *quorum.Outcome {
	token, found := q.locks[key]
	o := &quorum.Outcome{Verdict: quorum.Won, State: quorum.State{Found: found, Token: token, TTL: time.Second}}
	switch {
	case op.Token == "nobody can tell":
		return &quorum.Outcome{Verdict: quorum.Undecided, Err: errors.New("NOQUORUM 1 of 3 masters answered, 2 needed")}
	case op.Kind == quorum.Decide:
		// Only what decides to do nothing.
		if op.Decide(o.State).Kind == quorum.Read {
			o.Verdict, o.Done = quorum.Held, quorum.Read
		}
	case op.Kind == quorum.DecideAll:
		states := make([]quorum.State, len(op.Keys))
		for i, key := range op.Keys {
			token, found := q.locks[id(op.DB, key)]
			states[i] = quorum.State{Found: found, Token: token, TTL: time.Second}
		}
		if len(op.DecideAll(states)) == 0 {
			o.Done = quorum.Read
		}
	case op.Kind == quorum.Read:
		o.Verdict = quorum.Absent
		if found {
			o.Verdict = quorum.Held
		}
		return o
	case op.Kind == quorum.Acquire && found:
		o.Verdict = quorum.Held
	case op.Kind == quorum.Acquire:
		q.locks[key] = op.Token
		q.granted[o] = key
	case (op.Kind == quorum.Remove || op.Kind == quorum.Release && op.Token == token) && found:
		delete(q.locks, key)
	default:
		o.Verdict = quorum.Absent
	}
	return o
}

// hold makes the operations on a key wait.
func (q *fakeQuorum) hold(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held[key] = []func(){}
}

// release lets the operations on a key go on, in order.
func (q *fakeQuorum) release(key string) {
	q.mu.Lock()
	waiting := q.held[key]
	delete(q.held, key)
	q.mu.Unlock()
	for _, run := range waiting {
		run()
	}
}

func (q *fakeQuorum) Open(db int, done func()) {
	q.mu.Lock()
	q.opened = append(q.opened, db)
	gate := q.openGate
	q.mu.Unlock()
	if gate == nil {
		done()
		return
	}
	go func() {
		<-gate
		done()
	}()
}

// Bus returns the way to other redlockd, which the test plays.
func (q *fakeQuorum) Bus(deliver func(quorum.Message)) quorum.Bus {
	q.bus = &fakeBus{deliver: deliver, asked: make(chan string, 64)}
	return q.bus
}

// fakeBus notes what is published and subscribed to. While it is slow, nothing is confirmed.
type fakeBus struct {
	deliver func(quorum.Message)
	asked   chan string

	mu    sync.Mutex
	slow  bool
	users map[quorum.Subscription]int
	waits []func()
}

func (b *fakeBus) Publish(kind byte, channel string, parts ...string) {
	b.asked <- fmt.Sprintf("%c %s %s", kind, channel, strings.Join(parts, " "))
}

func (b *fakeBus) Subscribe(s quorum.Subscription, ready func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.users == nil {
		b.users = map[quorum.Subscription]int{}
	}
	if b.users[s]++; b.slow {
		b.waits = append(b.waits, ready)
		return
	}
	ready()
}

func (b *fakeBus) Unsubscribe(s quorum.Subscription) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.users[s]--; b.users[s] == 0 {
		delete(b.users, s)
	}
}

// set makes the bus slow, or confirms what waits.
func (b *fakeBus) set(slow bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.slow = slow
	for _, ready := range b.waits {
		ready()
	}
	b.waits = nil
}

// names returns how many subscriptions there are.
func (b *fakeBus) names() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.users)
}

type alone struct{}

func (alone) Publish(byte, string, ...string)               {}
func (alone) Subscribe(_ quorum.Subscription, ready func()) { ready() }
func (alone) Unsubscribe(quorum.Subscription)               {}

// Opened reports whether Open was called; database 0 is always open.
func (q *fakeQuorum) Opened(db int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return db == 0 || slices.Contains(q.opened, db)
}

// Scan goes over the locks by their names, count at a time.
func (q *fakeQuorum) Scan(_ context.Context, db int, cursor uint64, match func(string) bool, count int) (quorum.Page, error) {
	if q.listGate != nil {
		<-q.listGate
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	names := slices.Sorted(maps.Keys(q.locks))
	from := min(int(cursor), len(names))
	to := min(from+count, len(names))
	page := quorum.Page{Next: uint64(to)}
	if to == len(names) {
		page.Next = 0
	}
	for _, name := range names[from:to] {
		key, ok := strings.CutPrefix(name, id(db, ""))
		if !ok || !match(key) {
			continue
		}
		l := quorum.Listed{Key: key, State: quorum.State{Found: true, Token: q.locks[name], TTL: time.Second}}
		if l.State.Token == "two say so" {
			l = quorum.Listed{Key: key, Err: errors.New("NOQUORUM 2 of 5 masters answered, 3 needed")}
		}
		page.Locks = append(page.Locks, l)
	}
	return page, q.unlisted
}

func (q *fakeQuorum) Copies(context.Context, int, string) []quorum.Copy {
	return []quorum.Copy{
		{Master: "a", State: quorum.Voting, Answered: true, Token: 1, Hold: 2 * time.Second},
		{Master: "b", State: quorum.Voting, Answered: true, Token: 1, Hold: 2 * time.Second},
		{Master: "c", State: quorum.Quarantine, Answered: true, Token: 2, Hold: -time.Millisecond},
		{Master: "d", State: quorum.Voting, Answered: true, Token: 1, Hold: 2 * time.Second},
		{Master: "e", State: quorum.Down},
	}
}

func (q *fakeQuorum) Size(context.Context, int) (int64, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return int64(len(q.locks)), q.unlisted
}

func (q *fakeQuorum) Now() int64 { return 1795175291133 }

func (q *fakeQuorum) Status() quorum.Status {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.status
}

func (q *fakeQuorum) Clock(*quorum.Outcome) time.Duration { return 0 }

func (q *fakeQuorum) Confirm(o *quorum.Outcome, _ time.Duration) (left time.Duration, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, ok := q.granted[o]; !ok {
		return 0, nil
	}
	if q.late != nil {
		delete(q.granted, o)
		return 0, q.late
	}
	return max(q.limit, 1), nil
}

func (q *fakeQuorum) MustRenew(o *quorum.Outcome, _ time.Duration) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.stale[q.granted[o]]
}

// Renew ends when the test lets it (renewed).
func (q *fakeQuorum) Renew(o *quorum.Outcome, _ quorum.Client, done func()) {
	q.mu.Lock()
	key := q.granted[o]
	q.renewals[key] = done
	q.mu.Unlock()
	q.asked <- "renew " + key
}

func (q *fakeQuorum) makeStale(keys ...string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, key := range keys {
		q.stale[key] = true
	}
}

func (q *fakeQuorum) renewed(key string) {
	q.mu.Lock()
	done := q.renewals[key]
	delete(q.renewals, key)
	delete(q.stale, key)
	q.mu.Unlock()
	done()
}

func (q *fakeQuorum) Undo(o *quorum.Outcome) {
	q.mu.Lock()
	defer q.mu.Unlock()
	o.Undo()
	if key, ok := q.granted[o]; ok {
		delete(q.granted, o)
		delete(q.locks, key)
		q.undone <- key
	}
}

func (q *fakeQuorum) holder(key string) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.locks[key]
}

// fakeInterpreter understands LOCK key token, READ key, FREE key, WAKE key list
// items and BOOM.
type fakeInterpreter struct{}

func (fakeInterpreter) Understand(db int, args [][]byte) (commands.Request, bool) {
	op := quorum.Op{DB: db, TTL: time.Second}
	switch name := strings.ToLower(string(args[0])); {
	case name == "boom":
		panic("boom")
	case name == "shapeboom":
		op.Kind, op.Key = quorum.Read, "x"
		return commands.Request{Ops: []quorum.Op{op}, Reply: func([]*quorum.Outcome) resp.Reply { panic("shape") }}, true
	case name == "lock" && len(args) == 3:
		op.Kind, op.Key, op.Token = quorum.Acquire, string(args[1]), string(args[2])
	case name == "read" && len(args) == 2:
		op.Kind, op.Key = quorum.Read, string(args[1])
	case name == "free" && len(args) == 2:
		op.Kind, op.Key = quorum.Remove, string(args[1])
	case name == "wake" && len(args) == 4:
		// Frees a lock, fills a list and publishes, like a script.
		op.Kind, op.Key = quorum.Remove, string(args[1])
		return commands.Request{Ops: []quorum.Op{op}, Reply: fakeReply(op.Kind), Notices: fakeNotices(args)}, true
	default:
		return commands.Request{}, false
	}
	return commands.Request{Ops: []quorum.Op{op}, Reply: fakeReply(op.Kind)}, true
}

func fakeNotices(args [][]byte) func([]*quorum.Outcome) []commands.Notice {
	n := commands.Notice{Signal: string(args[2]), Items: strings.Split(string(args[3]), ","), TTL: time.Second, Lock: string(args[1])}
	return func(outs []*quorum.Outcome) []commands.Notice {
		if outs[0].Verdict != quorum.Won {
			return nil
		}
		return []commands.Notice{n, {Channel: "freed", Message: n.Lock}}
	}
}

func fakeReply(kind quorum.Kind) func([]*quorum.Outcome) resp.Reply {
	return func(outs []*quorum.Outcome) resp.Reply {
		o := outs[0]
		switch {
		case o.Err != nil:
			return resp.Error(o.Err.Error())
		case kind == quorum.Read && o.Verdict == quorum.Held:
			return resp.Bulk(o.State.Token)
		case kind == quorum.Remove && o.Verdict == quorum.Won:
			return resp.Int(1)
		case kind == quorum.Remove:
			return resp.Int(0)
		case kind == quorum.Acquire && o.Verdict == quorum.Won:
			return resp.OK
		}
		return resp.Null
	}
}

func (fakeInterpreter) Scripts() int { return 7 }

func (in fakeInterpreter) Check(args [][]byte) (bool, resp.Reply) {
	if _, ok := in.Understand(0, args); ok {
		return true, resp.Reply{}
	}
	return false, resp.Error("ERR unknown command ")
}

func (in fakeInterpreter) Exec(db int, watched []commands.Watched, queue [][][]byte) commands.Request {
	for _, w := range watched {
		if w.Outcome.Err != nil {
			return commands.Request{Reply: func([]*quorum.Outcome) resp.Reply { return resp.Error(w.Outcome.Err.Error()) }}
		}
	}
	if len(queue) == 0 {
		return commands.Request{Reply: func([]*quorum.Outcome) resp.Reply { return resp.Array() }}
	}
	req, _ := in.Understand(db, queue[0])
	seen := len(watched) == 0 || watched[0].Outcome.State.Found
	inner := req.Reply
	req.Reply = func(outs []*quorum.Outcome) resp.Reply {
		if !seen {
			return resp.NullArray
		}
		return resp.Array(inner(outs))
	}
	return req
}

// running is a server on a port of its own.
type running struct {
	*Server
	q    *fakeQuorum
	addr string
}

func start(t *testing.T, change func(*Config)) *running {
	t.Helper()
	q := newFakeQuorum()
	return startWith(t, q, fakeInterpreter{}, change)
}

func startWith(t *testing.T, q *fakeQuorum, in interpreter, change func(*Config)) *running {
	t.Helper()
	return startParkingAfter(t, *parkSoon, q, in, change)
}

func startParkingAfter(t *testing.T, park time.Duration, q *fakeQuorum, in interpreter, change func(*Config)) *running {
	t.Helper()
	cfg := DefaultConfig()
	if change != nil {
		change(&cfg)
	}
	srv := newServer(cfg, in, q, "1.2.3", hclog.New(&hclog.LoggerOptions{Output: q.log, Level: hclog.Warn}))
	srv.writers.Promises = q
	srv.parkAfter = park
	return serve(t, srv, q, func(ln net.Listener) net.Listener { return ln })
}

// serve serves on a port of its own, through what wraps it.
func serve(t *testing.T, srv *Server, q *fakeQuorum, wrap func(net.Listener) net.Listener) *running {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveAt(t, srv, q, wrap(ln))
}

// serveAt serves at a listener.
func serveAt(t *testing.T, srv *Server, q *fakeQuorum, ln net.Listener) *running {
	t.Helper()
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln, nil) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // tests that want a gentle end ask for it themselves
		_ = srv.Shutdown(ctx)
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return &running{Server: srv, q: q, addr: ln.Addr().String()}
}

// raw is a client that sees bytes.
type raw struct {
	t *testing.T
	net.Conn
	r *bufio.Reader
}

func (r *running) dial(t *testing.T) *raw {
	t.Helper()
	network := "tcp"
	if strings.HasPrefix(r.addr, "/") {
		network = "unix"
	}
	c, err := net.Dial(network, r.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return &raw{t, c, bufio.NewReader(c)}
}

func (c *raw) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		c.t.Fatalf("send %q: %v", text, err)
	}
}

// want reads as many bytes as are expected and compares.
func (c *raw) want(text string) {
	c.t.Helper()
	got := make([]byte, len(text))
	n, err := io.ReadFull(c.r, got)
	if string(got[:n]) != text {
		c.t.Fatalf("got %q (%v), want %q", got[:n], err, text)
	}
}

// ask sends an inline command or raw frames and wants a reply.
func (c *raw) ask(command, reply string) {
	c.t.Helper()
	c.send(command + "\r\n")
	c.want(reply)
}

func (c *raw) wantEOF() {
	c.t.Helper()
	if b, err := c.r.ReadByte(); err == nil {
		rest, _ := io.ReadAll(c.r)
		c.t.Fatalf("got %q, want the end", string(b)+string(rest))
	}
}

func wait[T any](t *testing.T, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		t.Fatalf("waited in vain for %s", what)
	}
	return v
}

// piped is a client in a bubble of synctest: it sends and receives in the
// background, so that synctest.Wait tells when nothing more will happen.
type piped struct {
	net.Conn
	out chan string
	mu  sync.Mutex
	in  strings.Builder
	end bool
}

// pipe starts a server with one session over a pipe, in a bubble.
func pipe(t *testing.T) (*running, *piped) {
	t.Helper()
	return pipeWith(t, nil)
}

// pipeWith is pipe with another configuration.
func pipeWith(t *testing.T, change func(*Config)) (*running, *piped) {
	t.Helper()
	srv, c := unreadPipe(t, change)
	go c.read()
	return srv, c
}

// unreadPipe is pipeWith for a client that does not read.
func unreadPipe(t *testing.T, change func(*Config)) (*running, *piped) {
	t.Helper()
	cfg := DefaultConfig()
	if change != nil {
		change(&cfg)
	}
	q := newFakeQuorum()
	srv := newServer(cfg, fakeInterpreter{}, q, "1.2.3", hclog.NewNullLogger())
	srv.writers.Promises = q
	t.Cleanup(func() { _ = srv.Shutdown(context.Background()) })
	r := &running{Server: srv, q: q}
	return r, r.join(t, func(c net.Conn) net.Conn { return c })
}

// join is one more client over a pipe, whose server's end is wrapped. It does
// not read.
func (r *running) join(t *testing.T, wrap func(net.Conn) net.Conn) *piped {
	t.Helper()
	ours, theirs := net.Pipe()
	c := &piped{Conn: theirs, out: make(chan string, 16)}
	r.admit(wrap(ours))
	go c.write()
	t.Cleanup(func() {
		close(c.out)
		theirs.Close()
	})
	return c
}

// write sends until the session has ended; what comes then goes nowhere.
func (c *piped) write() {
	for text := range c.out {
		_, _ = io.WriteString(c.Conn, text)
	}
}

func (c *piped) read() {
	b := make([]byte, 64<<10)
	for {
		n, err := c.Conn.Read(b)
		c.mu.Lock()
		c.in.Write(b[:n])
		c.end = err != nil
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (c *piped) send(text string) { c.out <- text }

// ended reports whether the server has closed the session, once nothing more will
// happen.
func (c *piped) ended() bool {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.end
}

// received is what has come since the last call.
func (c *piped) received() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := c.in.String()
	c.in.Reset()
	return text
}
