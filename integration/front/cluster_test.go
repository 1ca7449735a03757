package front

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// cluster is three redlockd over five masters, each with its own way to each.
type cluster struct {
	masters   []*rig.Master
	redlockds []*rig.Redlockd
	links     [][]*rig.Link
}

func startCluster(t *testing.T) *cluster {
	masters := rig.StartMasters(t, 5)
	over := rig.Over(masters)
	// Each start waits for six of them.
	over.Timeout = 300 * time.Millisecond
	rig.Bootstrap(t, over)
	c := &cluster{masters: masters}
	for range 3 {
		cfg := over
		cfg.Masters = slices.Clone(over.Masters)
		cfg.Address, cfg.Admin = rig.FreeAddress(t), rig.FreeAddress(t)
		var links []*rig.Link
		for i, m := range masters {
			links = append(links, rig.NewLink(t, m.Addr))
			cfg.Masters[i] = links[i].Addr
		}
		c.links = append(c.links, links)
		c.redlockds = append(c.redlockds, rig.JoinRedlockd(t, cfg))
	}
	c.waitWell()
	return c
}

// waitWell waits until a lock taken through each redlockd is on all masters.
func (c *cluster) waitWell() {
	for _, r := range c.redlockds {
		r.WaitVoting(c.masters...)
	}
}

// away puts all masters this far away, each way.
func (c *cluster) away(latency time.Duration) {
	for _, links := range c.links {
		for _, l := range links {
			l.Slow(latency)
		}
	}
}

// served is how many commands each redlockd has served.
func (c *cluster) served() []int {
	var n []int
	for _, r := range c.redlockds {
		served, _ := strconv.Atoi(r.Info("total_commands_processed"))
		n = append(n, served)
	}
	return n
}

const (
	frozen = "SIGSTOP"
	cutOff = "cut off from the masters"
)

// fault is something that happens to one redlockd, and its end.
type fault struct {
	name       string
	begin, end func(c *cluster, n int)
}

var faults = []fault{
	{"kill -9", func(c *cluster, n int) { c.redlockds[n].Kill() }, restart},
	{frozen, func(c *cluster, n int) { c.redlockds[n].Freeze() }, func(c *cluster, n int) { c.redlockds[n].Thaw() }},
	{"SIGTERM", func(c *cluster, n int) { c.redlockds[n].Stop() }, restart},
	{cutOff, func(c *cluster, n int) {
		for _, l := range c.links[n] {
			l.Cut()
		}
	}, func(c *cluster, n int) {
		for _, l := range c.links[n] {
			l.Mend()
		}
	}},
}

func restart(c *cluster, n int) { c.redlockds[n].Restart() }
