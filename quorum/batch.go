package quorum

import (
	"runtime"
	"time"

	"github.com/redis/rueidis"

	"github.com/redlockd/redlockd/quorum/mark"
)

// batch is the tasks that go to a master in one write, with the mark and the
// clock behind them (M3).
type batch struct {
	tasks []*task
	// unsent are tasks that could not be sent after all.
	unsent []*task
	// under is the mark that the votes are asked for under; nil for embedded
	// masters, which have none.
	under *mark.Mark
	// warm is whether the clock had been watched for long enough.
	warm bool
	sent time.Duration

	// commands, answers and outcomes are memory for them: a link's batches
	// follow one another and use the same. carry is how many tasks each command
	// carries out; it is 1 but for bundles.
	commands []rueidis.Completed
	carry    []int
	answers  []answer
	outcomes []outcome
}

// A sender lets others run at most maxYields times before it sends, and not
// again when that has taken as long as maxGather: where thousands can run, once
// is long enough.
const (
	maxYields = 8
	maxGather = 500 * time.Microsecond
)

// gather waits for work, where many are at work for half of them (pace.go), and
// then lets everybody run who can, as long as that brings more: what comes at the
// same time goes out in one batch. Needs mu, and leaves it meanwhile.
func (s *sender) gather() {
	var began time.Duration
	for yields, n := 0, 0; s.conn == s.c; {
		waiting := len(s.outbox.queue)
		switch {
		case !s.open || waiting == 0 && !s.outbox.due || s.outbox.pace.waits(waiting, s.now):
			s.ready.Wait()
			yields, n = 0, 0
			continue
		case waiting <= n || yields == maxYields:
			return
		case yields == 0:
			began = s.now()
		case s.now()-began >= maxGather:
			return
		}
		yields, n = yields+1, waiting
		s.mu.Unlock()
		runtime.Gosched()
		s.mu.Lock()
	}
}

// clear makes room for the next batch.
func (b *batch) clear() {
	clear(b.tasks)
	clear(b.unsent)
	clear(b.commands)
	clear(b.answers)
	clear(b.outcomes)
	b.tasks, b.unsent, b.commands, b.carry = b.tasks[:0], b.unsent[:0], b.commands[:0], b.carry[:0]
	b.answers, b.outcomes = b.answers[:0], b.outcomes[:0]
}

// commands builds what is written for the batch.
func (c *connection) commands(b *batch) []rueidis.Completed {
	out := b.commands
	for i := 0; i < len(b.tasks); {
		n := c.bundled(b.tasks[i:])
		if n < minBundle {
			n = 1
			out = append(out, c.command(b.tasks[i]))
		} else {
			out = append(out, c.bundle(b.tasks[i:i+n]))
		}
		b.carry = append(b.carry, n)
		i += n
	}
	if b.under != nil {
		out = append(out, c.client.B().Get().Key(mark.Key).Build())
	}
	b.commands = append(out, c.client.B().Time().Build())
	return b.commands
}
