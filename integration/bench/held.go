package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
)

const (
	rssMiB  = "redlockd RSS MiB"
	liveMiB = "redlockd live heap MiB"
)

var heldColumns = []string{perSecond, p50, p99, rssMiB, liveMiB, failures}

const heldClients = 128

// runHeld is workload f: two clusters by turns, of which one holds locks.
func runHeld(b *bench) error {
	o := clusterOptions{maxTTL: "1h"}
	empty, err := b.rig.cluster(b.ctx, o)
	if err != nil {
		return err
	}
	full, err := b.rig.cluster(b.ctx, o)
	if err != nil {
		return err
	}
	// A tenth is taken first, so that redlockd has what taking them costs, and
	// the locks that it remembers for people (it remembers 32,768 at most),
	// before it is looked at.
	tenth := b.held / 10
	none, some, many := "none held", fmt.Sprintf("%d held", tenth), fmt.Sprintf("%d held", b.held)
	list := []contender{
		{goRedis(through, empty.redlockd.addr, heldClients), none, heldClients, parts{masters: empty.masters, redlockd: empty.redlockd}},
		{goRedis(through, full.redlockd.addr, heldClients), many, heldClients, parts{masters: full.masters, redlockd: full.redlockd}},
	}
	for _, l := range list {
		defer l.close()
	}
	var live []float64
	for _, step := range []struct {
		from, to  int
		condition string
	}{{0, 0, none}, {0, tenth, some}, {tenth, b.held, many}} {
		start := time.Now()
		if err := fill(full.redlockd.addr, step.from, step.to); err != nil {
			return err
		}
		if step.to > 0 {
			b.note("%d locks were taken in %.1f s, and stay.", step.to-step.from, time.Since(start).Seconds())
		}
		// The same work before each look, so that it is in the same state.
		cycles(list[1].fleet, heldClients, b.length, parts{})
		m, err := memoryOf(full.redlockd)
		if err != nil {
			return err
		}
		alive, err := liveHeap(full.redlockd)
		if err != nil {
			return err
		}
		live = append(live, alive)
		b.table.add("f", step.condition, through, figures{rssMiB: m.rss / (1 << 20), liveMiB: alive / (1 << 20)})
	}
	b.tell("f", some, through)
	if err := b.compare("f", list); err != nil {
		return err
	}
	b.atLeast("7", 0.9, ratio(b.figure("f", many, through, perSecond), b.figure("f", none, through, perSecond)),
		"cycles/s, with "+many+" to with none")
	b.atMost("7", 1.1, live[2]/live[1], "redlockd's live memory, with "+many+" to with "+some)
	return nil
}

// fill takes the locks of these numbers for an hour, by a pipelining client.
func fill(addr string, from, to int) error {
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, ForceSingleClient: true,
		DisableCache: true, DisableRetry: true})
	if err != nil {
		return err
	}
	defer c.Close()
	const callers, batch = 4, 100
	var next atomic.Int64
	next.Store(int64(from))
	errs := make([]error, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			for errs[i] == nil {
				begin := int(next.Add(batch)) - batch
				if begin >= to {
					return
				}
				errs[i] = takeAll(c, begin, min(begin+batch, to))
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// takeAll takes the locks, those again that a busy machine made undecided.
func takeAll(c rueidis.Client, from, to int) (err error) {
	left := make([]int, 0, to-from)
	for i := from; i < to; i++ {
		left = append(left, i)
	}
	for range 50 {
		var commands rueidis.Commands
		for _, i := range left {
			commands = append(commands, c.B().Set().Key(fmt.Sprintf("held:%d", i)).Value(newToken()).Nx().
				PxMilliseconds(time.Hour.Milliseconds()).Build())
		}
		var failed []int
		for i, r := range c.DoMulti(ctx, commands...) {
			if r.Error() != nil {
				err = r.Error()
				failed = append(failed, left[i])
			}
		}
		if left = failed; len(left) == 0 {
			return nil
		}
		time.Sleep(100 * time.Millisecond) // what made it fail shall pass
	}
	return fmt.Errorf("%d locks were not taken: %w", len(left), err)
}
