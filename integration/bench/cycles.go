package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/rueidis"
)

var cycleColumns = []string{perSecond, p50, p99, cpuMasters, cpuEach, cpuUser, cpuSystem, cpuClient, cpuAll, cores,
	callsMasters, callsRedlockd, failures}

// cpuEach is the share of one of five masters.
const cpuEach = "each master µs"

// The contenders, as the tables and the chart name them.
const (
	direct          = "one Redis, go-redis"
	directPipelined = "one Redis, rueidis"
	directLibrary   = "one Redis, redislock"
	redsyncFive     = "redsync, five masters"
	through         = "redlockd, go-redis"
	throughPipeline = "redlockd, rueidis"
	atBest          = "one Redis, batches of 256"
)

var clientCounts = []int{1, 16, 128, 512}

func clientsText(n int) string {
	if n == 1 {
		return "1 client"
	}
	return fmt.Sprintf("%d clients", n)
}

// runCycles is workload a.
func runCycles(b *bench) error {
	one, err := b.rig.redis(b.ctx)
	if err != nil {
		return err
	}
	c, err := b.rig.cluster(b.ctx, clusterOptions{})
	if err != nil {
		return err
	}
	for _, n := range clientCounts {
		list, err := cycleContenders(one, c, n)
		if err != nil {
			return err
		}
		err = b.compare("a", list)
		for _, c := range list {
			c.close()
		}
		if err != nil {
			return err
		}
	}
	b.shareOfEach()
	if err := b.floor(one); err != nil {
		return err
	}
	b.cycleAims()
	if b.rig.before == "" {
		return nil
	}
	// Both are new, so that neither has a longer history.
	now, err := b.rig.cluster(b.ctx, clusterOptions{})
	if err != nil {
		return err
	}
	before, err := b.rig.cluster(b.ctx, clusterOptions{binary: b.rig.before})
	if err != nil {
		return err
	}
	return b.versus(now, before)
}

// shareOfEach adds what one of five masters takes.
func (b *bench) shareOfEach() {
	five := []string{redsyncFive, through, throughPipeline}
	for _, r := range b.table.Rows {
		f := r.Figures[cpuMasters]
		if r.Workload != "a" || f == nil || !slices.Contains(five, r.Contender) {
			continue
		}
		each := &figure{}
		for _, v := range f.Rounds {
			each.Rounds = append(each.Rounds, v/5)
		}
		r.Figures[cpuEach] = each
	}
}

// cycleContenders are those of workload a.
func cycleContenders(one *process, c *cluster, n int) ([]contender, error) {
	a, err := pipelining(directPipelined, one.addr, n)
	if err != nil {
		return nil, err
	}
	d, err := pipelining(throughPipeline, c.redlockd.addr, n)
	if err != nil {
		return nil, err
	}
	alone, five, all := parts{masters: []*process{one}}, parts{masters: c.masters}, parts{masters: c.masters, redlockd: c.redlockd}
	text := clientsText(n)
	return []contender{
		{goRedis(direct, one.addr, n), text, n, alone},
		{a, text, n, alone},
		{overRedislock(directLibrary, one.addr, n), text, n, alone},
		{overRedsync(redsyncFive, c.addrs, n), text, n, five},
		{goRedis(through, c.redlockd.addr, n), text, n, all},
		{d, text, n, all},
	}, nil
}

func (b *bench) cycleAims() {
	at := func(n int, who, what string) *figure { return b.figure("a", clientsText(n), who, what) }
	b.atLeast("1", 5, ratio(at(128, through, perSecond), at(128, redsyncFive, perSecond)),
		"128 clients: cycles/s, redlockd to redsync")
	b.atLeast("1", 0.5, ratio(at(128, through, perSecond), at(128, direct, perSecond)),
		"128 clients: cycles/s, redlockd to one Redis")
	b.atMost("1", 1.1, ratio(at(1, through, p50), at(1, redsyncFive, p50)),
		"1 client: median time, redlockd to redsync")
	b.atMost("1", 3, ratio(at(128, through, p99), at(128, through, p50)),
		"128 clients: redlockd's p99 to its median")
	b.atLeast("2", 2.5, ratio(at(128, throughPipeline, perSecond), at(128, through, perSecond)),
		"128 callers: cycles/s, redlockd by a pipelining client to redlockd by go-redis")
}

// floor measures what a cycle costs a master and a client at the least: in
// batches of 256 on one connection, so that reading and writing cost next to
// nothing.
func (b *bench) floor(one *process) error {
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{one.addr}, ForceSingleClient: true,
		DisableCache: true, DisableRetry: true, PipelineMultiplex: -1})
	if err != nil {
		return err
	}
	defer c.Close()
	sha, err := c.Do(b.ctx, c.B().ScriptLoad().Script(releaseText).Build()).ToString()
	if err != nil {
		return err
	}
	p := parts{masters: []*process{one}}
	for range b.rounds {
		before, start, n := spentBy(p), time.Now(), 0
		for time.Since(start) < b.length {
			if err := cycleBatch(b.ctx, c, sha); err != nil {
				return err
			}
			n += floorBatch
		}
		o := outcome{times: make([]time.Duration, n), length: time.Since(start), spent: spentBy(p).since(before)}
		f := o.figures()
		delete(f, p50) // of a batch, which is no cycle's
		delete(f, p99)
		b.table.add("a", "1 caller", atBest, f)
	}
	b.tell("a", "1 caller", atBest)
	return nil
}

const floorBatch = 256

// cycleBatch takes as many locks in one write, and releases them in another.
func cycleBatch(ctx context.Context, c rueidis.Client, sha string) error {
	takes, frees := make(rueidis.Commands, floorBatch), make(rueidis.Commands, floorBatch)
	for i := range takes {
		key, token := fmt.Sprintf("floor:%d", i), newToken()
		takes[i] = c.B().Set().Key(key).Value(token).Nx().PxMilliseconds(ttl.Milliseconds()).Build()
		frees[i] = c.B().Evalsha().Sha1(sha).Numkeys(1).Key(key).Arg(token).Build()
	}
	for _, r := range c.DoMulti(ctx, takes...) {
		if err := r.Error(); err != nil {
			return err
		}
	}
	for _, r := range c.DoMulti(ctx, frees...) {
		n, err := r.AsInt64()
		if err = freed(int(n), err); err != nil {
			return err
		}
	}
	return nil
}
