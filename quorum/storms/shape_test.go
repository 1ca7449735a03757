package storms

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/fakeredis"
)

// classes are the kinds of faults and operations in a storm, by the names that -without
// takes.
var classes = map[string]string{
	"cut": "ways that are cut", "oneway": "cut in one direction", "delay": "slow ways", "reset": "connections that break",
	"freeze": "redlockd that stand still", "suspend": "and whose clocks do too", "crash": "redlockd that end",
	"still": "masters that stand still", "slow": "masters that are slow", "kill": "masters that end, and come back with what they had", "empty": "or empty",
	"olddisk": "or with an old disk", "aof": "masters that say that they lose nothing", "flush": "FLUSHALL", "errors": "masters that answer errors",
	"scripts": "SCRIPT FLUSH", "role": "masters that are replicas for a while", "lossyrole": "and lose what came last", "evict": "masters that evict",
	"step": "clocks that step", "common": "of a majority at once", "drift": "clocks of other speeds",
	"list": "changes of the list of masters", "address": "changes of an address", "names": "names that move to another server",
	"settings": "redlockd with other settings", "required": "a required master", "seven": "masters of version 7",
	"databases": "more than one database", "crowd": "many keys at once", "tokenless": "commands that name no token",
	"decide": "operations that depend on a read", "several": "operations on several keys", "moves": "that free one lock and take another", "pxat": "absolute expiries",
	"again": "the same token at another redlockd", "hasty": "clients that go before the answer", "replace": "tokens that change", "orextend": "acquire-or-extend",
	"word":  "a judge who knows that nobody has what was freed by the required master's word",
	"floor": "a low floor, above which all masters are told", "forget": "majorities that come back empty", "forgetlist": "also while the list of masters changes",
	"setget": "SET NX GET, and a judge of the tokens that are told", "watch": "WATCH and EXEC", "members": "several holders in one string",
	"comesback": "one token for all clients", "hashes": "locks that their holders take several times, as those in hashes", "leaves": "a judge who wants who takes its name out to be told so, also at a second try", "noquorum": "a judge who wants a cause of each NOQUORUM",
	"newfile": "redlockd that start with a list that nobody has announced",
}

func has(class string) bool {
	if classes[class] == "" {
		panic("no class is named " + class)
	}
	return !strings.Contains(","+*leftOut+",", ","+class+",")
}

// shape is what a storm consists of.
type shape struct {
	masters, nodes int
	required       bool
	differ         bool // in their settings
	rolling        bool // to other settings
	versions       []string
	settings       []cluster.Config
}

func drawShape(rng *rand.Rand) shape {
	p := shape{masters: []int{1, 2, 3, 3, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 7}[rng.IntN(16)], nodes: 1 + rng.IntN(4)}
	p.required = rng.IntN(5) == 0 && has("required")
	p.differ = rng.IntN(2) == 0 && has("settings")
	p.rolling = rng.IntN(4) == 0 && has("settings")
	seven := rng.IntN(3)
	for range p.masters + 6 {
		if (seven == 0 || seven == 1 && rng.IntN(2) == 0) && has("seven") {
			p.versions = append(p.versions, "7.2.4")
		} else {
			p.versions = append(p.versions, "6.2.14")
		}
	}
	for range 3 { // one of which each redlockd gets
		p.settings = append(p.settings, drawSettings(rng))
	}
	if floor := []time.Duration{0, 500 * time.Millisecond, time.Second, 2 * time.Second}[rng.IntN(4)]; has("floor") {
		for i := range p.settings {
			p.settings[i].LowFloor = floor // the same for all
		}
	}
	return p
}

func drawSettings(rng *rand.Rand) cluster.Config {
	cfg := cluster.DefaultConfig()
	cfg.Timeout = []time.Duration{20, 50, 50, 50, 100, 200}[rng.IntN(6)] * time.Millisecond
	cfg.RetryBudget = []time.Duration{0, 100, 200, 200, 300}[rng.IntN(5)] * time.Millisecond
	cfg.MaxTTL = []time.Duration{1, 2, 3, 3, 5, 5, 5, 5, 10, 20}[rng.IntN(10)] * time.Second
	cfg.Handover = []time.Duration{1, 2, 4}[rng.IntN(3)] * time.Second
	return cfg
}

// setting returns the settings with which a redlockd is started.
func (p *shape) setting(rng *rand.Rand, restarted bool) cluster.Config {
	if p.differ || p.rolling && restarted {
		return p.settings[rng.IntN(len(p.settings))]
	}
	return p.settings[0]
}

func (p *shape) String() string {
	text := fmt.Sprintf("%d masters %v, %d redlockd, required %v", p.masters, p.versions[:p.masters], p.nodes, p.required)
	for i, cfg := range p.settings {
		if i == 0 || p.differ || p.rolling {
			text += fmt.Sprintf("; timeout %v, retry_budget %v, max_ttl %v, handover %v, low floor %v", cfg.Timeout, cfg.RetryBudget, cfg.MaxTTL, cfg.Handover, cfg.LowFloor)
		}
	}
	return text
}

// site is where a master of the list is: at an address, or under a name that leads to a
// server.
type site struct {
	master  string
	address string
	to      *fakeredis.Server
	// moving is where the name leads now, for every redlockd with the site. The caller
	// must hold the world's lock.
	moving **fakeredis.Server
}

// leads returns the server there. The caller must hold the world's lock.
func (p *site) leads() *fakeredis.Server {
	if p.moving != nil {
		return *p.moving
	}
	return p.to
}

// server adds one more server.
func (s *storm) server(name string) *fakeredis.Server {
	s.Lock()
	defer s.Unlock()
	rng := s.stream("server" + name)
	f := fakeredis.NewServer(s.World, name, s.shape.versions[len(s.servers)%len(s.shape.versions)], rng)
	if has("drift") {
		f.Rate = 1 + (rng.Float64()-0.5)*0.009
	}
	f.AOF = rng.IntN(3) == 0 && has("aof")
	s.servers = append(s.servers, f)
	return f
}

// place returns a site for a server; every third has a name that may move.
func (s *storm) place(master string, f *fakeredis.Server) site {
	p := site{master: master, address: f.Name + ":1", to: f}
	if f.Rand.IntN(3) == 0 {
		to := f
		p.moving = &to
	}
	return p
}

// build starts the masters and redlockd.
func (s *storm) build() {
	for i := range s.shape.masters {
		name := string(rune('a' + i))
		s.file = append(s.file, s.place(name, s.server(name)))
	}
	for i := range s.shape.nodes {
		n := &node{storm: s, number: i, rng: s.stream(fmt.Sprint("node", i)), file: s.file, openedAt: map[[2]int]time.Duration{}, idle: map[string]time.Duration{}, turn: make(chan struct{}, 1)}
		n.cfg = s.shape.setting(n.rng, false)
		s.nodes = append(s.nodes, n)
	}
	first := s.nodes[0]
	first.begin()
	cfg := first.cfg
	cfg.Masters = first.masters(first.wiring(), first.file)
	ctx, cancel := patient(time.Minute)
	defer cancel()
	if err := cluster.Bootstrap(ctx, cfg, hclog.NewNullLogger()); err != nil {
		s.t.Fatalf("bootstrap: %v", err)
	}
	for _, n := range s.nodes {
		n.boot()
	}
}
