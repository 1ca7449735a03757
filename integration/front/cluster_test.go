package front

import (
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// cluster is three redlockd over five masters, each with its own way to each.
type cluster struct {
	t         *testing.T
	redlockds []*rig.Redlockd
	links     [][]*rig.Link
}

func startCluster(t *testing.T) *cluster {
	masters := rig.StartMasters(t, 5)
	over := rig.Over(masters)
	// Each start waits for six of them.
	over.Timeout = 300 * time.Millisecond
	rig.Bootstrap(t, over)
	c := &cluster{t: t}
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
	for _, r := range c.redlockds {
		r.WaitVoting(masters...)
	}
	return c
}

// waitReady waits until all redlockd are.
func (c *cluster) waitReady() {
	c.t.Helper()
	for _, r := range c.redlockds {
		rig.Eventually(c.t, r.Addr+" is ready", func() (bool, string) {
			answer, err := http.Get("http://" + r.Admin + "/readyz")
			if err != nil {
				return false, err.Error()
			}
			_ = answer.Body.Close()
			return answer.StatusCode == http.StatusOK, answer.Status
		})
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

// fault is something that happens to one redlockd, and its end.
type fault struct {
	name       string
	begin, end func(c *cluster, n int)
}

var faults = []fault{
	{"kill -9", func(c *cluster, n int) { c.redlockds[n].Kill() }, restart},
	{"SIGSTOP", func(c *cluster, n int) { c.redlockds[n].Freeze() }, func(c *cluster, n int) { c.redlockds[n].Thaw() }},
	{"SIGTERM", func(c *cluster, n int) { c.redlockds[n].Stop() }, restart},
	{"cut off from the masters", func(c *cluster, n int) {
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
