package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// cluster is five masters and the redlockd over them.
type cluster struct {
	masters []*process
	// addrs are where the masters are reached: their own addresses, or those
	// of a relay before them.
	addrs    []string
	redlockd *process
	relay    *process // nil without a delay
}

// clusterOptions say how a cluster differs from the usual one.
type clusterOptions struct {
	// delay is that of a relay before each master; 0 is none. Only those
	// before the last ones are delayed when slow is not 0.
	delay time.Duration
	slow  int
	// maxTTL is redlockd's max_ttl; empty is its default.
	maxTTL string
	// binary is the redlockd; empty is the one that is measured.
	binary string
}

// cluster starts five masters, marks them, and starts a redlockd over them.
func (r *rig) cluster(ctx context.Context, o clusterOptions) (*cluster, error) {
	if o.binary == "" {
		o.binary = r.binary
	}
	c := &cluster{masters: make([]*process, 5), addrs: make([]string, 5)}
	errs := make([]error, len(c.masters))
	var wg sync.WaitGroup
	for i := range c.masters {
		wg.Go(func() { c.masters[i], errs[i] = r.redis(ctx) })
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, err
		}
		c.addrs[i] = c.masters[i].addr
	}
	if err := r.relay(ctx, c, o); err != nil {
		return nil, err
	}
	config, err := r.config(c, o)
	if err != nil {
		return nil, err
	}
	if said, err := exec.CommandContext(ctx, o.binary, "-bootstrap", "-config", config).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("redlockd -bootstrap: %w\n%s", err, said)
	}
	c.redlockd, err = r.redlockd(ctx, o.binary, config, len(c.masters))
	return c, err
}

// another starts one more redlockd over the same masters.
func (r *rig) another(ctx context.Context, c *cluster, o clusterOptions) (*process, error) {
	config, err := r.config(c, o)
	if err != nil {
		return nil, err
	}
	return r.redlockd(ctx, r.binary, config, len(c.masters))
}

// config writes a config.hcl. What it does not name is redlockd's default.
func (r *rig) config(c *cluster, o clusterOptions) (string, error) {
	var b strings.Builder
	b.WriteString("listen {\n  address = \"127.0.0.1:0\"\n  max_clients = 20000\n}\n")
	b.WriteString("admin {\n  address = \"127.0.0.1:0\"\n  pprof   = true\n}\nlog {\n  json = true\n}\n")
	b.WriteString("quorum {\n")
	if o.maxTTL != "" {
		fmt.Fprintf(&b, "  max_ttl = %q\n", o.maxTTL)
	}
	if r.timeout > 0 {
		fmt.Fprintf(&b, "  timeout = %q\n", r.timeout)
	}
	b.WriteString("}\n")
	for i, addr := range c.addrs {
		fmt.Fprintf(&b, "master %q {\n  address = %q\n}\n", string(rune('a'+i)), addr)
	}
	f, err := os.CreateTemp(r.dir, "*.hcl")
	if err != nil {
		return "", err
	}
	defer f.Close()
	_, err = f.WriteString(b.String())
	return f.Name(), err
}

// redlockd starts one and waits until all the masters vote.
func (r *rig) redlockd(ctx context.Context, binary, config string, masters int) (*process, error) {
	p, err := r.launch(binary, "-config", config)
	if err != nil {
		return nil, err
	}
	err = p.await(ctx, func() error {
		if p.addr, p.admin = p.servesAt(); p.addr == "" || p.admin == "" {
			return fmt.Errorf("it does not say where it serves")
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("redlockd: %w", err)
	}
	c := redis.NewClient(&redis.Options{Addr: p.addr, MaxRetries: -1})
	defer c.Close()
	probe := &overGoRedis{c: c}
	err = p.await(ctx, func() error {
		// Long enough for every lock of the bench: the masters' marks bear the
		// greatest hold, and the first one writes it.
		if ok, err := probe.takeFor("bench:probe", 5*time.Minute); err != nil || !ok {
			return fmt.Errorf("the probe was not taken: %w", err)
		}
		if err := probe.free("bench:probe"); err != nil {
			return err
		}
		if n, err := p.metric("redlockd_masters_voting"); err != nil || int(n) != masters {
			return fmt.Errorf("%v of %d masters vote: %w", n, masters, err)
		}
		return nil
	})
	return p, err
}

// servesAt reads the addresses from redlockd's log.
func (p *process) servesAt() (addr, admin string) {
	lines := bufio.NewScanner(strings.NewReader(p.log.String()))
	for lines.Scan() {
		var line struct {
			Message string `json:"@message"`
			Address string `json:"address"`
		}
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			continue
		}
		switch {
		case line.Message == "serving":
			addr = line.Address
		case strings.HasPrefix(line.Message, "serving metrics"):
			admin = line.Address
		}
	}
	return addr, admin
}

// metric reads a number without labels from redlockd's admin address.
func (p *process) metric(name string) (float64, error) {
	reply, err := http.Get("http://" + p.admin + "/metrics")
	if err != nil {
		return 0, err
	}
	defer reply.Body.Close()
	lines := bufio.NewScanner(reply.Body)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("no metric %s: %w", name, lines.Err())
}

// collect has redlockd collect its garbage.
func (p *process) collect() error {
	reply, err := http.Get("http://" + p.admin + "/debug/pprof/heap?gc=1")
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("a collection: %s", reply.Status)
	}
	_, err = io.Copy(io.Discard, reply.Body)
	return err
}
