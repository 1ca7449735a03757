package quorum

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/cluster"
)

// node is one redlockd, now and then.
type node struct {
	*storm
	number int
	rng    *rand.Rand
	turn   chan struct{} // of who restarts it, or changes its list

	mu    sync.Mutex
	cfg   cluster.Config
	file  []site
	known []site // all that were ever in it
	// used is the list in force when it ended.
	used  []site
	q     *Quorum // nil while it is down
	clock *pendulum
	wires *wiring
	// thawed is closed at the end of a freeze; nil when there is none.
	thawed chan struct{}
	froze  int // how often
	// uncounted is the time that its clocks have not counted.
	uncounted time.Duration
	lives     int
	crashed   int // how often
}

// wiring are the wires of one redlockd from its start to its end.
type wiring struct {
	*node
	wires  map[*redisServer]*wire
	frozen int // 1 while the redlockd stands still
	dead   bool
	life   int
}

// wire is that to a server, made if there is none. Needs the world's lock.
func (g *wiring) wire(f *redisServer) *wire {
	w := g.wires[f]
	if w == nil {
		w = &wire{world: g.world, server: f, pipes: map[*pipe]bool{}, dead: g.dead,
			rng: g.stream(fmt.Sprint("wire", g.number, f.name, g.life))}
		way := time.Duration(w.rng.IntN(400)) * time.Microsecond
		w.there = direction{delay: way, jitter: way, stalled: g.frozen}
		w.back = w.there
		g.wires[f] = w
	}
	return w
}

// masters is a list as a redlockd's configuration has it.
func (n *node) masters(g *wiring, list []site) []cluster.Master {
	var out []cluster.Master
	for _, p := range list {
		m := cluster.Master{Name: p.master, Address: p.address, Required: p.master == "a" && n.shape.required}
		m.Dial = func() (net.Conn, error) {
			g.Lock()
			w := g.wire(p.leads())
			g.Unlock()
			return w.dial()
		}
		out = append(out, m)
	}
	return out
}

// wiring is that of the present life.
func (n *node) wiring() *wiring {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.wires
}

// begin prepares a life.
func (n *node) begin() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lives++
	n.wires = &wiring{node: n, wires: map[*redisServer]*wire{}, life: n.lives}
	n.clock = &pendulum{world: n.world, rate: 1}
	if has("drift") {
		n.clock.rate = 1 + (n.rng.Float64()-0.5)*0.009
	}
}

// boot starts a redlockd by what its file says.
func (n *node) boot() {
	n.begin()
	cfg := n.cfg
	list := n.file
	n.known = append(n.known, list...)
	if !has("newfile") && n.used != nil {
		list = n.used
	}
	cfg.Masters = n.masters(n.wires, list)
	q, err := newQuorum(cfg, &logger{Logger: hclog.NewNullLogger(), node: n}, n.clock.now)
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

// crash ends a redlockd; what it has sent goes on.
func (n *node) crash() {
	n.thaw(true)
	g := n.wiring()
	n.Lock()
	g.dead = true
	for _, w := range g.wires {
		w.dead = true
		for p := range w.pipes {
			p.in.queue = nil
			p.receive(nil)
		}
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

// running waits until it does not stand still, and returns what runs and its
// life; nil where none does.
func (n *node) running() (*Quorum, int) {
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

// stillness is how often it stood still, and what time it has not counted.
func (n *node) stillness() (int, time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.froze, n.uncounted
}

// freeze makes it stand still, as SIGSTOP does: its clock, what it sends and
// what it would read.
func (n *node) freeze() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.thawed != nil || n.q == nil {
		return false
	}
	n.thawed = make(chan struct{})
	n.froze++
	n.clock.stop()
	n.hold(n.wires, 1)
	return true
}

// hold stalls all wires, or lets them go. Needs mu.
func (n *node) hold(g *wiring, by int) {
	n.Lock()
	g.frozen += by
	wires := make([]*wire, 0, len(g.wires))
	for _, f := range n.storm.servers {
		if w := g.wires[f]; w != nil {
			wires = append(wires, w)
		}
	}
	n.Unlock()
	for _, w := range wires {
		w.change(func() { w.there.stalled, w.back.stalled = w.there.stalled+by, w.back.stalled+by })
	}
}

// thaw ends that.
func (n *node) thaw(counts bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.thawed == nil {
		return
	}
	if n.clock.goOn(counts); !counts {
		n.uncounted += n.world.now() - n.clock.at
	}
	n.hold(n.wires, -1)
	close(n.thawed)
	n.thawed = nil
}

// config is what the redlockd goes by.
func (n *node) config() cluster.Config {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cfg
}

// inForce is the list that a redlockd goes by, as files have it. Needs mu.
func (n *node) inForce(q *Quorum) []site {
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
