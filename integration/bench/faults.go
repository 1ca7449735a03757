package main

import (
	"time"

	"github.com/go-redsync/redsync/v4"
)

var faultColumns = []string{perSecond, p50, p99, failures}

// redsyncFast is redsync that does not wait for the slow masters.
const redsyncFast = "redsync, fail fast"

const faultClients = 16

// What ails one of the masters.
const (
	well   = "all well"
	dead   = "one dead"
	frozen = "one frozen"
	slow   = "one 20 ms slow"
)

var faultConditions = []string{well, dead, frozen, slow}

// slowBy is how much later than the others a slow master answers.
const slowBy = 20 * time.Millisecond

// runFaults is workload d: a cluster for each case, and by turns over all.
func runFaults(b *bench) error {
	var list []contender
	for _, condition := range faultConditions {
		o := clusterOptions{}
		if condition == slow {
			o = clusterOptions{delay: slowBy, slow: 1}
		}
		c, err := b.rig.cluster(b.ctx, o)
		if err != nil {
			return err
		}
		last := c.masters[len(c.masters)-1]
		switch condition {
		case dead:
			last.kill()
		case frozen:
			if err := last.freeze(); err != nil {
				return err
			}
		case slow:
			if err := b.tellDelay(c.addrs[len(c.addrs)-1], last.addr); err != nil {
				return err
			}
		}
		own := []contender{
			{goRedis(through, c.redlockd.addr, faultClients), condition, faultClients, parts{}},
			{overRedsync(redsyncFive, c.addrs, faultClients), condition, faultClients, parts{}},
			{overRedsync(redsyncFast, c.addrs, faultClients, redsync.WithFailFast(true)), condition, faultClients, parts{}},
		}
		for _, o := range own {
			defer o.close()
		}
		list = append(list, own...)
	}
	if err := b.compare("d", list); err != nil {
		return err
	}
	at := func(condition, what string) *figure { return b.figure("d", condition, through, what) }
	for _, condition := range faultConditions[1:] {
		b.atMost("5", 1.1, ratio(at(condition, p50), at(well, p50)), condition+": median time to that with all well")
		b.atMost("5", 1.3, ratio(at(condition, p99), at(well, p99)), condition+": p99 to that with all well")
	}
	return nil
}

// tellDelay says what a relay really does.
func (b *bench) tellDelay(relayed, direct string) error {
	far, err := roundTrip(relayed)
	if err != nil {
		return err
	}
	near, err := roundTrip(direct)
	if err != nil {
		return err
	}
	b.note("A PING takes %.3f ms through the relay and %.3f ms without it.", millis(far), millis(near))
	return nil
}
