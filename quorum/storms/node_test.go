package storms

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum"
	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/fakeredis"
)

// node is one redlockd, through all its restarts.
type node struct {
	*storm
	number int
	rng    *rand.Rand
	turn   chan struct{} // held while it is restarted or its list changed

	mu    sync.Mutex
	cfg   cluster.Config
	file  []site
	known []site // all that were ever in its file
	// used is the list in force when it ended.
	used  []site
	q     *quorum.Quorum // nil while it is down
	clock *pendulum
	wires *wiring
	// thawed is closed at the end of a freeze; nil when there is none.
	thawed chan struct{}
	froze  int // how often
	// stoodAt is when the last freeze ended.
	stoodAt time.Duration
	// uncounted is the time that its clocks have not counted.
	uncounted time.Duration
	lives     int
	// openedAt is since when it has used a database, in one of its lives.
	openedAt map[[2]int]time.Duration
	// idle is when a master was last seen not to vote for it.
	idle    map[string]time.Duration
	crashed int // how often
}

// wiring has the wires of one redlockd in one of its lives.
type wiring struct {
	*node
	wires  map[*fakeredis.Server]*fakeredis.Wire
	frozen int // 1 while the redlockd stands still
	dead   bool
	life   int
}

// wire returns the wire to a server, and makes it if there is none. The caller must
// hold the world's lock.
func (g *wiring) wire(f *fakeredis.Server) *fakeredis.Wire {
	w := g.wires[f]
	if w == nil {
		rng := g.stream(fmt.Sprint("wire", g.number, f.Name, g.life))
		if w = fakeredis.NewWire(f, rng); g.dead {
			w.Die()
		}
		way := time.Duration(rng.IntN(400)) * time.Microsecond
		w.There = fakeredis.Direction{Delay: way, Jitter: way, Stalled: g.frozen}
		w.Back = w.There
		g.wires[f] = w
	}
	return w
}

// masters returns a list as in a redlockd's configuration.
func (n *node) masters(g *wiring, list []site) []cluster.Master {
	var out []cluster.Master
	for _, p := range list {
		m := cluster.Master{Name: p.master, Address: p.address, Required: p.master == "a" && n.shape.required}
		m.Dial = func() (net.Conn, error) {
			g.Lock()
			w := g.wire(p.leads())
			g.Unlock()
			return w.Dial()
		}
		out = append(out, m)
	}
	return out
}

// wiring returns the wires of the present life.
func (n *node) wiring() *wiring {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.wires
}

// begin prepares a new life.
func (n *node) begin() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lives++
	n.wires = &wiring{node: n, wires: map[*fakeredis.Server]*fakeredis.Wire{}, life: n.lives}
	n.clock = &pendulum{World: n.World, rate: 1}
	if has("drift") {
		n.clock.rate = 1 + (n.rng.Float64()-0.5)*0.009
	}
}

// boot starts a redlockd with the list in its file.
func (n *node) boot() {
	list := n.files()
	if !has("newfile") && n.used != nil {
		list = n.used
	}
	n.bootWith(list)
}

// bootWith starts a redlockd with a list, and reloads it if its file has another one.
func (n *node) bootWith(list []site) {
	n.begin()
	cfg := n.cfg
	n.known = append(n.known, n.file...)
	cfg.Masters = n.masters(n.wires, list)
	q, err := quorum.NewWithClock(cfg, &logger{Logger: hclog.NewNullLogger(), node: n}, n.clock.now)
	if err != nil {
		n.t.Fatal(err)
	}
	n.mu.Lock()
	n.q = q
	n.mu.Unlock()
	if len(list) != len(n.file) || cluster.ListName(n.masters(n.wires, n.file)) != cluster.ListName(cfg.Masters) {
		_ = q.ChangeMasters(n.masters(n.wires, n.file))
	}
}

// crash ends a redlockd; what it has sent still arrives.
func (n *node) crash() {
	n.thaw(true)
	g := n.wiring()
	n.Lock()
	g.dead = true
	for _, w := range g.wires {
		w.Die()
	}
	n.Unlock()
	n.end()
}

// end stops a redlockd.
func (n *node) end() {
	n.mu.Lock()
	q := n.q
	n.q = nil
	n.lives++
	if q != nil {
		n.used = n.inForce(q)
	}
	n.mu.Unlock()
	if q == nil {
		return
	}
	ctx, cancel := patient(10 * time.Second)
	defer cancel()
	_ = q.Close(ctx)
}

// running waits for the end of a freeze, and returns the Quorum and the number of its
// life; nil while the redlockd is down.
func (n *node) running() (*quorum.Quorum, int) {
	for {
		n.mu.Lock()
		q, life, thawed := n.q, n.lives, n.thawed
		n.mu.Unlock()
		if thawed == nil {
			return q, life
		}
		<-thawed
	}
}

// stillness returns how often it stood still, and how much time it has not counted.
func (n *node) stillness() (int, time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.froze, n.uncounted
}

// stood reports whether it has stood still since a time.
func (n *node) stood(since time.Duration) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.thawed != nil || n.stoodAt > 0 && n.stoodAt >= since
}

// freeze makes the redlockd stand still, as SIGSTOP does: its clock, what it sends and
// what it would read.
func (n *node) freeze() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.thawed != nil || n.q == nil {
		return false
	}
	n.thawed = make(chan struct{})
	n.froze++
	n.troubled(n, nil, 0)
	n.clock.stop()
	n.hold(n.wires, 1)
	return true
}

// hold stalls all wires (by 1), or releases them (by -1). The caller must hold mu.
func (n *node) hold(g *wiring, by int) {
	n.Lock()
	g.frozen += by
	wires := make([]*fakeredis.Wire, 0, len(g.wires))
	for _, f := range n.storm.servers {
		if w := g.wires[f]; w != nil {
			wires = append(wires, w)
		}
	}
	n.Unlock()
	for _, w := range wires {
		w.Change(func() { w.There.Stalled, w.Back.Stalled = w.There.Stalled+by, w.Back.Stalled+by })
	}
}

// thaw ends a freeze; counts reports whether the clock counts its time.
func (n *node) thaw(counts bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.thawed == nil {
		return
	}
	if n.clock.goOn(counts); !counts {
		n.uncounted += n.World.Now() - n.clock.at
	}
	n.hold(n.wires, -1)
	if n.troubled(n, nil, 0); !counts {
		n.troubled(nil, nil, 0) // it doubts the clocks of all, for all (M5)
	}
	close(n.thawed)
	n.thawed, n.stoodAt = nil, n.World.Now()
}

// do carries an operation out for a client that waits.
func (n *node) do(op quorum.Op) *quorum.Outcome {
	out := make(chan *quorum.Outcome, 1)
	n.q.Do(&op, nil, func(o *quorum.Outcome) { out <- o })
	return <-out
}

// open waits until a database is open.
func (n *node) open(db int) {
	done := make(chan struct{})
	n.q.Open(db, func() { close(done) })
	<-done
}

// config returns the present configuration.
func (n *node) config() cluster.Config {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cfg
}

// inForce returns the list that a redlockd uses, as sites. The caller must hold mu.
func (n *node) inForce(q *quorum.Quorum) []site {
	var out []site
	for _, m := range q.Status().Masters {
		for _, p := range n.known {
			if p.master == m.Name && p.address == m.Address {
				out = append(out, p)
				break
			}
		}
	}
	return out
}
