package main

import "time"

const (
	takeTime   = "take p50 ms"
	tripTime   = "round trip ms"
	roundTrips = "take, round trips"
)

var farColumns = []string{perSecond, p50, p99, takeTime, tripTime, roundTrips, cpuMasters, cpuRedlockd, cpuClient, cpuRelay, cores, failures}

// farAway is the round trip to masters that are not near.
const farAway = time.Millisecond

// runFar is workload e.
func runFar(b *bench) error {
	c, err := b.rig.cluster(b.ctx, clusterOptions{delay: farAway})
	if err != nil {
		return err
	}
	if err := b.tellDelay(c.addrs[0], c.masters[0].addr); err != nil {
		return err
	}
	if err := b.compareFar(c); err != nil {
		return err
	}
	const many = 128
	p, err := pipelining(throughPipeline, c.redlockd.addr, many)
	if err != nil {
		return err
	}
	text, five := clientsText(many), parts{masters: c.masters, relay: c.relay}
	all := five
	all.redlockd = c.redlockd
	list := []contender{
		{goRedis(through, c.redlockd.addr, many), text, many, all},
		{overRedsync(redsyncFive, c.addrs, many), text, many, five},
		{p, text, many, all},
	}
	for _, l := range list {
		defer l.close()
	}
	if err := b.compare("e", list); err != nil {
		return err
	}
	b.atMost("6", 1.15, b.figure("e", clientsText(1), through, roundTrips).Median(),
		"1 client: round trips to the masters for a lock")
	b.atLeast("6", 10, ratio(b.figure("e", text, through, perSecond), b.figure("e", text, redsyncFive, perSecond)),
		"128 clients: cycles/s, redlockd to redsync (or the next line)")
	limit := &figure{}
	for _, trip := range b.figure("e", clientsText(1), through, tripTime).Rounds {
		limit.Rounds = append(limit.Rounds, many/(2*trip/1000))
	}
	b.atLeast("6", 0.9, ratio(b.figure("e", text, through, perSecond), limit),
		"128 clients: cycles/s, redlockd to what two round trips allow")
	return nil
}

// compareFar is one client, whose locks are counted in round trips. These are
// measured beside each round, because a busy machine makes them longer.
func (b *bench) compareFar(c *cluster) error {
	fleets := []fleet{goRedis(through, c.redlockd.addr, 1), overRedsync(redsyncFive, c.addrs, 1)}
	for _, f := range fleets {
		defer f.close()
		cycles(f, 1, b.length/5, parts{})
	}
	text := clientsText(1)
	for range b.rounds {
		for _, f := range fleets {
			if err := b.ctx.Err(); err != nil {
				return err
			}
			trip, err := roundTrip(c.addrs[0])
			if err != nil {
				return err
			}
			o := cycles(f, 1, b.length, parts{})
			b.keep("e", text, f.name, o)
			if len(o.takes) > 0 {
				take := percentile(o.takes, 0.5)
				b.table.add("e", text, f.name, figures{takeTime: millis(take),
					tripTime: millis(trip), roundTrips: float64(take) / float64(trip)})
			}
		}
	}
	for _, f := range fleets {
		b.tell("e", text, f.name)
	}
	return nil
}
